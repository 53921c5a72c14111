import Foundation
import Synchronization

extension NSManagedObjectContext {
    /// Passes the changes to the parent, where they become the parent's own changes.
    ///
    /// - Throws: `SaveRefusal` if the parent or the stores have lost an object that was changed here; everything is
    ///   then as before.
    func pushChanges(to parent: NSManagedObjectContext) throws -> ChangedObjects {
        let objects = ChangedObjects(changed.objects)
        try parent.onQueue { parent in
            self.takePromotions()
            for object in objects.inserted + objects.updated + objects.deleted { object.renewDestinations() }
            try ChildSave(of: objects, from: self, to: parent).run()
        }
        let stamp = source?.generation ?? 0
        for object in objects.inserted + objects.updated {
            object.becomeCommitted(version: object.version)
            object.stamp = stamp
        }
        for object in objects.neverSaved { forget(object) }
        forgetChanges()
        return objects
    }
}

/// A save of a child context. It runs on the parent's queue while the child waits, so that it can access both.
///
/// The child has already set both ends of each relationship. Values that the parent has not changed itself are
/// therefore copied as they are; only if both changed a to-one relationship does the parent set the other end again.
/// `CopiedEnds` sets the ends that the parent has changed and the child has not.
///
/// An object that the child's merge policy inserts again after the parent deleted it gets both ends of its
/// relationships again, except those with objects that are deleted or belong to another object now. Objects that the
/// parent deleted with it, by a cascade rule, stay deleted unless the child has changed them, too.
private struct ChildSave {
    let objects: ChangedObjects
    let child: NSManagedObjectContext
    let parent: NSManagedObjectContext
    /// Whether the parent will delete objects that the child may still refer to.
    private let parentHasDeletions: Bool

    init(of objects: ChangedObjects, from child: NSManagedObjectContext, to parent: NSManagedObjectContext) {
        self.objects = objects
        self.child = child
        self.parent = parent
        parent.processPendingChanges()
        parentHasDeletions = parent.changed.objects.contains(where: \.isDeleted)
    }

    func run() throws {
        let updated = try counterparts(of: objects.updated, needed: true)
        let deleted = try counterparts(of: objects.deleted, needed: false)
        let inserted = objects.inserted.map(insert)
        for (object, target) in zip(objects.inserted, inserted) { copy(object, to: target, isNew: true) }
        // One that was only set to the values that it had changes nothing in the parent.
        let changed = zip(objects.updated, updated).compactMap { object, target in
            object.differsFromSnapshot ? target.map { (object: object, target: $0) } : nil
        }
        var ends = CopiedEnds(in: parent)
        for (object, target) in changed {
            ends.willCopy(to: target, from: object)
            copy(object, to: target, isNew: false)
        }
        // Copied before the deletion: the parent's cascade rule must not delete an object that the child removed from
        // the relationship before.
        for case let (object, target?) in zip(objects.deleted, deleted) where !target.isDeleted {
            copy(object, to: target, isNew: false)
        }
        ends.settle(changed)
        restoreInverses(of: zip(objects.inserted, inserted).filter { $0.0.version > 0 }.map(\.1))
        for case let target? in deleted where !target.isDeleted { parent.delete(target) }
        parent.processPendingChanges()
    }

    // MARK: Finding and making the parent's objects

    /// The parent's objects, with values; `nil` if it has none and none is needed.
    private func counterparts(of objects: [NSManagedObject], needed: Bool) throws -> [NSManagedObject?] {
        var unread: [NSManagedObjectID] = []
        for object in objects {
            if let target = parent.table.object(at: object.identity) {
                if target.isFault { unread.append(object.identifier) }
            } else if object.isFault || object.version == 0
                || child.source?.isCurrent(object.identity, since: object.stamp) != true
            {
                // If the child made the object and the parent saved and released it, only the store knows its version.
                unread.append(object.identifier)
            }
        }
        let stamp = parent.source?.generation ?? 0
        var rows: [NSManagedObjectID: Row] = [:]
        for row in try parent.source?.rows(for: unread) ?? [] { rows[row.objectID] = row }
        // A save above may have finished while the rows were read.
        child.takeRenewals()
        let read = Set(unread)
        var gone: [(objectID: NSManagedObjectID, current: Row?)] = []
        let found: [NSManagedObject?] = objects.map { object in
            let identifier = object.identifier
            let target = parent.table.object(for: identifier)
            if target?.isDeleted ?? false {
                gone.append((identifier, nil))
                return nil
            }
            if let target, !target.isFault {
                return target
            } else if let row = rows[identifier].map({ basis(of: object, in: $0) }) {
                return parent.object(for: row, asFault: false, refreshing: false, stamp: stamp)
            } else if !read.contains(identifier), !object.isFault {
                let row = Row(objectID: identifier, version: object.version, values: object.snapshot)
                return parent.object(for: row, asFault: false, refreshing: false, stamp: stamp)
            }
            gone.append((identifier, nil))
            return nil
        }
        if needed, !gone.isEmpty { throw SaveRefusal.optimisticLocking(gone) }
        return found
    }

