import Foundation
import PredicateFormat
import StoreEngine

// Deletions that others made. A batch deletion only reports the deleted objects, which others would otherwise keep in
// their relationships.
extension NSManagedObjectContext {
    /// Removes objects whose deletion was merged from the relationships of others. The others' rows no longer refer to
    /// them, so this is not a change to save; only a relationship that was set to a deleted object here is changed to
    /// nil.
    func removeDeleted(
        _ gone: IdentitySet, fromRelationshipsOf objects: some Sequence<NSManagedObject>, source: any RowSource
    ) {
        let roots = Set(gone.map { ObjectIdentifier($0.layout.root) })
        let identifiers = Set(gone.map(\.identifier))
        var leading: [ObjectIdentifier: [RelationshipLayout]] = [:]
        var referring: [NSManagedObject] = []
        var touched: [NSManagedObject] = []
        for object in objects where !object.state.contains(.fault) && !gone.contains(object) {
            let layout = ObjectIdentifier(object.layout)
            let relationships =
                leading[layout]
                ?? object.layout.relationships.filter { roots.contains(ObjectIdentifier($0.destination.root)) }
            leading[layout] = relationships
            if relationships.isEmpty { continue }
            if relationships.contains(where: { object.refers($0, toOneOf: identifiers) }) { referring.append(object) }
            if object.forgetMembers(gone, of: relationships) { touched.append(object) }
        }
        take(referring.filter { !$0.state.contains(.inserted) }, from: source)
        for object in referring where keeps(object) {
            for relationship in leading[ObjectIdentifier(object.layout)] ?? []
            where object.refers(relationship, toOneOf: identifiers) {
                object.forgetDestination(of: relationship)
            }
        }
        let kept = (touched + referring).filter(keeps)
        event.refreshed += IdentitySet(kept).subtracting(IdentitySet(event.refreshed))
    }

    /// Leaves out objects that exist again: a save after the merged deletion, which may be this context's own, inserted
    /// them again, or the next one will.
    ///
    /// Objects that another save has changed or deleted since this context read or saved them are not read again.
    func excludeRestored(among removed: inout [NSManagedObject], from source: any RowSource) {
        removed.removeAll { $0.state.contains(.inserted) }
        let unsure = removed.filter { object in
            !object.isGone
                && (object.state.contains(.inBatch) || source.isCurrent(object.identity, since: object.stamp)
                    || parent?.table.contains(object.identity) == true)
        }
        guard !unsure.isEmpty else { return }
        let there: Set<NSManagedObjectID>
        do {
            let rows = try source.rows(for: unsure.map(\.identifier))
            there = Set(rows.map(\.objectID))
            take(rows)
        } catch {
            report("a merged deletion cannot be compared with the store", error)
            there = Set(unsure.map(\.identifier))
        }
        guard !there.isEmpty else { return }
        for object in unsure where object.isFault && there.contains(object.identifier) { object.dropPendingValues() }
        removed.removeAll { !$0.isGone && there.contains($0.identifier) }
    }

    /// Counts an object whose row was deleted elsewhere as deleted: the next save writes nothing for it, and forgets
    /// it.
    ///
    /// The context that deleted it has followed its delete rules.
    func noteDeletionElsewhere(of object: NSManagedObject) {
        changed.list(object)
        object.state.remove([.updated, .watched])
        object.state.remove(.anyEvent)
        object.state.insert([.deleted, .deletePropagated, .inaccessible])
    }

    /// Makes faults of objects that count as deleted elsewhere, and that were inserted again.
    ///
    /// - Returns: those that the source has.
    func bringBack(_ gone: [NSManagedObject], from source: any RowSource) -> [NSManagedObject] {
        guard !gone.isEmpty, let rows = try? source.rows(for: gone.map(\.identifier)) else { return [] }
        return rows.compactMap { row in
            guard let object = table.object(for: row.objectID), object.isGone else { return nil }
            withdraw(object)
            object.state.remove([.inaccessible, .lost])
            object.becomeFault()
            return object
        }
    }
}

extension NSManagedObject {
    /// Whether a to-one relationship refers to one of some objects; a fault shows no value.
    final func refers(_ relationship: RelationshipLayout, toOneOf identifiers: Set<NSManagedObjectID>) -> Bool {
        guard !relationship.isToMany, values.indices.contains(relationship.slot),
            case .identifier(let identifier) = values[relationship.slot]
        else { return false }
        return identifiers.contains(identifier)
    }

    final func forgetDestination(of relationship: RelationshipLayout) {
        takeValue(.null, of: relationship)
    }

    /// Sets one end of a to-one relationship only, and its committed value unless it was changed here.
    final func takeValue(_ value: StoredValue, of relationship: RelationshipLayout) {
        let slot = relationship.slot
        let change = { [self] in
            if snapshot.indices.contains(slot), snapshot[slot] == values[slot] { snapshot[slot] = value }
            values[slot] = value
            if !relations.isEmpty { relations[relationship.index] = .unresolved }
        }
        guard state.contains(.observed) else { return change() }
        notifyingObservers(ofKeys: { $0 == relationship.name }, change)
    }

    /// - Returns: whether one of the objects was among the members of a relationship.
    fileprivate final func forgetMembers(_ gone: IdentitySet, of relationships: [RelationshipLayout]) -> Bool {
        let concerned = relationships.filter { relationship in
            relationship.isToMany && toManyMembersIfAny(relationship)?.all.contains(where: gone.contains) ?? false
        }
        guard !concerned.isEmpty else { return false }
        let change = { [self] in
            for relationship in concerned { toManyMembersIfAny(relationship)?.forget(gone) }
        }
        guard state.contains(.observed) else {
            change()
            return true
        }
        let names = Set(concerned.map(\.name))
        notifyingObservers(ofKeys: names.contains, change)
        return true
    }
}

