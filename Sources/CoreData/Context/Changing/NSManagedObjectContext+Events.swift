import Foundation
import PredicateFormat

// The end of an event: deletions take effect, undo is registered, and observers are notified.
extension NSManagedObjectContext {
    func processChanges() {
        checkQueue()
        let wasProcessing = isProcessing
        isProcessing = true
        defer { isProcessing = wasProcessing }
        if propagatesDeletesAtEndOfEvent || saving.isActive { propagateDeletes() }
        changed.dropIdle()
        event.forgetOrderedSets()
        guard event.hasNews else { return }
        registerUndo()
        let ended = event.end()
        changed.index(ended.objects)
        changed.index(ended.refreshed)
        post(EventReport(of: ended))
        for object in ended.objects { object.state.remove(.posting) }
        event.didPost(ended)
    }

    private func post(_ report: EventReport) {
        guard report.count > 0 else { return }
        var info: [AnyHashable: Any] = [:]
        if report.includesObjects {
            let (inserted, updated) = (report.inserted, report.updated)
            if !inserted.isEmpty {
                info[NSInsertedObjectsKey] = saving.posted.set(of: inserted, keeping: saving.isActive)
            }
            if !updated.isEmpty {
                info[NSUpdatedObjectsKey] = saving.posted.set(of: updated, keeping: saving.isActive)
            }
            if !report.deleted.isEmpty { info[NSDeletedObjectsKey] = Set(report.deleted) }
            if !report.refreshed.isEmpty { info[NSRefreshedObjectsKey] = Set(report.refreshed) }
        }
        SaveNotifications.post(SaveNotifications.didChange, of: self, info)
    }

    // MARK: Deletions

    private func propagateDeletes() {
        var followed: ContiguousArray<NSManagedObject> = []
        // Deletions cascade, level by level. A program's `prepareForDeletion` may fetch, which processes those that
        // wait.
        while !deletions.unpropagated.isEmpty {
            let level = deletions.takeUnpropagated()
            loadDestinations(ofDeleted: level[...])
            takeOutdatedDestinations(of: level.lazy.filter { !$0.state.contains(.deletePropagated) })
            for object in level where object.state.contains(.deleted) && !object.state.contains(.deletePropagated) {
                object.state.insert(.deletePropagated)
                for next in object.followDeleteRules() { delete(next) }
            }
            followed += level
        }
        // After all deletions are marked, since objects that are deleted together do not deny each other's deletion.
        // Deletions that were denied before may now succeed.
        if !event.objects.isEmpty || !followed.isEmpty { discardRemovable(deletions.denied + followed) }
    }

    /// Removes objects that were deleted before they were ever saved. If a rule denies a deletion, that object waits.
    private func discardRemovable(_ objects: ContiguousArray<NSManagedObject>) {
        var waiting: ContiguousArray<NSManagedObject> = []
        for object in objects where object.state.isSuperset(of: [.inserted, .deleted]) {
            if object.isAwaitingRemoval { discard(object) } else { waiting.append(object) }
        }
        deletions.denied = waiting
    }

    /// Removes a deleted object that was never saved, so that nothing has to be saved for it.
    private func discard(_ object: NSManagedObject) {
        if object.state.isDisjoint(with: .anyEvent) { rememberForUndo(object) }
        event.removed.append(object)
        withdraw(object)
        forget(object)
    }
}

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

/// What a notification reports of an object that changed.
enum ReportedChange {
    case inserted, updated, deleted

    /// The change that an object's state shows; `nil` if there is none to report. An object that was inserted and
    /// deleted in one event is reported as deleted.
    init?(_ state: ObjectState) {
        if state.isDisjoint(with: .anyEvent) { return nil }
        if state.contains(.deletedInEvent) {
            self = .deleted
        } else {
            self = state.contains(.insertedInEvent) ? .inserted : .updated
        }
    }
}

/// What the notification of an event reports: the objects by their changes, or only how many there are.
struct EventReport {
    private(set) var inserted: [NSManagedObject] = []
    private(set) var updated: [NSManagedObject] = []
    private(set) var deleted: [NSManagedObject]
    let refreshed: [NSManagedObject]
    /// How many objects there are.
    private(set) var count: Int
    /// Without observers, the objects are only counted: an array of many would retain each.
    let includesObjects: Bool

    /// A report of an event that has ended. Its objects get the state `.posting` instead of those of the event.
    init(of event: ContextEvent) {
        (deleted, refreshed) = (event.removed, event.refreshed)
        count = deleted.count + refreshed.count
        includesObjects = SaveNotifications.includesChangedObjects(event.objects.count + count)
        for object in event.objects {
            let change = ReportedChange(object.state)
            object.state.remove(.anyEvent)
            object.state.insert(.posting)
            if let change { add(object, change) }
        }
    }

    @inline(__always)
    private mutating func add(_ object: NSManagedObject, _ change: ReportedChange) {
        count += 1
        guard includesObjects else { return }
        switch change {
        case .inserted: inserted.append(object)
        case .updated: updated.append(object)
        case .deleted: deleted.append(object)
        }
    }
}