    /// The row on which the child's changes are based: the one in the store, unless another context has written it
    /// since the child read it. In that case it is the row that the child read, so that the final save detects the
    /// conflict.
    private func basis(of object: NSManagedObject, in row: Row) -> Row {
        guard !object.isFault, object.version > 0, object.version < row.version else { return row }
        return Row(objectID: row.objectID, version: object.version, values: object.snapshot)
    }

    /// A new object of the parent, under the ID that the child's object has.
    private func insert(_ object: NSManagedObject) -> NSManagedObject {
        if let target = parent.table.object(at: object.identity) {
            // If the parent's object was deleted there, the child's merge policy restores it; its row is still there.
            if target.isDeleted, !target.isGone { parent.fulfill(target) }
            if target.isFault || target.isGone {
                parent.insertFault(target)
                target.version = object.version
            } else {
                parent.revive(target)
                object.version = target.version
            }
            return target
        }
        let target = parent.materialize(
            Materialization(
                identity: object.identity, values: object.layout.defaultValues, version: object.version,
                state: [.inserted, .insertedInEvent], stamp: 0))
        parent.rememberForUndo(target, existed: false)
        parent.changed.list(target)
        parent.event.add(target)
        if let store = child.assignedStores[object] {
            parent.assign(target, to: store)
        }
        target.awakeFromInsert()
        return target
    }

    /// Connects objects that the merge policy inserted again to the destinations of their relationships, from both
    /// ends.
    private func restoreInverses(of objects: [NSManagedObject]) {
        guard !objects.isEmpty else { return }
        let names = Set(objects.flatMap { $0.layout.relationships.map(\.name) })
        // If reading fails here, each object is read again, which reports the error.
        try? parent.prefetch(names.sorted(), for: objects)
        // Destinations without a row, or with outdated values.
        let unread = IdentitySet(objects.flatMap(\.allDestinations)).filter {
            guard $0.isFault, !$0.hasChanges, !$0.hasTemporaryID else { return false }
            return !$0.state.contains(.valuesPending) || parent.source?.isCurrent($0.identity, since: $0.stamp) != true
        }
        if let read = try? parent.read(Set(unread.map(\.identifier))) {
            for row in read.rows.values {
                _ = parent.object(for: row, asFault: true, refreshing: false, stamp: read.stamp)
            }
            parent.markDeletedElsewhere(unread.filter { read.rows[$0.identifier] == nil })
        }
        for object in objects { object.connectInverses() }
    }

    // MARK: Copying

    /// Copies all values or the changed ones, and notifies the observers of the parent's object.
    private func copy(_ object: NSManagedObject, to target: NSManagedObject, isNew: Bool) {
        let copy = { isNew ? copyAll(from: object, to: target) : copyChanges(from: object, to: target) }
        guard target.state.contains(.observed) else { return copy() }
        let changed = Set(object.changedSlots(includingTransient: true))
        target.notifyingObservers(
            ofKeys: { key in
                switch object.layout.propertyByName[key] {
                case .slot(let slot): isNew || changed.contains(slot)
                case .toMany(let index):
                    object.toManyMembersIfAny(object.layout.relationships[index])?.hasChanges ?? false
                case .fetched, nil: false
                }
            }, copy)
    }

    private func copyAll(from object: NSManagedObject, to target: NSManagedObject) {
        target.willChange()
        target.values = object.values
        let isNewRow = target.state.contains(.inserted)
        if isNewRow {
            target.relations = []
        } else if !target.relations.isEmpty {
            // The parent knows the members that the object had when it was deleted.
            for relationship in object.layout.toOnes { target.relations[relationship.index] = .unresolved }
        }
        if parentHasDeletions {
            for relationship in object.layout.toOnes where isDeletedHere(object.values[relationship.slot]) {
                target.values[relationship.slot] = .null
            }
        }
        guard !object.relations.isEmpty else { return }
        let isBack = isNewRow && object.version > 0
        for relationship in object.layout.toManys {
            copyMembers(of: relationship, from: object, to: target, all: isBack)
        }
    }

    private func copyChanges(from object: NSManagedObject, to target: NSManagedObject) {
        target.willChange()
        for slot in object.changedSlots(includingTransient: true) {
            let value = object.values[slot]
            guard let relationship = object.layout.slots[slot].relationship else {
                target.values[slot] = value
                continue
            }
            if isDeletedHere(value) { continue }
            if target.values[slot] == object.snapshot[slot] {
                target.values[slot] = value
                if !target.relations.isEmpty { target.relations[relationship.index] = .unresolved }
            } else {
                target.setToOne(relationship, to: destination(value))
            }
        }
        guard !object.relations.isEmpty else { return }
        for relationship in object.layout.toManys { copyMembers(of: relationship, from: object, to: target) }
    }

