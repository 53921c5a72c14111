import CoreDataModel
import Foundation
import StoreEngine

/// The statements that apply the delete rules of relationships in a batch deletion. Pure.
///
/// A table of the engine holds the keys of the deleted rows for each entity's table.
package struct BatchDeletionSQL: Sendable {
    package let relationship: RelationshipLayout
    package let source: EntityMapping
    package let destination: EntityMapping
    /// `SELECT Z_PK FROM … WHERE Z_ENT = 3`
    private let selection: SQLFragment

    /// - Parameters:
    ///   - relationship: a relationship that the source's entity declares.
    ///   - source: the entity whose rows are deleted.
    ///   - destination: the entity that the relationship leads to.
    ///   - keys: the table of keys of the source's rows.
    package init(
        _ relationship: RelationshipLayout, of source: EntityMapping, to destination: EntityMapping, keys: KeyTableSQL
    ) {
        self.relationship = relationship
        self.source = source
        self.destination = destination
        selection = "SELECT \(.key) FROM \(keys.table) WHERE \(SQLFragment.isEntity(source.numbers))"
    }

    /// The keys of the source's rows that are deleted: `(SELECT Z_PK FROM … WHERE Z_ENT = 3)`.
    private var deleted: SQLFragment { .select(selection) }

    private static let target = "t"

    /// The condition on rows of the destination's table `t` that deleted rows lead to.
    private var related: SQLFragment? { related(to: deleted) }

    private func related(to deleted: SQLFragment) -> SQLFragment? {
        let key: SQLFragment = "\(.key, of: Self.target)"
        if !relationship.isToMany {
            guard let column = source.columns[relationship.slot] else { return nil }
            let references: SQLFragment = "SELECT \(SQLColumn(column.name, of: "s")) FROM \(name: source.table) s"
            return "\(key) IN \(.select("\(references) WHERE \(.key, of: "s") IN \(deleted)"))"
        }
        switch source.toManys[relationship.index] {
        case .foreignKey(let foreign): return "\(SQLColumn(foreign.column, of: Self.target)) IN \(deleted)"
        case .joinTable(let join):
            let pairs: SQLFragment = "SELECT \(name: join.destinationColumn) FROM \(name: join.table)"
            return "\(key) IN \(.select("\(pairs) WHERE \(name: join.sourceColumn) IN \(deleted)"))"
        case nil: return nil
        }
    }

    /// The condition on rows of the destination's table that stay.
    private func stays(_ keys: KeyTableSQL) -> SQLFragment {
        "\(.key, of: Self.target) NOT IN \(keys.keys)"
    }

    /// The rule “cascade”: adds the rows that the relationship leads to from those that the round before added.
    ///
    /// - Parameters:
    ///   - keys: the table of keys of the destination's rows.
    ///   - round: the number of the round, from 1.
    /// - Returns: nil if the relationship is not stored.
    package func cascade(into keys: KeyTableSQL, round: Int) -> SQLFragment? {
        let latest = SQLFragment.select("\(selection) AND \(KeyTableSQL.isAdded(in: round - 1))")
        guard let related = related(to: latest) else { return nil }
        let number = SQLFragment.parameter(.value(.integer(Int64(round))))
        let rows: SQLFragment =
            "SELECT \(.key, of: Self.target), \(.entity, of: Self.target), \(number) FROM \(name: destination.table) t"
        // A row that is in the table already stays unchanged.
        return
            "INSERT INTO \(keys.table) (\(.key), \(.entity), Z_CASCADED) \(rows) WHERE \(related) ON CONFLICT DO NOTHING"
    }

    /// Finds a remaining row that the relationship leads to: `SELECT 1 FROM ZPAGE t WHERE … LIMIT 1`.
    ///
    /// - Parameter keys: the table of keys of the destination's rows.
    /// - Returns: nil if the relationship is not stored.
    package func remaining(_ keys: KeyTableSQL) -> SQLFragment? {
        related.map { "SELECT 1 FROM \(name: destination.table) t WHERE \($0) AND \(stays(keys)) LIMIT 1" }
    }

    /// Removes deleted rows from a join table, or from their destinations if the relationship has no inverse; empty if
    /// the inverse's rule decides.
    package var releases: [SQLFragment] {
        released.map { table, column in
            guard case .foreignKey(let key) = source.toManys[relationship.index] else {
                return "DELETE FROM \(name: table) WHERE \(name: column) IN \(deleted)"
            }
            let cleared = SQLFragment.list(key.columns.map { "\(name: $0) = NULL" })
            return "UPDATE \(name: table) SET \(cleared) WHERE \(name: column) IN \(deleted)"
        }
    }

    /// The tables of rows that are released from deleted ones, with the columns that refer to these.
    private var released: [(table: String, column: String)] {
        guard relationship.isToMany else { return [] }
        switch source.toManys[relationship.index] {
        case .joinTable(let join):
            let columns = join.isReflexive ? [join.sourceColumn, join.destinationColumn] : [join.sourceColumn]
            return columns.map { (join.table, $0) }
        case .foreignKey(let key) where !key.hasInverse: return [(key.table, key.column)]
        case .foreignKey, nil: return []
        }
    }

    /// The tables whose rows the rules “nullify” and the removal of pairs change.
    package var changedTables: [String] { released.map(\.table) + (clearedColumn == nil ? [] : [destination.table]) }

    /// The statements that count these rows, each up to a limit.
    ///
    /// - Parameters:
    ///   - keys: the table of keys of the destination's rows.
    ///   - limit: how many are of interest.
    /// - Returns: the statements.
    package func counts(_ keys: KeyTableSQL, upTo limit: Int) -> [SQLFragment] {
        var rows = released.map { table, column -> SQLFragment in
            "SELECT 1 FROM \(name: table) WHERE \(name: column) IN \(deleted)"
        }
        if let clearing = clearing(keys) {
            rows.append("SELECT 1 FROM \(name: destination.table) t WHERE \(clearing.condition)")
        }
        return rows.map { "SELECT COUNT(*) FROM (\($0) LIMIT \(number: limit))" }
    }

    /// The column of the destination that the rule “nullify” clears.
    private var clearedColumn: SlotColumn? {
        guard relationship.deleteRule == .nullifyDeleteRule, let inverse = relationship.inverse, !inverse.isToMany
        else {
            return nil
        }
        return destination.columns[inverse.slot]
    }

    /// The rule “nullify”: the rows of the destination's table `t` that lose their reference.
    ///
    /// - Returns: nil if nothing is to be cleared.
    package func clearing(_ keys: KeyTableSQL) -> (condition: SQLFragment, update: SQLFragment, inverse: String)? {
        guard let column = clearedColumn, let inverse = relationship.inverse else { return nil }
        let condition: SQLFragment = "\(SQLColumn(column.name, of: Self.target)) IN \(deleted) AND \(stays(keys))"
        let cleared = [column.name, column.entityColumn, column.orderColumn].compactMap { $0 }
        let sets =
            cleared.map { "\(name: $0) = NULL" as SQLFragment } + ["\(.version) = \(.version, of: Self.target) + 1"]
        return (condition, "UPDATE \(name: destination.table) AS t SET \(.list(sets)) WHERE \(condition)", inverse.name)
    }
}

