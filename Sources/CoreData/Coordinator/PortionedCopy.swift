import Foundation

/// Copies all objects of one store into another in portions, so that memory does not grow with their number: first all
/// rows, then the to-many relationships that rows do not contain.
struct PortionedCopy {
    /// How many objects are read and written at once.
    static let portion = 10_000

    private let copy: StoreCopy
    private let long: any LongTransactionEngine

    /// - Parameters:
    ///   - copy: the copy to make; objects keep their keys.
    ///   - long: the destination.
    init(_ copy: StoreCopy, _ long: any LongTransactionEngine) { (self.copy, self.long) = (copy, long) }

    private var source: any StoreEngine { copy.source.engine }

    /// Copies everything in one transaction of the destination.
    ///
    /// - Throws: the errors of the stores; the destination is then empty.
    func run() throws {
        try copy.destination.saveMetadata()
        try long.beginLongTransaction(makesIndexesLater: true, copying: source)
        do {
            let roots = copy.roots
            for root in roots {
                // Objects that are gone count, too. A damaged counter keeps no object from being copied.
                var last = (try? source.keys?.lastKey(of: root)) ?? 0
                try forEachPortion(of: root) { rows in
                    last = max(last, rows.map(\.objectID.key).max() ?? 0)
                    try save(inserting: rows)
                }
                // The destination continues after the highest key of each table.
                if last > 0 { try copy.destination.engine.keys?.reserveKeys(upTo: last, of: root) }
            }
            for root in roots where hasLists(root) { try forEachPortion(of: root, connect) }
            try long.makeIndexes()
            // If a unique index could not be made, this reports the rows that share values.
            if let shared = try long.sharedUniqueValues(limit: 1).first {
                throw copy.sharing(shared.constraint, shared.rows)
            }
            try long.endLongTransaction(commits: true)
        } catch {
            // The first error is the one to report.
            try? long.endLongTransaction(commits: false)
            throw error
        }
    }

    private func forEachPortion(of root: EntityLayout, _ body: (ContiguousArray<Row>) throws -> Void) throws {
        let portions = try source.portions(FetchPlan(entity: root))
        while true {
            let rows = try portions.next(Self.portion)
            if !rows.isEmpty { try body(copy.missing.removed(from: rows)) }
            if rows.count < Self.portion { return }
        }
    }

    private func save(inserting rows: ContiguousArray<Row>) throws {
        var changes = ChangeSet()
        changes.inserted = rows.map { row in
            // Connecting the row's relationships later increases its version to the original one.
            let version = max(row.version, 1) - (lists(of: row.objectID.layout).isEmpty ? 1 : 2)
            return RowChange(
                objectID: row.objectID, version: version, values: row.values, changedSlots: [], toManyChanges: [])
        }
        _ = try copy.destination.engine.save(changes)
    }

    // MARK: Relationships to many

    private func hasLists(_ root: EntityLayout) -> Bool { root.selfAndSubentities.contains { !lists(of: $0).isEmpty } }

    /// The to-many relationships that are not fully determined by a column of the destinations: ordered ones, those
    /// without an inverse, and many-to-many ones.
    private func lists(of layout: EntityLayout) -> [RelationshipLayout] {
        layout.toManys.filter { relationship in
            guard !relationship.isTransient, copy.missing.has(relationship) else { return false }
            guard let inverse = relationship.inverse else { return true }
            return relationship.isOrdered || inverse.isToMany
        }
    }

    private func connect(_ rows: ContiguousArray<Row>) throws {
        var changes = ChangeSet()
        let groups = Dictionary(grouping: rows.indices, by: { ObjectIdentifier(rows[$0].objectID.layout) })
        for positions in groups.values {
            let identifiers = positions.map { rows[$0].objectID }
            let relationships = lists(of: identifiers[0].layout)
            guard !relationships.isEmpty else { continue }
            var found: [[ToManyChange]] = Array(repeating: [], count: positions.count)
            for relationship in relationships {
                let lists = try source.destinations(of: relationship, for: identifiers)
                for (index, targets) in lists.enumerated() where !targets.isEmpty {
                    found[index].append(
                        ToManyChange(
                            relationship: relationship, added: targets, removed: [],
                            order: relationship.isOrdered ? targets : nil))
                }
            }
            for (position, lists) in zip(positions, found) {
                let row = rows[position]
                changes.updated.append(
                    RowChange(
                        objectID: row.objectID, version: max(row.version, 1) - 1, values: row.values, changedSlots: [],
                        toManyChanges: lists))
            }
        }
        guard !changes.isEmpty else { return }
        _ = try copy.destination.engine.save(changes)
    }
}
