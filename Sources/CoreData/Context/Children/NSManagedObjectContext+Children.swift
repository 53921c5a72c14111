import Foundation
import Synchronization

// A context's answers to its children, on its own queue while the child waits.
extension NSManagedObjectContext {
    /// Runs a block on the context's queue and waits for it, without making it an event.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    func onQueue<Result>(_ body: @escaping (NSManagedObjectContext) throws -> Result) throws -> Result {
        var result: Swift.Result<Result, any Error>?
        queue.answer { [self] in
            takePromotions()
            result = Swift.Result { try body(self) }
        }
        guard let result else { programmerError("a block for the queue of a parent context did not run") }
        return try result.get()
    }

    /// The rows that a plan finds in the stores, with the values that objects have here.
    func rowsForChild(_ plan: FetchPlan, _ stores: [NSPersistentStore]?) throws -> ContiguousArray<Row> {
        guard let source else { throw Self.noSource("fetch") }
        let pending = try pendingChanges(for: plan, in: stores)
        if pending.isEmpty, !source.isScattered(plan, stores: stores) {
            return ContiguousArray(
                try source.fetchRows(plan, stores: stores).compactMap { row in
                    guard let object = table.object(for: row.objectID), !object.isFault else { return row }
                    return object.isDeleted ? nil : object.rowForChild
                })
        }
        let objects = try fetchObjects(plan, stores, pending: pending, FetchStyle())
        return try rowsForChild(objects.map(\.identifier))
    }

    /// The rows of objects, in order, without deleted ones.
    func rowsForChild(_ identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        var rows: ContiguousArray<Row> = []
        rows.reserveCapacity(identifiers.count)
        var missing: [(position: Int, identifier: NSManagedObjectID)] = []
        for asked in identifiers {
            let identifier = asked.isTemporaryID ? localIdentifier(asked) : asked
            if let object = table.object(for: identifier) {
                if object.isDeleted { continue }
                if !object.isFault {
                    rows.append(object.rowForChild)
                    continue
                }
            }
            missing.append((rows.count, identifier))
        }
        guard !missing.isEmpty, let source else { return rows }
        if missing.count == 1 {
            if let row = try source.row(for: missing[0].identifier) { rows.insert(row, at: missing[0].position) }
            return rows
        }
        var found: [NSManagedObjectID: Row] = [:]
        for row in try source.rows(for: missing.map(\.identifier)) { found[row.objectID] = row }
        var merged: ContiguousArray<Row> = []
        merged.reserveCapacity(identifiers.count)
        var next = 0
        for (position, identifier) in missing {
            merged += rows[next..<position]
            next = position
            if let row = found[identifier] { merged.append(row) }
        }
        return merged + rows[next...]
    }

    /// The destinations of a to-many relationship for many objects, including changes made here.
    func destinationsForChild(
        _ relationship: RelationshipLayout, _ identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        var found: [[NSManagedObjectID]] = Array(repeating: [], count: identifiers.count)
        var missing: [Int] = []
        let identifiers = identifiers.map { $0.isTemporaryID ? localIdentifier($0) : $0 }
        for (position, identifier) in identifiers.enumerated() {
            if let object = table.object(for: identifier), object.toManyMembersIfAny(relationship) != nil {
                found[position] = object.toManyObjects(relationship).map(\.identifier)
            } else if !identifier.isTemporaryID || parent != nil {
                missing.append(position)
            }
        }
        guard !missing.isEmpty, let source else { return found }
        let lists = try source.destinations(of: relationship, for: missing.map { identifiers[$0] })
        for (position, list) in zip(missing, lists) { found[position] = list }
        return found
    }

    // MARK: Notifying children

    /// Informs descendant contexts of the permanent IDs of objects that they may know by temporary ones.
    func notifyChildren(_ promotions: @autoclosure () -> [ChildLink.Promotion]) {
        // Outside the lock: a child that is released meanwhile removes its link.
        let links = children.withLock { $0 }
        guard !links.isEmpty else { return }
        let promotions = promotions()
        if promotions.isEmpty { return }
        for link in links { link.add(promotions) }
    }

    /// Informs descendant contexts of the versions that objects have in the store since they were saved here.
    func notifyChildren(of renewals: @autoclosure () -> [ChildLink.Renewal]) {
        let links = children.withLock { $0 }
        guard !links.isEmpty else { return }
        let renewals = renewals()
        if renewals.isEmpty { return }
        for link in links { link.add(renewals) }
    }

    /// Takes the versions of objects that were saved above since the last call. If an object was read before such a
    /// save, and only this context's changes were saved, its values are those of the new version. An object at any
    /// other version keeps it, and its next save is a conflict.
    func takeRenewals() {
        guard let renewals = linkToParent?.takeRenewals() else { return }
        for (identifier, steps) in renewals {
            guard let object = table.object(for: identifier) else { continue }
            for step in steps where object.version == step.former { object.version = step.version }
        }
    }

    /// Makes the children that merge automatically merge what was saved here. Changes that a child saves into this
    /// context are not stored yet; its siblings get them with this context's own save.
    ///
    /// - Returns: these children, each of which merges on its own queue.
    func announceToChildren(_ changes: () -> SavedChanges) -> [NSManagedObjectContext] {
        let listeners = children.withLock { $0.compactMap(\.table.context) }.filter(
            \.automaticallyMergesChangesFromParent)
        guard !listeners.isEmpty else { return [] }
        let changes = changes()
        for listener in listeners { listener.mergeSoon(changes) }
        return listeners
    }

    /// Called before an object is looked up by an ID from the parent: the parent may have assigned that ID since, so
    /// that the object is still registered here under its temporary ID.
    @inline(__always)
    final func takePromotionsIfAny() {
        if let linkToParent, linkToParent.hasPromotions { takePromotions() }
    }

    /// Takes the permanent IDs that the parent's objects were given since the last call.
    func takePromotions() {
        guard let link = linkToParent else { return }
        let promotions = link.take()
        defer { takeRenewals() }
        guard !promotions.isEmpty else { return }
        var permanent: [NSManagedObjectID: NSManagedObjectID] = [:]
        for promotion in promotions {
            permanent[promotion.temporary] = promotion.permanent
            guard let object = table.object(for: promotion.temporary) else { continue }
            let number = object.key
            object.identifier = promotion.permanent
            table.promote(object, from: number)
        }
        for object in table.all { object.replaceDestinations(permanent) }
    }
}

