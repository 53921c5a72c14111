/// Actions that are undone together, in reverse order.
final class UndoGroup {
    enum Action {
        case call(UndoTarget, (AnyObject) -> Void)
        case group(UndoGroup)
    }

    var actions: [Action] = []
    var name = ""
    var isDiscardable = false

    var isEmpty: Bool { actions.isEmpty }

    func run() {
        for action in actions.reversed() {
            switch action {
            case .call(let target, let handler): if let target = target.object { handler(target) }
            case .group(let group): group.run()
            }
        }
    }

    /// Removes and returns the group that was closed last within this one.
    func takeLastGroup() -> UndoGroup? {
        guard case .group(let group)? = actions.last else { return nil }
        actions.removeLast()
        return group
    }

    /// Forgets the actions of a target.
    func remove(_ target: AnyObject) {
        actions.removeAll { action in
            switch action {
            case .call(let owner, _): return owner.object === target
            case .group(let group):
                group.remove(target)
                return group.isEmpty
            }
        }
    }
}

/// The target of an action, which the undo manager does not keep alive.
final class UndoTarget {
    private(set) weak var object: AnyObject?
    init(_ object: AnyObject) { self.object = object }
}

/// A weak reference to an undo manager.
final class WeakManager: @unchecked Sendable {
    // @unchecked Sendable: made and used on the main queue.
    weak var manager: UndoManager?
    init(_ manager: UndoManager) { self.manager = manager }
}
