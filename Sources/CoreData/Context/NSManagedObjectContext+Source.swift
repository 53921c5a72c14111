import Foundation

// Where a context's objects come from: stores, or a parent context.
extension NSManagedObjectContext {
    /// What the context reads from; `nil` until it has a coordinator or a parent.
    var source: (any RowSource)? {
        if let parentSource { return parentSource }
        if case .pinned(let source) = pin { return source }
        guard let coordinator, coordinator.hasObjectStores else { return coordinator }
        return AskingSource(self, coordinator)
    }

    func setSource(coordinator newCoordinator: NSPersistentStoreCoordinator?, parent: NSManagedObjectContext?) {
        if parent === self { programmerError("a context cannot be its own parent") }
        coordinator?.forget(table)
        if let linkToParent, let former = parentSource?.parent { former.removeChild(linkToParent) }
        coordinator = newCoordinator
        pin = .none
        newCoordinator?.remember(table)
        parentSource = parent.map { ParentSource($0) }
        linkToParent = parent.map { parent in
            let link = ChildLink(table)
            parent.children.withLock { $0.append(link) }
            return link
        }
        classCache = ClassCache()
    }

    /// The context goes.
    func letGo() {
        // Objects that refer to one another would keep each other alive.
        for object in table.all { object.relations = [] }
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

    /// The ID as this context's coordinator has it, for one that came from another coordinator of the same store.
    func localIdentifier(_ identifier: NSManagedObjectID) -> NSManagedObjectID {
        persistentStoreCoordinator?.localIdentifier(identifier) ?? identifier
    }
}