extension NSManagedObject {
    /// The object's row, as a child context reads it.
    ///
    /// Transient values belong to each context; a save copies a child's to its parent.
    fileprivate final var rowForChild: Row {
        var row = Row(objectID: identifier, version: version, values: values)
        for slot in layout.transientSlots { row.values[slot] = .null }
        return row
    }

    /// Replaces the IDs of to-one destinations.
    fileprivate final func replaceDestinations(_ identifiers: [NSManagedObjectID: NSManagedObjectID]) {
        guard !values.isEmpty else { return }
        for relationship in layout.toOnes {
            let slot = relationship.slot
            if case .identifier(let old) = values[slot], old.isTemporaryID, let new = identifiers[old] {
                values[slot] = .identifier(new)
            }
            if case .identifier(let old) = snapshot[slot], old.isTemporaryID, let new = identifiers[old] {
                snapshot[slot] = .identifier(new)
            }
        }
    }
}

// What a child context inserts, or inserts again, in its parent.
extension NSManagedObjectContext {
    /// Makes a fault a new object: it was requested by its ID before the child that made it saved.
    func insertFault(_ object: NSManagedObject) {
        rememberForUndo(object, existed: false)
        object.relations = []
        object.snapshot = []
        object.version = 0
        object.state.remove([.valuesPending, .inBatch, .lost, .inaccessible, .hollow])
        object.state.insert(.fault)
        // It is registered when it is listed.
        table.remove(object)
        enlist(object)
        object.awakeFromInsert()
    }

    /// Undoes the deletion of an object whose row is still there.
    func revive(_ object: NSManagedObject) {
        if object.state.isDisjoint(with: .anyEvent) {
            rememberForUndo(object)
            event.add(object)
        }
        object.state.insert(.updatedInEvent)
        object.state.remove([.deleted, .deletePropagated, .deletedInEvent])
        objectWillChange(object)
    }
}
