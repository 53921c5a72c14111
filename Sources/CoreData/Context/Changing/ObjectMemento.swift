/// The state of an object before an event, sufficient for undo to restore what the event changed.
struct ObjectMemento {
    let object: NSManagedObject
    /// Whether the object was in the context before, rather than inserted by the event.
    let existed: Bool
    let isDeleted: Bool
    /// The store that a new object was assigned to.
    let assignedStore: NSPersistentStore?
    /// Whether the event deleted the object, or it was deleted before.
    private var isDeletedLater = false
    private let values: ContiguousArray<StoredValue>
    /// The slots whose values the event changed. What others changed since, and was merged, stays when it is undone.
    private var changedSlots: [Int] = []
    private var toOnes: [FormerDestination] = []
    private var toManys: [FormerMembers] = []
    private var unread: [UnreadMembers] = []

    /// The destination of a to-one relationship, before the event and after it.
    private struct FormerDestination {
        let relationship: RelationshipLayout
        let destination: NSManagedObject?
        var later: NSManagedObject?
    }

    /// The members of a to-many relationship, before the event and after it.
    private struct FormerMembers {
        let relationship: RelationshipLayout
        private(set) var members: [NSManagedObject]
        let isReordered: Bool
        var later: [NSManagedObject] = []
        /// Whether the lists are whole. Otherwise what they have in common is left out: what is at their beginning and
        /// end, and all of it if they have no order.
        private(set) var isWhole = true
        /// How many members are left out at the beginning, and the last of these.
        private(set) var start = 0
        private(set) var previous: NSManagedObject?
        var isChanged: Bool { !members.elementsEqual(later, by: ===) }

        init(relationship: RelationshipLayout, members: [NSManagedObject], isReordered: Bool) {
            (self.relationship, self.members, self.isReordered) = (relationship, members, isReordered)
        }

        /// Leaves out what is the same before and after: many events may each change one of many members.
        mutating func leaveOutCommon() {
            isWhole = false
            let shorter = min(members.count, later.count)
            while start < shorter, members[start] === later[start] { start += 1 }
            var end = 0
            while end < shorter - start, members[members.count - 1 - end] === later[later.count - 1 - end] { end += 1 }
            if relationship.isOrdered, start > 0 { previous = members[start - 1] }
            members = Array(members[start..<members.count - end])
            later = Array(later[start..<later.count - end])
            guard !relationship.isOrdered else { return }
            let (before, after) = (IdentitySet(members), IdentitySet(later))
            members.removeAll(where: after.contains)
            later.removeAll(where: before.contains)
        }
    }

    /// The additions and removals of a to-many relationship before the event, if its members had not been read.
    private struct UnreadMembers {
        let relationship: RelationshipLayout
        let added: IdentitySet
        let removed: IdentitySet
        /// The order that was chosen before the members were to be read again.
        let order: [NSManagedObject]?
    }

    init(_ object: NSManagedObject, existed: Bool) {
        self.object = object
        self.existed = existed
        isDeleted = object.state.contains(.deleted)
        assignedStore = object.storedContext?.assignedStore(of: object)
        values = object.values
        // IDs among the values may become permanent, so registered destinations are kept as objects.
        for relationship in object.layout.toOnes where !object.relations.isEmpty {
            if case .toOne(let destination) = object.relations[relationship.index] {
                toOnes.append(FormerDestination(relationship: relationship, destination: destination))
            }
        }
        for relationship in object.layout.toManys {
            guard let members = object.toManyMembersIfAny(relationship) else { continue }
            guard members.isLoaded else {
                if members.hasChanges {
                    unread.append(
                        UnreadMembers(
                            relationship: relationship, added: members.added, removed: members.removed,
                            order: members.chosenOrder))
                }
                continue
            }
            toManys.append(
                FormerMembers(relationship: relationship, members: members.all, isReordered: members.isReordered))
        }
    }

    /// Whether undo may restore the object. One that others have deleted since stays deleted, unless the event itself
    /// deleted it.
    var isRestorable: Bool {
        if Self.isThere(object) { return true }
        return existed && isDeletedLater && !(isDeleted && object.managedObjectContext != nil)
    }

    /// Whether an object is in its context, and others have not deleted it.
    private static func isThere(_ object: NSManagedObject) -> Bool {
        object.managedObjectContext != nil && !object.isGone
    }

