import CoreDataModel
import PostgresConnection
import SQLGeneration

/// The statements that write many rows at once: each column is an array. Pure.
enum RowStatements {
    /// `INSERT INTO "car" (_id, _entity, _version, "maker") SELECT u.k, 1, u.v, u.c0 FROM unnest($1, $2, $3) AS u(k, v,
    /// c0)`, which fails unless all rows are added.
    static func insert(_ mapping: EntityMapping, _ columns: [WrittenColumn]) -> String {
        let names = columns.map { quotedName($0.name) }
        let values = columns.indices.map { "u.c\($0)" }
        let list = ([ColumnName.key, ColumnName.entity, ColumnName.version] + names).joined(separator: ", ")
        let selection = (["u.k", "\(mapping.number)", "u.v"] + values).joined(separator: ", ")
        return complete(
            "INSERT INTO \(quotedName(mapping.table)) (\(list)) SELECT \(selection) FROM \(rows(columns.count))",
            count: "cardinality($1)")
    }

    /// The same for one row: `INSERT INTO "car" (_id, _entity, _version, "maker") VALUES ($1, 1, $2, $3)`
    static func insertOne(_ mapping: EntityMapping, _ columns: [WrittenColumn]) -> String {
        let names = columns.map { quotedName($0.name) }
        let list = ([ColumnName.key, ColumnName.entity, ColumnName.version] + names).joined(separator: ", ")
        let values = ["$1", "\(mapping.number)", "$2"] + columns.indices.map { "$\($0 + 3)" }
        return complete(
            "INSERT INTO \(quotedName(mapping.table)) (\(list)) VALUES (\(values.joined(separator: ", ")))", count: "1")
    }

    /// `COPY "car" (_id, _entity, _version, "maker") FROM STDIN (FORMAT binary)`
    static func copy(_ mapping: EntityMapping, _ columns: [WrittenColumn]) -> String {
        let names = columns.map { quotedName($0.name) }
        let list = ([ColumnName.key, ColumnName.entity, ColumnName.version] + names).joined(separator: ", ")
        return "COPY \(quotedName(mapping.table)) (\(list)) FROM STDIN (FORMAT binary)"
    }

    /// The same for rows whose keys and versions the database assigns: `COPY "car" (_entity, "maker") FROM STDIN
    /// (FORMAT binary)`
    static func copyNew(_ mapping: EntityMapping, _ columns: [WrittenColumn]) -> String {
        let list = ([ColumnName.entity] + columns.map { quotedName($0.name) }).joined(separator: ", ")
        return "COPY \(quotedName(mapping.table)) (\(list)) FROM STDIN (FORMAT binary)"
    }

    /// `UPDATE "car" t SET "maker" = u.c0, _version = u.v + 1 FROM unnest($1, $2, $3) AS u(k, v, c0) WHERE t._id = u.k
    /// AND t._version = u.v`, which fails unless it finds all rows.
    ///
    /// An object that moves to another owner loses its place in that owner's ordered relationship.
    static func update(_ mapping: EntityMapping, _ columns: [WrittenColumn]) -> String {
        let sets = sets(columns, version: "u.v") { "u.c\($0)" }
        return complete(
            "UPDATE \(quotedName(mapping.table)) t SET \(sets) FROM \(rows(columns.count)) WHERE \(same)",
            count: "cardinality($1)")
    }

    /// The same for one row: `UPDATE "car" t SET "maker" = $3, _version = $2 + 1 WHERE t._id = $1 AND t._version = $2`
    static func updateOne(_ mapping: EntityMapping, _ columns: [WrittenColumn]) -> String {
        let sets = sets(columns, version: "$2") { "$\($0 + 3)" }
        return complete("UPDATE \(quotedName(mapping.table)) t SET \(sets) WHERE \(sameOne)", count: "1")
    }

