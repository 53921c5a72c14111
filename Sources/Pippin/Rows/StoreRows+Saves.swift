import StoreSession

// The rows that saves wrote, and the models that contain them.
extension StoreRows {
    /// The state of the store that a transaction reads; nil if the current or a pinned state is read.
    func moment() throws -> StoresMoment? {
        guard case .transaction(let transaction) = scope else { return nil }
        return try transaction.firstMoment()
    }

    /// The keys of an entity's rows that were written between two states of the store, and of those that lead to
    /// written rows of other entities.
    ///
    /// If a row is added to a model or removed from it, the model's own row is written too, since both ends of the
    /// relationship change. What remains to be found are the models that lead to a changed row now: one query for
    /// each relationship.
    ///
    /// - Parameters:
    ///   - plan: the models of the entity.
    ///   - registry: knows the models in them.
    ///   - former: the earlier state.
    ///   - now: the later state, which is read.
    ///   - most: the largest number of keys.
    /// - Returns: the keys; nil if they are unknown, or if there are more.
    /// - Throws: ``PersistenceError`` for an entity that the model does not have, and what reading throws.
    /// - SQL: `SELECT t0.Z<OWNER>, t0.Z_PK FROM Z<ENTITY> t0 WHERE t0.Z<OWNER> IN (?, …)`
    func keysSaved(
        of plan: EntityPlan, _ registry: ModelRegistry, between former: StoresMoment, and now: StoresMoment,
        atMost most: Int
    ) throws -> Set<Int64>? {
        guard let rows = session.rowsSaved(between: former, and: now) else { return nil }
        let links = try links(within: plan, registry)
        var known: [ObjectIdentifier: Set<Int64>] = [:]
        for identifier in rows.inserted + rows.others {
            known[ObjectIdentifier(identifier.layout.root), default: []].insert(identifier.key)
        }
        // New rows come with a change of the rows that lead to them.
        var waiting: [ObjectIdentifier: Set<Int64>] = [:]
        for identifier in rows.others {
            waiting[ObjectIdentifier(identifier.layout.root), default: []].insert(identifier.key)
        }
        let root = ObjectIdentifier(try layout(of: plan).root)
        var count = 0
        while !waiting.isEmpty {
            var found: [ObjectIdentifier: Set<Int64>] = [:]
            for link in links {
                guard let changed = waiting[ObjectIdentifier(link.end.root)] else { continue }
                count += changed.count
                guard count <= most, let back = link.back else { return nil }
                let owner = ObjectIdentifier(link.owner.root)
                for key in try keys(atEndOf: back, of: link.end, changed) {
                    if known[owner, default: []].insert(key).inserted { found[owner, default: []].insert(key) }
                }
            }
            waiting = found
        }
        return known[root] ?? []
    }

    /// A filter for the rows of an entity with some primary keys.
    func predicate(of plan: EntityPlan, keys: Set<Int64>) throws -> NSPredicate? {
        guard let store = session.openStores.first else { return nil }
        let layout = try layout(of: plan)
        let identifiers = keys.sorted().map {
            NSManagedObjectID(layout: layout, store: store.identity, key: $0)
        }
        return NSPredicate(format: "SELF IN %@", identifiers)
    }

    /// A relationship by which models contain others.
    private struct Link {
        let owner: EntityLayout
        let end: EntityLayout
        /// The inverse relationship, to the owner; nil if there is none.
        let back: RelationshipLayout?
    }

    /// The relationships of models, and of those in them.
    private func links(within plan: EntityPlan, _ registry: ModelRegistry) throws -> [Link] {
        var links: [Link] = []
        var seen: Set<String> = [plan.name]
        var queue = [plan]
        while let next = queue.popLast() {
            let owner = try layout(of: next)
            for field in next.fields {
                guard let related = field.related else { continue }
                let end = try registry.plan(related)
                links.append(
                    Link(
                        owner: owner, end: try layout(of: end),
                        back: owner.relationship(named: field.name)?.inverse))
                if seen.insert(end.name).inserted { queue.append(end) }
            }
        }
        return links
    }

    /// The keys of the rows that some rows lead to. Deleted rows are ignored.
    private func keys(
        atEndOf relationship: RelationshipLayout, of layout: EntityLayout, _ keys: Set<Int64>
    ) throws -> Set<Int64> {
        guard let store = session.openStores.first else { return [] }
        let identifiers = keys.sorted().map { NSManagedObjectID(layout: layout, store: store.identity, key: $0) }
        var ends: Set<Int64> = []
        try scope.reading(session) {
            if relationship.isToMany {
                return try session.forEachKey(atEndOf: relationship, for: identifiers) { ends.insert($1) }
            }
            try session.forEachRow(for: identifiers) { _, row in
                if let key = try row.destination(at: relationship.slot) { ends.insert(key) }
            }
        }
        return ends
    }
}
