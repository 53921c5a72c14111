import Foundation
import StoreSession
import Synchronization

/// Held while a parent is set, since two contexts that became each other's parents at the same time would not notice.
/// No coordinator's lock is taken while it is held: such a lock may be held as long as a store waits, and this lock is
/// shared by all coordinators.
private let parentLock = Mutex(())

// The source of a context's objects: stores, or a parent context.
extension NSManagedObjectContext {
    /// The source that the context reads from; `nil` until it has a coordinator or a parent.
    var source: (any RowSource)? {
        noteUse()
        if let parentSource { return parentSource }
        if case .pinned(let source) = pin { return source }
        if let transactionSource { return transactionSource }
        guard let coordinator, coordinator.hasObjectStores else { return coordinator }
        return AskingSource(self, coordinator)
    }

    func setSource(coordinator newCoordinator: NSPersistentStoreCoordinator?, parent: NSManagedObjectContext?) {
        coordinator?.forget(table)
        // If the former parent is released, it leaves its coordinator, which must not happen inside the lock.
        withExtendedLifetime(parentSource) {
            parentLock.withLock { _ in
                refuseCircle(through: parent)
                setParent(parent)
            }
        }
        coordinator = newCoordinator
        pin = .none
        newCoordinator?.remember(table)
        transactionSource = nil
        classCache = classCache.forgettingEntities
    }

    /// Refuses a context that would be among its own parents, and would look for stores endlessly. Core Data raises an
    /// exception for it.
    private func refuseCircle(through parent: NSManagedObjectContext?) {
        var next = parent
        while let one = next {
            if one === self {
                programmerError(
                    one === parent
                        ? "a context cannot be its own parent"
                        : "a context cannot have a parent that has the context itself among its own parents; set parent to nil "
                            + "there first")
            }
            next = one.parentSource?.parent
        }
    }

    private func setParent(_ parent: NSManagedObjectContext?) {
        if let linkToParent, let former = parentSource?.parent { former.removeChild(linkToParent) }
        parentSource = parent.map { ParentSource($0) }
        linkToParent = parent.map { parent in
            let link = ChildLink(table)
            parent.noteUse()
            parent.children.withLock { $0.append(link) }
            if let own = parent.linkToParent { link.add(pendingAt: own) }
            return link
        }
    }

    /// Makes everything that the context and its children read and save part of a transaction. For a new context with a
    /// coordinator.
    package func join(_ transaction: OptimisticTransaction) {
        transactionSource = source.map { TransactionSource($0, transaction) }
    }

    /// The transaction that the context works in.
    var transaction: OptimisticTransaction? { transactionSource?.transaction ?? parent?.transaction }

    /// Cleans up when the context is released.
    func letGo() {
        // Objects that refer to each other would keep each other alive.
        for object in table.all { object.relations = [] }
        if let checkpoints { NotificationCenter.default.removeObserver(checkpoints) }
        coordinator?.forget(table)
        if let linkToParent, let parent = parentSource?.parent { parent.removeChild(linkToParent) }
        table.leave()
    }

    func removeChild(_ link: ChildLink) { children.withLock { $0.removeAll { $0 === link } } }

    static func noSource(_ work: String) -> NSError {
        StoreError.make(
            CoreDataErrorCode.coreData,
            "The context has no coordinator and no parent, so it cannot \(work). Set persistentStoreCoordinator or parent first."
        )
    }

    /// The ID under which this context knows an object. It is the coordinator's own ID if the given one came from
    /// another coordinator of the same store, and the permanent ID if the given one is temporary and this context or
    /// one above has since saved the object.
    func localIdentifier(_ identifier: NSManagedObjectID) -> NSManagedObjectID {
        if identifier.isTemporaryID { return currentIdentifier(ofTemporary: identifier) }
        return persistentStoreCoordinator?.localIdentifier(identifier) ?? identifier
    }

    /// Can be called on any queue: the contexts above are asked for their tables and their former IDs, which have
    /// locks.
    private func currentIdentifier(ofTemporary identifier: NSManagedObjectID) -> NSManagedObjectID {
        var context: NSManagedObjectContext? = self
        while let asked = context {
            // An ancestor may not yet have taken the permanent ID under which this context knows the object.
            let isCurrent = asked === self || asked.linkToParent?.hasPromotions != true
            if isCurrent, asked.table.contains(identifier) { return identifier }
            if let current = asked.formerIdentifiers.withLock({ $0.current(ofTemporary: identifier.key) }) {
                return current
            }
            context = asked.parentSource?.parent
        }
        return identifier
    }
}