    private static func sets(
        _ columns: [WrittenColumn], version: String, _ value: (Int) -> String
    ) -> String {
        var sets = columns.enumerated().map { "\(quotedName($1.name)) = \(value($0))" }
        for (index, column) in columns.enumerated() {
            guard let order = column.orderColumn.map(quotedName) else { continue }
            sets.append("\(order) = CASE WHEN t.\(quotedName(column.name)) = \(value(index)) THEN t.\(order) END")
        }
        // The greatest number is followed by the smallest one: versions are only compared.
        let next = "CASE WHEN \(version) = 9223372036854775807 THEN -9223372036854775808 ELSE \(version) + 1 END"
        return (sets + ["\(ColumnName.version) = \(next)"]).joined(separator: ", ")
    }

    /// The same for rows of any version: `UPDATE "car" t SET "maker" = u.c0, _version = t._version + 1 FROM unnest($1,
    /// $2) AS u(k, c0) WHERE t._id = u.k`
    static func set(_ table: String, _ columns: [WrittenColumn]) -> String {
        var sets = columns.enumerated().map { "\(quotedName($1.name)) = u.c\($0)" }
        sets += columns.compactMap(\.orderColumn).map { "\(quotedName($0)) = NULL" }
        sets.append("\(ColumnName.version) = t.\(ColumnName.version) + 1")
        let parameters = (1...columns.count + 1).map { "$\($0)" }.joined(separator: ", ")
        let names = (["k"] + columns.indices.map { "c\($0)" }).joined(separator: ", ")
        return "UPDATE \(quotedName(table)) t SET \(sets.joined(separator: ", ")) "
            + "FROM unnest(\(parameters)) AS u(\(names)) WHERE t.\(ColumnName.key) = u.k"
    }

    /// Locks rows against changes until the transaction ends:
    /// `SELECT FROM "car" WHERE _id = ANY($1) ORDER BY _id FOR UPDATE`
    static func lock(_ table: String) -> String {
        "SELECT FROM \(quotedName(table)) WHERE \(ColumnName.key) = ANY($1) ORDER BY \(ColumnName.key) FOR UPDATE"
    }

    /// The beginning of statements that fail unless they write all rows.
    static let counting = "WITH found AS ("

    /// Divides by zero if a statement has not written all rows, so that nothing after it is executed, not even
    /// `COMMIT`.
    private static func complete(_ statement: String, count: String) -> String {
        "\(counting)\(statement) RETURNING 1) SELECT 1 / (count(*) = \(count))::integer FROM found"
    }

    /// Clears columns of the rows that an update finds.
    static func clear(_ table: String, _ columns: [String]) -> String {
        let sets = columns.map { "\(quotedName($0)) = NULL" }.joined(separator: ", ")
        return "UPDATE \(quotedName(table)) t SET \(sets) FROM \(rows(0)) WHERE \(same)"
    }

    /// `DELETE FROM "car" t USING unnest($1, $2) AS u(k, v) WHERE t._id = u.k AND t._version = u.v`, which fails unless
    /// it finds all rows.
    static func delete(_ table: String) -> String {
        complete("DELETE FROM \(quotedName(table)) t USING \(rows(0)) WHERE \(same)", count: "cardinality($1)")
    }

    /// The same for one row.
    static func deleteOne(_ table: String) -> String {
        complete("DELETE FROM \(quotedName(table)) t WHERE \(sameOne)", count: "1")
    }

    private static let sameOne = "t.\(ColumnName.key) = $1 AND t.\(ColumnName.version) = $2"
    private static let same = "t.\(ColumnName.key) = u.k AND t.\(ColumnName.version) = u.v"

    private static func rows(_ columns: Int) -> String {
        let parameters = (1...columns + 2).map { "$\($0)" }.joined(separator: ", ")
        let names = (["k", "v"] + (0..<columns).map { "c\($0)" }).joined(separator: ", ")
        return "unnest(\(parameters)) AS u(\(names))"
    }

    // MARK: Relationships to many