    /// Records what the event has changed.
    mutating func complete(in context: NSManagedObjectContext) {
        isDeletedLater = object.managedObjectContext == nil || object.state.contains(.deleted)
        changedSlots = values.indices.filter { slot in
            slot >= object.values.count || object.values[slot] != values[slot]
        }
        for relationship in object.layout.toOnes
        where !values.isEmpty && (isDeletedLater || changedSlots.contains(relationship.slot)) {
            var place = toOnes.firstIndex { $0.relationship === relationship }
            if place == nil {
                // A destination that had not been read is registered by now, and kept, so that its deletion shows.
                var destination: NSManagedObject?
                if case .identifier(let identifier) = values[relationship.slot] {
                    destination = context.table.object(for: identifier)
                    if destination == nil { continue }
                }
                toOnes.append(FormerDestination(relationship: relationship, destination: destination))
                place = toOnes.indices.last
            }
            if let place, object.managedObjectContext != nil { toOnes[place].later = object.toOne(relationship) }
        }
        for relationship in object.layout.toManys {
            // Of members that the event loaded in order to change them, the former ones were the committed ones with
            // earlier changes. Those of a deleted object are recorded in any case: once that is saved, no store has
            // them.
            guard let members = object.toManyMembersIfAny(relationship),
                members.hasChanges || object.isDeleted && members.isLoaded,
                !toManys.contains(where: { $0.relationship === relationship })
            else { continue }
            let former = formerMembers(of: relationship, object.loadedToManyMembers(relationship))
            toManys.append(FormerMembers(relationship: relationship, members: former, isReordered: false))
        }
        unread = []
        for index in toManys.indices {
            toManys[index].later = object.loadedToManyMembers(toManys[index].relationship).all
            // Of an object whose deletion is saved, all members have to be restored.
            if !isDeletedLater { toManys[index].leaveOutCommon() }
        }
        if !isDeletedLater { toManys.removeAll { !$0.isChanged } }
    }

    /// Whether the event left the object as it was, once that is recorded.
    var isIdle: Bool {
        existed && isDeleted == isDeletedLater && changedSlots.isEmpty && !toManys.contains(where: \.isChanged)
    }

    /// The members before the event of a relationship that had not been read: in the order that had been chosen, or
    /// else the stored one, and the added ones at the end.
    private func formerMembers(of relationship: RelationshipLayout, _ now: ToManyMembers) -> [NSManagedObject] {
        let earlier = unread.first { $0.relationship === relationship }
        let added = earlier?.added ?? []
        let stored = now.committed.subtracting(earlier?.removed ?? [])
        let former = stored.union(added)
        let order =
            earlier?.order?.filter(former.contains) ?? now.storedOrder?.filter(stored.subtracting(added).contains)
        let placed = IdentitySet(order ?? [])
        let present = now.all.filter { former.contains($0) && !placed.contains($0) }
        return (order ?? []) + present + former.subtracting(placed).subtracting(IdentitySet(present))
    }

    /// Whether a property of the object has another value once it is restored.
    ///
    /// - Parameters:
    ///   - key: the name of the property.
    ///   - all: whether all values are restored; see `restoreValues(all:)`.
    /// - Returns: whether observers are to be notified.
    func differs(inKey key: String, all: Bool) -> Bool {
        switch object.layout.propertyByName[key] {
        case .slot(let slot):
            guard !values.isEmpty, all || changedSlots.contains(slot) else { return false }
            return object.values.isEmpty || values[slot] != object.values[slot]
        case .toMany(let index):
            let relationship = object.layout.relationships[index]
            guard let former = toManys.first(where: { $0.relationship === relationship }), all || former.isChanged
            else { return false }
            let members = object.loadedToManyMembers(relationship)
            let restored = Self.restored(former, from: members.all, all: all)
            return relationship.isOrdered
                ? members.all != restored : members.members != IdentitySet(restored)
        case .fetched, nil: return false
        }
    }

    /// The destinations that others have set since in place of the event's, with the inverse relationships by which
    /// they lead to the object.
    var destinationsToLeave: [(inverse: RelationshipLayout, destination: NSManagedObject)] {
        toOnes.compactMap { former in
            guard changedSlots.contains(former.relationship.slot), let inverse = former.relationship.inverse,
                let present = object.toOne(former.relationship), present !== former.later,
                present !== former.destination, Self.isThere(present)
            else { return nil }
            return (inverse, present)
        }
    }

    /// Restores the object's values and relationships.
    ///
    /// - Parameter all: whether all values are restored, for an object that lost them when its deletion was saved,
    ///   rather than those that the event changed.
    func restoreValues(all: Bool) {
        if !values.isEmpty {
            if all || object.values.count != values.count {
                object.values = values
            } else {
                for slot in changedSlots { object.values[slot] = values[slot] }
            }
        }
        let restoresAll = all || values.isEmpty
        for relationship in object.layout.toOnes
        where !object.relations.isEmpty && (restoresAll || changedSlots.contains(relationship.slot)) {
            object.relations[relationship.index] = .unresolved
        }
        for former in toOnes where restoresAll || changedSlots.contains(former.relationship.slot) {
            let destination = former.destination.flatMap { Self.isThere($0) ? $0 : nil }
            object.values[former.relationship.slot] = destination.map { .identifier($0.identifier) } ?? .null
        }
        for former in toManys where all || former.isChanged {
            let members = object.loadedToManyMembers(former.relationship)
            if !former.isWhole, !members.isOrdered {
                for object in former.later { members.remove(object) }
                for object in former.members where Self.isThere(object) { members.insert(object) }
                continue
            }
            members.replaceAll(
                by: Self.restored(former, from: members.all, all: all), isReordered: former.isReordered)
        }
    }

