/// The block that runs, as an undo manager knows it: changes of one block are undone together.
enum RunningBlock {
    /// The context of the block; nil outside of blocks.
    @TaskLocal static var owner: (any BlockOwner)?
}

/// A context, whose blocks make changes.
protocol BlockOwner: AnyObject, Sendable {
    /// The manager with which the changes of a block are registered.
    var undoManager: UndoManager? { get }
}
