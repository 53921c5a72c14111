import CompactCollections
import CoreDataModel
import StoreEngine

/// Finds the columns that accompany those of relationships: the destination's entity, and the place in an order. Pure.
///
/// All of a table are looked for together, and only among the columns that no property has, so that none gets a column
/// that belongs to another.
struct DependentColumns {
    private let matches: [String: ColumnMatching.Match]
    private let free: [TableDefinition.Column]

    /// - Parameters:
    ///   - table: the relationships, with the names by the rules.
    ///   - found: the columns of the relationships in the store, by the names of the rules.
    ///   - columns: the columns that no property has.
    ///   - unused: the columns that are still to be removed.
    init(
        of table: WantedTable, found: [String: String], among columns: [TableDefinition.Column], unused: Set<String>
    ) {
        let entities = table.columns.map { column in
            column.entityColumn.flatMap { StoredName.numbered($0, prefix: "Z")?.number }
        }
        let known = Set(entities.compactMap { $0 })
        let others = columns.compactMap { column in
            StoredName.numbered(StoredName.key(column.name), prefix: "Z").map { (column.name, $0.number, $0.rest) }
        }.filter { !known.contains($0.1) }
        // Where entities' columns are numbered by their own names, as order columns are.
        var numbered = ColumnNames()
        var wanted: [ColumnMatching.Wanted] = []
        for (column, entity) in zip(table.columns, entities) {
            // The columns of a relationship that is unknown are looked for, too: they are not another's.
            let key = found[column.wanted.name] ?? column.wanted.name
            if let name = column.orderColumn { wanted.append(Self.order(name, column.wanted, key: key)) }
            if let name = column.entityColumn, let entity {
                let own = numbered.next(for: "\(entity)_\(column.wanted.stem.dropFirst())")
                let rest = StoredName.key("_\(key.dropFirst())")
                let renumbered = others.filter { $0.2 == rest }
                wanted.append(
                    Self.entity(
                        name, entity, column.wanted,
                        others: ["Z\(entity)_\(key.dropFirst())", own, renumbered.count == 1 ? renumbered[0].0 : name]))
            }
        }
        let result = ColumnMatching(columns, unused: unused).matches(wanted)
        matches = Dictionary(zip(wanted.map(\.name), result), uniquingKeysWith: { first, _ in first })
        var taken: Set<String> = []
        for match in result {
            switch match {
            case .found(let name): taken.insert(name)
            case .ambiguous(let names): taken.formUnion(names)
            case .missing: break
            }
        }
        free = columns.filter { !taken.contains($0.name) }
    }

    /// `Z_FOK_OWNER`. Earlier versions of Pippin gave it the number of the relationship's own column.
    private static func order(
        _ name: String, _ column: ColumnMatching.Wanted, key: String
    ) -> ColumnMatching.Wanted {
        ColumnMatching.Wanted(
            name: name, stem: "Z_FOK_\(column.stem.dropFirst())", others: ["Z_FOK_\(key.dropFirst())"],
            former: column.former.map { "Z_FOK_\($0.dropFirst())" }, type: "INTEGER",
            prefix: column.prefix.map { "\($0)_FOK_" })
    }

    /// `Z7_OWNER`, with the number of the relationship's own column, or with one of its own. The entity may have
    /// another number in the column's name than in the store.
    private static func entity(
        _ name: String, _ number: Int, _ column: ColumnMatching.Wanted, others: [String]
    ) -> ColumnMatching.Wanted {
        ColumnMatching.Wanted(
            name: name, stem: "Z\(number)_\(column.stem.dropFirst())", others: others,
            former: column.former.map { "Z\(number)_\($0.dropFirst())" }, type: "INTEGER", prefix: "Z")
    }

    /// The column that has a name by the rules.
    func match(_ expected: String) -> ColumnMatching.Match { matches[expected] ?? .missing }

    /// `Z7_1SPEC` for `Z1SPEC`, with any number: only stores of others have such a column.
    func entityColumn(ofOwner column: String) -> String? {
        let rest = StoredName.key("_" + column.dropFirst())
        let found = free.filter { StoredName.numbered(StoredName.key($0.name), prefix: "Z")?.rest == rest }
        return found.count == 1 ? found[0].name : nil
    }
}
