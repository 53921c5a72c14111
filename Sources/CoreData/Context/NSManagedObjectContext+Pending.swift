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
    /// Changed objects that may change the plan's results.
    ///
    /// - Parameters:
    ///   - plan: what is fetched.
    ///   - stores: the stores to search; `nil` for all.
    /// - Returns: the objects, of a plan with a limit at least the first ones, and how many stores may have.
    /// - Throws: an error of the predicate's evaluation.
    func pendingChanges(for plan: FetchPlan, in stores: [NSPersistentStore]?) throws -> PendingChanges {
        guard !changed.isEmpty else { return .none }
        processDeletions()
        if let indexed = indexedChanges(for: plan) { return from(stores, indexed) }
        if stores == nil, let first = try firstChanges(for: plan, reading: []) {
            return PendingChanges(
                objects: ContiguousArray(first.selected), isEmpty: first.selected.isEmpty && first.outdated.isEmpty,
                storedCount: first.outdated.count, deciding: DecidingAttributes(of: plan))
        }
        return from(stores, scannedChanges(for: plan))
    }

    /// The changes without those of objects that are not in some stores; all of them for nil.
    private func from(_ stores: [NSPersistentStore]?, _ pending: PendingChanges) -> PendingChanges {
        var pending = pending
        guard let stores, !pending.objects.isEmpty else { return pending }
        var defaults: [ObjectIdentifier: StoreIdentity?] = [:]
        /// The store that has an object, or will have it once it is saved.
        func store(of object: NSManagedObject) -> StoreIdentity? {
            if let identity = object.storeIdentity { return identity }
            if let assigned = assignedStores[object] { return assigned.identity }
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

    private func scannedChanges(for plan: FetchPlan) -> PendingChanges {
        var deciding = changed.count < ChangeList.indexingCount ? nil : DecidingAttributes(of: plan)
        var objects: ContiguousArray<NSManagedObject> = []
        for object in changed.objects where object.hasChanges && plan.includes(object.layout) {
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
        let isPending = !event.objects.isEmpty || !deletions.unpropagated.isEmpty
        if propagatesDeletesAtEndOfEvent, isPending, insertionsUnderWay == 0 { processPendingChanges() }
    }

    /// The changes from the index, if there are many; nil if they have to be scanned.
    private func indexedChanges(for plan: FetchPlan) -> PendingChanges? {
        // Changes within the event are indexed when it ends.
        guard event.objects.isEmpty, let indexed = changed.indexed(for: plan) else { return nil }
        switch indexed {
        case .nothing: return PendingChanges.none
        case .candidates(let found, let storedCount):
            return PendingChanges(
                objects: ContiguousArray(found.lazy.filter { $0.hasChanges && $0.managedObjectContext === self }),
                isEmpty: false, storedCount: storedCount)
        }
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
