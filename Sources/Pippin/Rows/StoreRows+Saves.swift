#if !canImport(ObjectiveC)
    import CoreData

    // What saves wrote, and which models show it.
    extension StoreRows {
        /// The state of the store that a transaction reads; nil for what is read as it is now, or as it was pinned.
        func moment() throws -> StoresMoment? {
            guard case .transaction(let transaction) = scope else { return nil }
            return try transaction.firstMoment()
        }

        /// The keys of the rows of an entity that were written between two states of the store, and of those that lead to rows of others that
        /// were.
        ///
        /// A row that came to a model, or left it, was written together with that model's own: both ends of a relationship are changed then. So
        /// what is left to look for are the models that lead to a changed row now, relationship by relationship, one question each.
        ///
        /// - Parameters:
        ///   - plan: the models of the entity.
        ///   - registry: knows the models in them.
        ///   - former: the earlier state.
        ///   - now: the later one, which is read.
        ///   - most: how many rows are looked at, at most.
        /// - Returns: the keys; nil where that is not known, or where there are more.
        /// - Throws: ``PersistenceError`` for an entity that the model does not have, and what reading throws.
        /// - SQL: `SELECT t0.Z<OWNER>, t0.Z_PK FROM Z<ENTITY> t0 WHERE t0.Z<OWNER> IN (?, …)`
        func keysSaved(
            of plan: EntityPlan, _ registry: ModelRegistry, between former: StoresMoment, and now: StoresMoment,
            atMost most: Int
        ) throws -> Set<Int64>? {
            guard let rows = coordinator.rowsSaved(between: former, and: now) else { return nil }
            let links = try links(within: plan, registry)
            var known: [ObjectIdentifier: Set<Int64>] = [:]
            for identifier in rows.inserted + rows.others {
                known[ObjectIdentifier(identifier.layout.root), default: []].insert(identifier.key)
            }
            // New rows come with a change of what leads to them.
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

        /// A filter for the rows of an entity that have one of some keys.
        func predicate(of plan: EntityPlan, keys: Set<Int64>) throws -> NSPredicate? {
            guard let store = coordinator.persistentStores.first else { return nil }
            let layout = try layout(of: plan)
            let identifiers = keys.sorted().map {
                NSManagedObjectID(layout: layout, store: store.identity, key: $0)
            }
            return NSPredicate(format: "SELF IN %@", identifiers)
        }

        /// A relationship by which models show others.
        private struct Link {
            let owner: EntityLayout
            let end: EntityLayout
            /// The relationship back to the owner; nil where there is none.
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

        /// The keys of the rows that some rows lead to. Rows that are gone lead nowhere.
        private func keys(
            atEndOf relationship: RelationshipLayout, of layout: EntityLayout, _ keys: Set<Int64>
        ) throws -> Set<Int64> {
            guard let store = coordinator.persistentStores.first else { return [] }
            let identifiers = keys.sorted().map { NSManagedObjectID(layout: layout, store: store.identity, key: $0) }
            var ends: Set<Int64> = []
            try scope.reading(coordinator) {
                if relationship.isToMany {
                    return try coordinator.forEachKey(atEndOf: relationship, for: identifiers) { ends.insert($1) }
                }
                try coordinator.forEachRow(for: identifiers) { _, row in
                    if let key = try row.destination(at: relationship.slot) { ends.insert(key) }
                }
            }
            return ends
        }
    }
#endif