    private func copyMembers(
        of relationship: RelationshipLayout, from object: NSManagedObject, to target: NSManagedObject, all: Bool = false
    ) {
        guard let members = object.toManyMembersIfAny(relationship), members.hasChanges || all else { return }
        let copy =
            relationship.isOrdered ? target.loadedToManyMembers(relationship) : target.toManyMembers(relationship)
        // Without an inverse, the parent may not have met the removed object yet.
        for removed in members.removed { copy.remove(parent.objectOrFault(removed.identifier)) }
        let new = all ? members.members : members.added
        var joined: IdentitySet = []
        for added in relationship.isOrdered ? members.all.filter(new.contains) : Array(new) {
            let counterpart = parent.objectOrFault(added.identifier)
            if !counterpart.isDeleted, copy.insert(counterpart) { joined.insert(added) }
        }
        guard relationship.isOrdered else { return }
        // The child's order, followed by the objects that only the parent has. Of a relationship that the child has not
        // read, it knows only those that came to the end.
        let isKnown = members.isLoaded
        let placed = members.all.filter { isKnown || joined.contains($0) || members.isReturned($0) }
        let order = placed.compactMap { parent.table.object(at: $0.identity) }.filter(copy.contains)
        let known = Set(order)
        let others = copy.all.filter { !known.contains($0) }
        copy.reorder(isKnown ? order + others : others + order)
    }

    private func destination(_ value: StoredValue) -> NSManagedObject? {
        guard case .identifier(let identifier) = value else { return nil }
        return parent.objectOrFault(identifier)
    }

    private func isDeletedHere(_ value: StoredValue) -> Bool {
        guard parentHasDeletions, case .identifier(let identifier) = value else { return false }
        return parent.table.object(for: identifier)?.isDeleted ?? false
    }
}

extension NSManagedObject {
    /// Gives to-one relationships the permanent IDs that destinations got since: the parent does not know their
    /// temporary ones.
    fileprivate final func renewDestinations() {
        guard !values.isEmpty else { return }
        for relationship in layout.toOnes {
            guard case .identifier(let identifier) = values[relationship.slot], identifier.isTemporaryID,
                let destination = toOne(relationship), !destination.hasTemporaryID
            else { continue }
            values[relationship.slot] = .identifier(destination.identifier)
        }
    }
}

extension NSManagedObject {
    /// Whether any property has another value than the parent's object.
    fileprivate final var differsFromSnapshot: Bool {
        if !changedSlots(includingTransient: true).isEmpty { return true }
        return !relations.isEmpty && layout.toManys.contains { toManyMembersIfAny($0)?.hasChanges ?? false }
    }
}

/// A parent context's record of a child, which is on another queue: the child's table, and the changes of IDs and
/// versions that the child has not taken yet.
final class ChildLink: Sendable {
    /// The temporary ID under which the child may know an object, and its permanent one.
    struct Promotion: Sendable {
        let temporary: NSManagedObjectID
        let permanent: NSManagedObjectID
    }

    /// An object that was saved above the child, with its versions before and after.
    struct Renewal: Sendable {
        let identifier: NSManagedObjectID
        let former: Int64
        var version: Int64
    }

    let table: ObjectTable
    private let promotions = Mutex<[Promotion]>([])
    /// In order, each following the one before; usually one per object.
    private let renewals = Mutex<[NSManagedObjectID: [Renewal]]>([:])

    init(_ table: ObjectTable) { self.table = table }

    /// Adds permanent IDs for the child, which takes them the next time it works, and for its descendants, which may
    /// work before that.
    func add(_ new: [Promotion]) {
        promotions.withLock { $0 += new }
        table.context?.notifyChildren(new)
    }

    /// Adds the new versions of saved objects that the child may have read. The child's next changes are based on
    /// these.
    func add(_ new: [Renewal]) {
        let known = new.filter { table.contains($0.identifier) }
        if !known.isEmpty {
            renewals.withLock { waiting in
                for renewal in known {
                    if let last = waiting[renewal.identifier]?.indices.last,
                        waiting[renewal.identifier]?[last].version == renewal.former
                    {
                        waiting[renewal.identifier]?[last].version = renewal.version
                    } else {
                        waiting[renewal.identifier, default: []].append(renewal)
                    }
                }
            }
        }
        table.context?.notifyChildren(of: new)
    }

    /// The versions since the last call.
    func takeRenewals() -> [NSManagedObjectID: [Renewal]] {
        renewals.withLock { waiting in
            defer { waiting = [:] }
            return waiting
        }
    }

    /// Adds the pending permanent IDs of another link: for a grandchild that was created after they were added.
    func add(pendingAt link: ChildLink) {
        let pending = link.promotions.withLock { $0 }
        if !pending.isEmpty { add(pending) }
    }

    /// Whether there are permanent IDs that the child has not taken.
    var hasPromotions: Bool { promotions.withLock { !$0.isEmpty } }

    /// The permanent IDs since the last call.
    func take() -> [Promotion] {
        promotions.withLock { pending in
            defer { pending = [] }
            return pending
        }
    }
}
