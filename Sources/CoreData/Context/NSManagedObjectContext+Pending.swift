import PredicateFormat

/// The changed objects of a context among those that a plan may find.
struct PendingChanges {
    /// The objects that the plan's predicate may select, in the order of their first changes.
    var objects: ContiguousArray<NSManagedObject> = []
    /// Whether there are none at all, including those that the predicate no longer selects.
    var isEmpty = true
    /// The largest number of them that stores may have.
    var storedCount = 0
    /// The attributes that matter for the plan, if objects were left out because none of these attributes changed.
    var deciding: DecidingAttributes?

    static var none: PendingChanges { PendingChanges() }
}

// Unsaved changes, as fetches ask for them.
extension NSManagedObjectContext {
    /// The number of changed objects from which the index is used.
    private static let indexedCount = 64
    /// How often changes are scanned before indexing them is worthwhile.
    private static let scansBeforeIndex = 4

    /// Changed objects that may change the plan's results.
    ///
    /// - Parameters:
    ///   - plan: what is fetched.
    ///   - stores: the stores to search; `nil` for all.
    /// - Returns: the objects, and how many stores may have.
    func pendingChanges(for plan: FetchPlan, in stores: [NSPersistentStore]?) -> PendingChanges {
        var pending = pendingChanges(for: plan)
        guard let stores, !pending.objects.isEmpty else { return pending }
        var defaults: [ObjectIdentifier: StoreIdentity?] = [:]
        /// The store that has an object, or will have it once it is saved.
        func store(of object: NSManagedObject) -> StoreIdentity? {
            if let identity = object.storeIdentity { return identity }
            if let assigned = assignedStores[ObjectIdentifier(object)] { return assigned.identity }
            let layout = ObjectIdentifier(object.layout)
            if let known = defaults[layout] { return known }
            let found = persistentStoreCoordinator?.storeOfNewObjects(of: object.layout)?.identity
            defaults.updateValue(found, forKey: layout)
            return found
        }
        pending.objects.removeAll { object in
            let store = store(of: object)
            return !stores.contains { $0.identity === store }
        }
        return pending
    }

    func pendingChanges(for plan: FetchPlan) -> PendingChanges {
        guard !changed.isEmpty else { return .none }
        processDeletions()
        if let indexed = indexedChanges(for: plan) { return indexed }
        var deciding = changed.count < Self.indexedCount ? nil : DecidingAttributes(of: plan)
        var objects: ContiguousArray<NSManagedObject> = []
        for object in changed where object.hasChanges && plan.includes(object.layout) {
            if deciding?.areUnchanged(in: object) ?? false { continue }
            objects.append(object)
        }
        return PendingChanges(
            objects: objects, isEmpty: objects.isEmpty, storedCount: objects.count { !$0.state.contains(.inserted) },
            deciding: deciding)
    }

    /// Lets deletions take effect on other objects, if they do so at the end of an event.
    func processDeletions() {
        // Observers must not see an object that is only half made.
        if propagatesDeletesAtEndOfEvent, !event.isEmpty || !doomed.isEmpty, awakening == 0 { processPendingChanges() }
    }

    /// The same from the index, if there are many; nil if they have to be scanned.
    private func indexedChanges(for plan: FetchPlan) -> PendingChanges? {
        // Changes within the event are indexed when it ends.
        guard changed.count >= Self.indexedCount, event.isEmpty else { return nil }
        if pendingIndex == nil {
            scans += 1
            guard scans >= Self.scansBeforeIndex else { return nil }
            pendingIndex = PendingIndex()
            indexed = 0
        }
        // Objects that were changed without an event.
        for object in changed[min(indexed, changed.count)...] { pendingIndex?.note(object) }
        indexed = changed.count
        guard let stored = pendingIndex?.storedCount(where: plan.includes) else { return PendingChanges.none }
        guard let tree = plan.predicate.flatMap({ try? predicateTree(of: $0) }),
            let found = pendingIndex?.candidates(PendingIndex.Equality.all(in: tree), where: plan.includes)
        else { return nil }
        return PendingChanges(
            objects: ContiguousArray(found.lazy.filter { $0.hasChanges && $0.managedObjectContext === self }),
            isEmpty: false, storedCount: stored)
    }

    /// Adds changes to the index.
    func index(_ objects: some Sequence<NSManagedObject>) {
        guard pendingIndex != nil else { return }
        for object in objects { pendingIndex?.note(object) }
    }

    /// Updates the index for a value that was set outside an event.
    func indexAgain(_ object: NSManagedObject) {
        guard pendingIndex != nil, object.state.contains(.listed) else { return }
        pendingIndex?.note(object)
    }

    /// Discards the index because other objects have changes now.
    func dropIndex() {
        pendingIndex = nil
        scans = 0
    }
}

extension FetchPlan {
    /// Whether the plan includes objects of an entity.
    func includes(_ layout: EntityLayout) -> Bool {
        includesSubentities ? layout.isKind(of: entity) : layout === entity
    }

    /// Whether the order, if there is one, only uses attributes of the objects themselves.
    var isSortedByAttributes: Bool {
        sortDescriptors.allSatisfy { $0.key.flatMap { entity.slotIndex(forName: $0) } != nil }
    }
}