extension BatchDeletionSQL {
    /// Why a deletion must not leave destinations behind.
    package enum Refusal {
        /// The delete rule is “deny”.
        case denied
        /// The inverse would lose its object, and is not optional.
        case mandatory
    }

    /// Why the deletion must not leave destinations behind; nil if it may.
    package var refusal: Refusal? {
        switch relationship.deleteRule {
        case .denyDeleteRule: return .denied
        case .nullifyDeleteRule:
            guard let inverse = relationship.inverse, !inverse.isToMany, !inverse.isOptional else { return nil }
            return .mandatory
        default: return nil
        }
    }

    /// The error for a deletion that would leave destinations behind.
    ///
    /// - Parameters:
    ///   - refusal: why it must not.
    ///   - url: the store's URL.
    ///   - details: further entries of the error's dictionary.
    /// - Returns: the error, with Core Data's code and text.
    package func error(_ refusal: Refusal, url: URL?, _ details: [String: Any] = [:]) -> NSError {
        let name = "\(source.layout.name)/\(relationship.name)"
        let kind = (relationship.inverse?.isToMany == true ? "M" : "O") + "T" + (relationship.isToMany ? "M" : "O")
        let (code, cause) =
            switch refusal {
            case .denied: (CoreDataErrorCode.validationRelationshipDeniedDelete, "deny delete rule on \(name)")
            case .mandatory:
                (CoreDataErrorCode.persistentStoreSave, "mandatory \(kind) nullify inverse on \(name)")
            }
        return StoreError.make(
            code,
            "Constraint trigger violation: Batch delete failed due to \(cause). Nothing was deleted.", url: url,
            userInfo: [NSValidationKeyErrorKey: relationship.name, deletedEntityErrorKey: source.layout.name]
                .merging(details) { own, _ in own })
    }

    /// The rules for the relationships of deleted rows, each once, for the entity that declares it.
    ///
    /// - Parameters:
    ///   - keys: the keys of deleted rows, by table.
    ///   - schema: the store's tables.
    /// - Returns: the rules, in the order of the tables and entities.
    package static func affected(by keys: [String: KeyTableSQL], in schema: SQLSchema) -> [BatchDeletionSQL] {
        keys.sorted { $0.key < $1.key }.flatMap { table, keys in
            schema.mappings.compactMap { $0?.table == table ? $0 : nil }.flatMap { source in
                source.layout.relationships.compactMap { relationship -> BatchDeletionSQL? in
                    guard relationship.source === source.layout, !relationship.isTransient,
                        let destination = schema.mapping(of: relationship.destination)
                    else { return nil }
                    return BatchDeletionSQL(relationship, of: source, to: destination, keys: keys)
                }
            }
        }
    }
}

