import PredicateFormat

/// What a context has changed of the objects that a plan may find.
struct PendingChanges {
    /// Those that the plan's predicate may hold of, in the order of their first changes.
    var objects: ContiguousArray<NSManagedObject> = []
    /// Whether there are none at all, also of those that it does not hold of any more.
    var isEmpty = true
    /// How many of all of them stores may have, at most.
    var storedCount = 0
    /// What the plan looks at, where changed objects of which it looks at nothing changed are not among them.
    var deciding: DecidingAttributes?

    static var none: PendingChanges { PendingChanges() }
}

// Unsaved changes, as fetches ask for them.
extension NSManagedObjectContext {
    /// Fewer changes than that are looked through.
    private static let indexedCount = 64
    /// So often changes are looked through before it is worth while to index them.
    private static let scansBeforeIndex = 4

    /// Changed objects that could change what a plan finds.
    func pendingChanges(for plan: FetchPlan) -> PendingChanges {
        guard !changed.isEmpty else { return .none }
        // Who is told of changes must not meet an object that is only half made.
        if propagatesDeletesAtEndOfEvent, !event.isEmpty, awakening == 0 { processPendingChanges() }
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

    /// The same by the index, where there are many; nil where they have to be looked through.
    private func indexedChanges(for plan: FetchPlan) -> PendingChanges? {
        // What has changed within the event is indexed at its end.
        guard changed.count >= Self.indexedCount, event.isEmpty else { return nil }
        if pendingIndex == nil {
            scans += 1
            guard scans >= Self.scansBeforeIndex else { return nil }
            pendingIndex = PendingIndex()
            indexed = 0
        }
        // Those that have come without an event.
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

    /// Has the index hear of changes.
    func index(_ objects: some Sequence<NSManagedObject>) {
        guard pendingIndex != nil else { return }
        for object in objects { pendingIndex?.note(object) }
    }

    /// Has the index hear of a value that was set outside of an event.
    func indexAgain(_ object: NSManagedObject) {
        guard pendingIndex != nil, object.state.contains(.listed) else { return }
        pendingIndex?.note(object)
    }

    /// Forgets the index, once other objects have changes.
    func dropIndex() {
        pendingIndex = nil
        scans = 0
    }
}

extension FetchPlan {
    /// Whether objects of an entity are among those that are looked for.
    fileprivate func includes(_ layout: EntityLayout) -> Bool {
        includesSubentities ? layout.isKind(of: entity) : layout === entity
    }

    /// Whether the order, if there is one, is of the objects' own attributes.
    var isSortedByAttributes: Bool {
        sortDescriptors.allSatisfy { $0.key.flatMap { entity.slotIndex(forName: $0) } != nil }
    }
}