    /// `INSERT INTO "product_tags" ("product_id", "tag_id") SELECT * FROM unnest($1, $2) ON CONFLICT DO NOTHING`
    static func insertPairs(_ join: JoinMapping) -> String {
        "INSERT INTO \(quotedName(join.table)) (\(quotedName(join.sourceColumn)), \(quotedName(join.destinationColumn))) "
            + "SELECT * FROM unnest($1, $2) ON CONFLICT DO NOTHING"
    }

    static func deletePairs(_ join: JoinMapping) -> String {
        "DELETE FROM \(quotedName(join.table)) t USING unnest($1, $2) AS u(a, b) "
            + "WHERE t.\(quotedName(join.sourceColumn)) = u.a AND t.\(quotedName(join.destinationColumn)) = u.b"
    }

    /// Takes objects out of a join table.
    static func deletePairs(of join: JoinMapping) -> String {
        "DELETE FROM \(quotedName(join.table)) WHERE \(quotedName(join.sourceColumn)) = ANY($1)"
    }

    /// Gives destinations an owner, for a relationship without inverse.
    static func own(_ key: ForeignKeyMapping) -> String {
        let order = key.orderColumn.map { ", \(quotedName($0)) = NULL" } ?? ""
        return
            "UPDATE \(quotedName(key.table)) t SET \(quotedName(key.column)) = u.a\(order) FROM unnest($1, $2) AS u(a, b) "
            + "WHERE t.\(ColumnName.key) = u.b"
    }

    /// Removes destinations from their owners.
    static func release(_ key: ForeignKeyMapping) -> String {
        "\(releasing(key)) FROM unnest($1, $2) AS u(a, b) WHERE t.\(ColumnName.key) = u.b AND t.\(quotedName(key.column)) = u.a"
    }

    /// Removes all destinations from owners that are deleted.
    static func releaseAll(_ key: ForeignKeyMapping) -> String {
        "\(releasing(key)) WHERE t.\(quotedName(key.column)) = ANY($1)"
    }

    private static func releasing(_ key: ForeignKeyMapping) -> String {
        let cleared = key.columns.map { "\(quotedName($0)) = NULL" }.joined(separator: ", ")
        return "UPDATE \(quotedName(key.table)) t SET \(cleared)"
    }

    /// Selects the places of the destinations of objects: source, destination, place.
    static func places(_ toMany: ToManyMapping) -> String? {
        switch toMany {
        case .foreignKey(let key):
            guard let order = key.orderColumn else { return nil }
            return
                "SELECT \(quotedName(key.column)), \(ColumnName.key), \(quotedName(order)) FROM \(quotedName(key.table)) "
                + "WHERE \(quotedName(key.column)) = ANY($1)"
        case .joinTable(let join):
            guard let order = join.orderColumn else { return nil }
            return
                "SELECT \(quotedName(join.sourceColumn)), \(quotedName(join.destinationColumn)), \(quotedName(order)) "
                + "FROM \(quotedName(join.table)) WHERE \(quotedName(join.sourceColumn)) = ANY($1)"
        }
    }

    /// Sets the places of sources `$1` and destinations `$2` to `$3`.
    static func setPlaces(_ toMany: ToManyMapping) -> String? {
        let rows = "unnest($1, $2, $3) AS u(a, b, p)"
        switch toMany {
        case .foreignKey(let key):
            guard let order = key.orderColumn else { return nil }
            return "UPDATE \(quotedName(key.table)) t SET \(quotedName(order)) = u.p FROM \(rows) "
                + "WHERE t.\(ColumnName.key) = u.b AND u.a IS NOT NULL"
        case .joinTable(let join):
            guard let order = join.orderColumn else { return nil }
            return "UPDATE \(quotedName(join.table)) t SET \(quotedName(order)) = u.p FROM \(rows) "
                + "WHERE t.\(quotedName(join.sourceColumn)) = u.a AND t.\(quotedName(join.destinationColumn)) = u.b"
        }
    }
}