/// The statements for keys that a request has collected in a table of the engine, with the columns `Z_PK`, `Z_ENT` and
/// `Z_CASCADED`: the round in which a delete rule added the key, from 1, or NULL. Pure.
package struct KeyTableSQL: Sendable {
    /// The table.
    package let table: SQLFragment

    package init(_ table: SQLFragment) { self.table = table }

    /// The keys, as an operand of IN: `(SELECT Z_PK FROM temp.KEYS)`.
    package var keys: SQLFragment { .select("SELECT \(.key) FROM \(table)") }

    /// The condition on rows of a table `t`: `t.Z_PK IN (SELECT Z_PK FROM temp.KEYS)`.
    package var selects: SQLFragment { "\(.key, of: "t") IN \(keys)" }

    /// `DELETE FROM temp.KEYS`
    package var clear: SQLFragment { "DELETE FROM \(table)" }

    /// `INSERT INTO temp.KEYS (Z_PK) VALUES (?) ON CONFLICT DO NOTHING`
    package var insert: SQLFragment {
        "INSERT INTO \(table) (\(.key)) VALUES (\(SQLFragment(.placeholder))) ON CONFLICT DO NOTHING"
    }

    /// `INSERT INTO temp.KEYS (Z_PK, Z_ENT) SELECT …`
    ///
    /// - Parameter selection: keys and entities.
    /// - Returns: the statement.
    package func fill(_ selection: SQLFragment) -> SQLFragment {
        "INSERT INTO \(table) (\(.key), \(.entity)) \(selection)"
    }

    /// Removes keys that no row has, and adds the entities of the others.
    ///
    /// ```sql
    /// DELETE FROM temp.KEYS WHERE Z_PK NOT IN (SELECT Z_PK FROM ZCAR)
    /// UPDATE temp.KEYS AS k SET Z_ENT = (SELECT t.Z_ENT FROM ZCAR t WHERE t.Z_PK = k.Z_PK)
    /// ```
    ///
    /// - Parameter mapping: the entity whose table has the rows.
    /// - Returns: the statements, in order.
    package func complete(from mapping: EntityMapping) -> [SQLFragment] {
        let present = SQLFragment.select("SELECT \(.key) FROM \(name: mapping.table)")
        let own: SQLFragment = "\(.key, of: "t") = \(.key, of: "k")"
        let number = SQLFragment.select("SELECT \(.entity, of: "t") FROM \(name: mapping.table) t WHERE \(own)")
        return [
            "DELETE FROM \(table) WHERE \(.key) NOT IN \(present)", "UPDATE \(table) AS k SET \(.entity) = \(number)",
        ]
    }

    private static let isAskedFor: SQLFragment = "Z_CASCADED IS NULL"

    /// The condition on the keys that delete rules added in a round; in round 0, the request itself selected them.
    static func isAdded(in round: Int) -> SQLFragment {
        round == 0 ? isAskedFor : "Z_CASCADED = \(binding: .value(.integer(Int64(round))))"
    }

    /// The index, in SQLite, by which the keys of a round are found without the others.
    ///
    /// - Parameter table: the name of the temporary table.
    /// - Returns: `CREATE INDEX … ON KEYS (Z_CASCADED) WHERE Z_CASCADED IS NOT NULL`.
    package static func roundIndex(of table: String) -> SQLFragment {
        let index = table + "_rounds"
        return
            "CREATE INDEX IF NOT EXISTS temp.\(name: index) ON \(name: table) (Z_CASCADED) WHERE Z_CASCADED IS NOT NULL"
    }

    /// How many keys the request itself selects, without those that delete rules added.
    package var count: SQLFragment { "SELECT COUNT(*) FROM \(table) WHERE \(Self.isAskedFor)" }

    /// How many keys there are.
    package var total: SQLFragment { "SELECT COUNT(*) FROM \(table)" }

    /// The keys that the request itself selects, and their entities.
    package var rows: SQLFragment {
        "SELECT \(.key), \(.entity) FROM \(table) WHERE \(Self.isAskedFor) ORDER BY \(.key)"
    }

    /// `DELETE FROM ZCAR WHERE Z_PK IN (SELECT Z_PK FROM temp.KEYS)`
    package func delete(from table: String) -> SQLFragment { "DELETE FROM \(name: table) WHERE \(.key) IN \(keys)" }
}