/// What has happened in a context since changes were last processed: what the next notification reports, and what undo
/// restores.
struct ContextEvent {
    /// Objects that were inserted, changed or deleted. Those whose states no longer say so are not reported.
    private(set) var objects: ContiguousArray<NSManagedObject> = []
    /// Objects that took new values from the store.
    var refreshed: [NSManagedObject] = []
    /// Objects that left the context, or whose rows were found to be gone. They are reported as deleted.
    var removed: [NSManagedObject] = []
    /// The state of objects before the event, if there is an undo manager.
    var mementos: [ObjectMemento] = []
    /// The ordered sets by which relationships were changed, the latest last.
    private(set) var orderedSets: [MutableRelationshipOrderedSet] = []
    /// The values before the event, for objects that earlier events had already changed.
    private var formerValues: [ObjectIdentifier: FormerValues] = [:]
    /// The same of the event whose notification is being posted.
    private var postedValues: [ObjectIdentifier: FormerValues] = [:]

    /// Whether there is anything to report.
    var hasNews: Bool { !objects.isEmpty || !refreshed.isEmpty || !removed.isEmpty }

    /// Adds an object at its first change.
    @inline(__always)
    mutating func add(_ object: NSManagedObject) { objects.append(object) }

    /// Removes an object that is being made.
    mutating func remove(_ object: NSManagedObject) { objects.removeAll { $0 === object } }

    // MARK: Former values

    /// Keeps an object's values before its first change, if earlier events had already changed it: the committed ones
    /// are not those before this event then.
    @inline(__always)
    mutating func keepFormerValues(of object: NSManagedObject) {
        if !object.state.isDisjoint(with: .anyChange) { keepFormer(object) }
    }

    @inline(never)
    private mutating func keepFormer(_ object: NSManagedObject) {
        formerValues[ObjectIdentifier(object)] = FormerValues(of: object)
    }

    /// The values that an object had before the event, or before the one that is being posted; `nil` if they are the
    /// committed ones.
    func formerValues(of object: NSManagedObject) -> FormerValues? {
        formerValues[ObjectIdentifier(object)] ?? postedValues[ObjectIdentifier(object)]
    }

    /// Forgets the former values of an object whose changes are withdrawn.
    mutating func forgetFormerValues(of object: NSManagedObject) {
        if !formerValues.isEmpty { formerValues[ObjectIdentifier(object)] = nil }
        if !postedValues.isEmpty { postedValues[ObjectIdentifier(object)] = nil }
    }

    // MARK: Ordered sets

    private static let keptOrderedSets = 16

    mutating func keep(_ set: MutableRelationshipOrderedSet) {
        if orderedSets.last === set || orderedSets.contains(where: { $0 === set }) { return }
        if orderedSets.count == Self.keptOrderedSets { orderedSets.removeFirst() }
        orderedSets.append(set)
    }

    mutating func forgetOrderedSets() { if !orderedSets.isEmpty { orderedSets = [] } }

    // MARK: The end

    /// Ends the event, and begins the next one. Former values can be asked for until `didPost(_:)`.
    ///
    /// - Returns: what is to be reported.
    mutating func end() -> ContextEvent {
        var ended = ContextEvent()
        swap(&ended.objects, &objects)
        swap(&ended.refreshed, &refreshed)
        swap(&ended.removed, &removed)
        // An observer of another event's notification may process changes: that event goes on being posted afterwards.
        swap(&ended.postedValues, &postedValues)
        swap(&postedValues, &formerValues)
        return ended
    }

    /// Forgets the values before an event that was posted.
    mutating func didPost(_ ended: ContextEvent) { postedValues = ended.postedValues }

    /// Discards the changes of the event, which are not made then, and begins the next one.
    ///
    /// - Returns: the objects that have left the context, or were read again, all the same.
    mutating func discard() -> (removed: [NSManagedObject], refreshed: [NSManagedObject]) {
        for object in objects { object.state.remove(.anyEvent) }
        let discarded = (removed, refreshed)
        let posted = postedValues
        self = ContextEvent()
        postedValues = posted
        return discarded
    }

    /// Discards the changes of one object.
    mutating func discardChanges(of object: NSManagedObject) {
        guard !object.state.isDisjoint(with: .anyEvent) else { return }
        object.state.remove(.anyEvent)
        forgetFormerValues(of: object)
        mementos.removeAll { $0.object === object }
    }

    /// Forgets the objects, and keeps the memory for others.
    mutating func forgetObjects() { objects.removeAll(keepingCapacity: true) }
}

/// Deletions in a context that have yet to take effect.
struct PendingDeletions {
    /// Deleted objects whose delete rules have not been applied yet.
    var unpropagated: ContiguousArray<NSManagedObject> = []
    /// Deleted objects that were never saved, and whose deletion is currently denied by a “deny” rule.
    var denied: ContiguousArray<NSManagedObject> = []
    /// The objects whose `prepareForDeletion` is being called. Few at a time: each is called by the one before it.
    private var preparing: ContiguousArray<ObjectIdentifier> = []

    /// Notes that an object's `prepareForDeletion` is called, unless it already is: two objects may delete each other.
    mutating func beginPreparing(_ object: NSManagedObject) -> Bool {
        guard !preparing.contains(ObjectIdentifier(object)) else { return false }
        preparing.append(ObjectIdentifier(object))
        return true
    }

    mutating func endPreparing(_ object: NSManagedObject) { preparing.removeAll { $0 == ObjectIdentifier(object) } }

    /// Removes and returns the objects whose delete rules are to be applied now.
    mutating func takeUnpropagated() -> ContiguousArray<NSManagedObject> {
        let level = unpropagated
        unpropagated = []
        return level
    }

    mutating func reset() {
        if !unpropagated.isEmpty { unpropagated = [] }
        if !denied.isEmpty { denied = [] }
    }
}