/// An observer that lists objects of a context, such as a fetched results controller, and needs all changes of a merge,
/// including those to objects that are not registered.
protocol MergeFollower: AnyObject {
    /// Whether it may list objects of an entity.
    func lists(_ layout: EntityLayout) -> Bool

    /// The objects to list among those that others have changed and that are not registered here.
    ///
    /// - Parameter identifiers: their IDs, of any entity.
    /// - Returns: the objects.
    func arrivals(among identifiers: [NSManagedObjectID]) -> [NSManagedObject]
}

/// The followers of a context, which does not keep them alive.
struct MergeFollowers {
    private struct Reference { weak var follower: (any MergeFollower)? }
    private var references: [Reference] = []
    /// How many references there are when those of released followers are next removed.
    private var limit = 16

    var all: [any MergeFollower] { references.compactMap(\.follower) }

    mutating func add(_ follower: any MergeFollower) {
        if references.count >= limit {
            references.removeAll { $0.follower == nil }
            limit = max(16, 2 * references.count)
        }
        references.append(Reference(follower: follower))
    }
}

extension NSManagedObjectContext {
    /// Reads the objects that followers evaluate when a merge is announced, in sets rather than one by one.
    ///
    /// - Parameters:
    ///   - inserted: the faults of objects that others have inserted.
    ///   - unregistered: objects that others have changed, and that are not registered here.
    ///   - source: the source to read from.
    /// - Returns: the inserted objects that were deleted since, which followers would list for ever.
    func prepareFollowers(
        for inserted: [NSManagedObject], unregistered: [NSManagedObjectID], from source: any RowSource
    ) -> IdentitySet {
        let all = merging.followers.all
        guard !all.isEmpty else { return [] }
        if !unregistered.isEmpty {
            var arrived: IdentitySet = []
            for follower in all {
                for object in follower.arrivals(among: unregistered) where keeps(object) && arrived.insert(object) {
                    merging.faults.append(object)
                }
            }
        }
        let missing = (inserted + merging.faults).filter { object in
            keeps(object) && object.isFault && !object.state.contains(.valuesPending)
                && all.contains { $0.lists(object.layout) }
        }
        // If this fails, each object reads its own row, and reports the error.
        guard !missing.isEmpty, let rows = try? source.rows(for: missing.map(\.identifier)) else { return [] }
        let stamp = source.generation
        for row in rows { _ = object(for: row, asFault: true, refreshing: false, stamp: stamp) }
        guard rows.count < missing.count else { return [] }
        return IdentitySet(missing.filter { $0.isFault && !$0.state.contains(.valuesPending) })
    }
}

/// A context's merge of what others saved, and who follows it.
struct MergeState {
    /// The faults concerned by the merge that is being announced.
    var faults: [NSManagedObject] = []
    var followers = MergeFollowers()

    /// Forgets the objects of a merge, for a context that forgets all. Followers stay.
    mutating func reset() { faults = [] }
}

// Unsaved changes of objects that a predicate reads by a relationship. A fetch evaluates its predicate in memory for
// the objects that have changes themselves, as Core Data does; for all others the stores decide, which know nothing of
// changes of related objects.
extension NSManagedObjectContext {
    /// A predicate that selects what another one selects if unsaved changes of related objects count, too.
    ///
    /// Objects that lead to changed ones are fetched, and the predicate is evaluated with them; for the others it goes
    /// to the stores: `(predicate AND NOT buyer IN {changed}) OR SELF IN {matches}`.
    ///
    /// - Parameters:
    ///   - predicate: the predicate.
    ///   - name: the name of the entity whose objects it selects.
    /// - Returns: the predicate; the same one if no change that it depends on is unsaved.
    /// - Throws: the errors that fetching throws.
    package func seeingRelatedChanges(_ predicate: NSPredicate, of name: String) throws -> NSPredicate {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: name)
        request.predicate = predicate
        let layout = try entity(of: request)
        processDeletions()
        guard !changed.isEmpty, let read = plan(for: request, layout).predicate, let tree = try? predicateTree(of: read)
        else { return predicate }
        let related = RelatedReads(of: tree, from: layout)
        var parts: [NSPredicate] = []
        for read in related.reads {
            let objects = outdatedObjects(of: read.entity, reading: read.key)
            guard !objects.isEmpty else { continue }
            let format = read.isToMany ? "ANY %K IN %@" : "%K IN %@"
            parts.append(NSPredicate(format: format, argumentArray: [read.path.joined(separator: "."), objects]))
        }
        if parts.isEmpty && related.isComplete { return predicate }
        let affected = related.isComplete ? NSCompoundPredicate(orPredicateWithSubpredicates: parts) : nil
        request.predicate = affected
        let matches = try StoreError.evaluating {
            let matches = Self.test(read)
            return try fetch(request).compactMap { $0 as? NSManagedObject }.filter(matches)
        }
        let selected = NSPredicate(format: "SELF IN %@", argumentArray: [matches])
        guard let affected else { return selected }
        let others = NSCompoundPredicate(andPredicateWithSubpredicates: [
            predicate, NSCompoundPredicate(notPredicateWithSubpredicate: affected),
        ])
        return NSCompoundPredicate(orPredicateWithSubpredicates: [others, selected])
    }

    /// The changed and deleted objects of an entity that stores may have, without those for which an attribute has the
    /// stores' value.
    private func outdatedObjects(of layout: EntityLayout, reading key: String) -> [NSManagedObject] {
        var plan = FetchPlan(entity: layout)
        plan.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return changedObjects(of: plan).filter { !$0.state.contains(.inserted) }
    }
}