    /// Restores the ends here of relationships whose other ends lead here again.
    ///
    /// An object whose deletion was taken back before lost those to objects that stayed deleted. If the deletion itself
    /// is undone, the others are back too, but nothing of it changed this object's own values.
    func reconnect() {
        guard isDeletedLater, !isDeleted, Self.isThere(object) else { return }
        for former in toOnes {
            guard let destination = former.destination, leadsHere(destination, former.relationship),
                object.toOne(former.relationship) == nil
            else { continue }
            object.connect(former.relationship, to: destination)
        }
        for former in toManys {
            let members = object.loadedToManyMembers(former.relationship)
            let missing = former.members.filter { !members.contains($0) && leadsHere($0, former.relationship) }
            guard !missing.isEmpty else { continue }
            for member in missing { object.connect(former.relationship, to: member) }
            guard former.relationship.isOrdered else { continue }
            let order = former.members.filter(members.contains)
            let known = IdentitySet(order)
            object.reorderToMany(former.relationship, order + members.all.filter { !known.contains($0) })
        }
    }

    /// Whether a relationship's destination is there, and is known to lead to the object.
    private func leadsHere(_ destination: NSManagedObject, _ relationship: RelationshipLayout) -> Bool {
        guard Self.isThere(destination), !destination.isDeleted, let inverse = relationship.inverse else {
            return false
        }
        guard inverse.isToMany else { return destination.toOne(inverse) === object }
        return destination.toManyMembersIfAny(inverse)?.contains(object) ?? false
    }

    /// The former members, and those that others have added since, without those that others have removed or deleted.
    private static func restored(
        _ former: FormerMembers, from present: [NSManagedObject], all: Bool
    ) -> [NSManagedObject] {
        let members = former.members.filter(isThere)
        let later = IdentitySet(former.later)
        if !former.isWhole { return restored(former, members, later, in: present) }
        let now = IdentitySet(present)
        if all || now == later { return members }
        let before = IdentitySet(former.members)
        return members.filter { now.contains($0) || !later.contains($0) }
            + present.filter { !later.contains($0) && !before.contains($0) }
    }

    /// The present members, with the former ones in the place of those that took theirs.
    private static func restored(
        _ former: FormerMembers, _ members: [NSManagedObject], _ later: IdentitySet, in present: [NSManagedObject]
    ) -> [NSManagedObject] {
        let now = IdentitySet(present)
        let returning = members.filter { now.contains($0) || !later.contains($0) }
        let returns = IdentitySet(returning)
        var place = present.firstIndex(where: later.contains)
        if place == nil { place = present.firstIndex { $0 === former.previous }.map { $0 + 1 } }
        let start = min(place ?? former.start, present.count)
        func stays(_ object: NSManagedObject) -> Bool { !later.contains(object) && !returns.contains(object) }
        return present[..<start].filter(stays) + returning + present[start...].filter(stays)
    }
}

/// The changes of a context since a moment, so that they can be taken back without disturbing the undo manager.
///
/// ```swift
/// let record = context.beginRecord()
/// do { try work() } catch { context.takeBack(record) }
/// context.end(record)
/// ```
package final class WorkRecord {
    /// The changes of each event, the latest last.
    fileprivate(set) var steps: [[ObjectMemento]] = []
    /// The changes that could be undone at the beginning.
    fileprivate var undoable: UndoManager.Content?
    fileprivate let outer: WorkRecord?

    fileprivate init(within outer: WorkRecord?) { self.outer = outer }

    func add(_ step: [ObjectMemento]) { steps.append(step) }
}

extension NSManagedObjectContext {
    /// Begins to record changes. Records are nested: the one that was begun last is ended first.
    ///
    /// - Returns: the record.
    package func beginRecord() -> WorkRecord {
        processPendingChanges()
        let record = WorkRecord(within: workRecord)
        record.undoable = undoManager?.content
        workRecord = record
        return record
    }

    /// Takes back what has changed since the record was begun, or since the last save, rollback or reset.
    ///
    /// - Parameter record: the latest record.
    package func takeBack(_ record: WorkRecord) {
        processPendingChanges()
        workRecord = nil
        undoManager?.disableUndoRegistration()
        for step in record.steps.reversed() { restore(step) }
        undoManager?.enableUndoRegistration()
        record.steps = []
        if let undoable = record.undoable { undoManager?.content = undoable }
        workRecord = record
    }

    /// Ends the recording; the changes stay.
    ///
    /// - Parameter record: the latest record.
    package func end(_ record: WorkRecord) {
        processPendingChanges()
        workRecord = record.outer
        record.outer?.steps += record.steps
    }

    /// Begins all records anew, since what was saved or discarded is not taken back.
    func restartRecords() {
        var next = workRecord
        while let record = next {
            record.steps = []
            record.undoable = undoManager?.content
            next = record.outer
        }
    }
}
