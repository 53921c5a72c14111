import CoreData
import Pippin

/// The unsaved changes that a caller's context had before some work, and what could be undone, so that failed work can
/// be taken back without losing them. For use on the context's queue.
final class FormerChanges {
    private let context: NSManagedObjectContext
    /// Records the work; nil for a context without changes and without an undo manager, of which a rollback leaves
    /// nothing.
    private let record: WorkRecord?

    init(of context: NSManagedObjectContext) {
        self.context = context
        record = context.hasChanges || context.undoManager != nil ? context.beginRecord() : nil
    }

    /// Ends the recording; the changes of the work stay.
    func forget() {
        if let record { context.end(record) }
    }

    /// Takes back the changes since, other than those that the work has saved itself.
    func restore() {
        guard let record else { return context.rollback() }
        context.takeBack(record)
        context.end(record)
    }
}
