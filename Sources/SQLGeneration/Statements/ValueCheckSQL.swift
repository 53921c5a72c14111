import CoreDataModel

/// The statements that find invalid values: of another kind than their column's, missing, or leading to an object that
/// does not lead back. Pure.
package enum ValueCheckSQL {
    /// The condition on values of another kind than their column's: `typeof(ZPAGES) NOT IN ('null', 'integer')`.
    package static func stranger(_ column: SlotColumn) -> SQLFragment {
        let kinds = ["null"] + column.storage.sqliteKinds
        let list = kinds.dropFirst().reduce("\(text: kinds[0])" as SQLFragment) { "\($0), \(text: $1)" }
        return "typeof(\(SQLColumn(column.name))) NOT IN (\(list))"
    }

    /// The kind of a column's value, as SQLite names it: `typeof(ZPAGES)`.
    package static func kind(of column: SlotColumn) -> SQLFragment { "typeof(\(SQLColumn(column.name)))" }

    /// The function that says whether the bytes of a text are UTF-8.
    package static let isUTF8 = "PippinIsUTF8"

    /// The condition on values that the type of their column does not have, although SQLite keeps them: whole numbers
    /// that are too large, Booleans that are neither 0 nor 1, decimals as texts that are not a number, and texts that
    /// are not UTF-8; nil for types with all values.
    package static func misfit(_ column: SlotColumn, of type: NSAttributeType) -> SQLFragment? {
        let value: SQLFragment = "\(SQLColumn(column.name))"
        switch type {
        case .integer16AttributeType, .integer32AttributeType:
            return type.wholeNumbers.map { range -> SQLFragment in
                let bounds: SQLFragment = "\(number: range.lowerBound) AND \(number: range.upperBound)"
                return "(typeof(\(value)) = 'integer' AND \(value) NOT BETWEEN \(bounds))"
            }
        case .booleanAttributeType: return "(typeof(\(value)) = 'integer' AND \(value) NOT IN (0, 1))"
        case .decimalAttributeType:
            let others: SQLFragment = "\(value) GLOB '*[^0-9.eE+-]*' OR \(value) NOT GLOB '*[0-9]*'"
            return "(typeof(\(value)) = 'text' AND (\(others)))"
        case .stringAttributeType, .URIAttributeType:
            return "(typeof(\(value)) = 'text' AND NOT \(word: isUTF8)(\(value)))"
        default: return nil
        }
    }

    /// How many pairs of a join table have something else than a number in one of some columns: `SELECT COUNT(*) FROM
    /// Z_2TAGS WHERE typeof(Z_2BOOKS) <> 'integer' OR typeof(Z_3TAGS) <> 'integer'`.
    package static func strangePairs(in join: JoinMapping, columns: [String]) -> SQLFragment {
        let conditions = columns.map { "typeof(\(SQLColumn($0))) <> 'integer'" as SQLFragment }
        return "SELECT COUNT(*) FROM \(name: join.table) WHERE \(.joined(conditions, separator: " OR "))"
    }

    /// The first rows that fulfil a condition, each with a value: `SELECT Z_PK, typeof(ZPAGES) FROM ZBOOK WHERE Z_ENT
    /// IN (2, 3) AND typeof(ZPAGES) NOT IN ('null', 'integer') ORDER BY Z_PK LIMIT 5`.
    ///
    /// - Parameters:
    ///   - value: what to name of each row.
    ///   - mapping: an entity, whose subentities are included.
    ///   - keys: the keys of the rows to look at; nil for all.
    ///   - condition: the condition.
    ///   - limit: how many rows at most.
    /// - Returns: the statement.
    package static func values(
        _ value: SQLFragment, in mapping: EntityMapping, among keys: [Int64]? = nil, where condition: SQLFragment,
        limit: Int
    ) -> SQLFragment {
        let rows: SQLFragment = "SELECT \(.key), \(value) FROM \(name: mapping.table) WHERE \(own(mapping, keys))"
        return "\(rows) AND \(condition) ORDER BY \(.key) LIMIT \(number: limit)"
    }

    /// The condition on rows that have no value in any of some columns: `ZPAGES IS NULL`.
    package static func missing(_ columns: [SlotColumn]) -> SQLFragment {
        .joined(columns.map { "\(SQLColumn($0.name)) IS NULL" }, separator: " AND ")
    }

    /// The rows whose to-one destination does not lead back to them: `SELECT t0.Z_PK FROM ZPERSON t0 JOIN ZPASSPORT t1
    /// ON t1.Z_PK = t0.ZPASSPORT WHERE t0.Z_ENT = 1 AND t1.ZOWNER IS NOT t0.Z_PK ORDER BY t0.Z_PK`.
    ///
    /// - Parameters:
    ///   - column: the column of the to-one relationship.
    ///   - source: the entity that it leads from.
    ///   - back: the column of the inverse, which is to-one as well.
    ///   - destination: the entity that the inverse leads from.
    /// - Returns: the statement.
    package static func oneSided(
        _ column: SlotColumn, of source: EntityMapping, back: SlotColumn, of destination: EntityMapping
    ) -> SQLFragment {
        let rows: SQLFragment = "SELECT \(.key, of: "t0") FROM \(name: source.table) t0"
        let ends: SQLFragment =
            "JOIN \(name: destination.table) t1 ON \(.key, of: "t1") = \(SQLColumn(column.name, of: "t0"))"
        let isOneSided: SQLFragment = "\(SQLColumn(back.name, of: "t1")) IS NOT \(.key, of: "t0")"
        return
            "\(rows) \(ends) WHERE \(SQLFragment.isEntity(source.numbers, "\(.entity, of: "t0")")) AND \(isOneSided) ORDER BY \(.key, of: "t0")"
    }

    /// How many rows belong to an entity itself, without its subentities: `SELECT COUNT(*) FROM ZVEHICLE WHERE Z_ENT =
    /// 3`.
    package static func own(rowsOf mapping: EntityMapping) -> SQLFragment {
        "SELECT COUNT(*) FROM \(name: mapping.table) WHERE \(SQLFragment.isEntity([mapping.number]))"
    }

    /// For each condition, how many rows of an entity and its subentities fulfil it: `SELECT SUM(typeof(ZPAGES) NOT IN
    /// ('null', 'integer')), SUM(typeof(ZTITLE) NOT IN ('null', 'text')) FROM ZBOOK WHERE Z_ENT IN (2, 3)`.
    ///
    /// - Parameters:
    ///   - conditions: the conditions.
    ///   - mapping: an entity, whose subentities are included.
    ///   - keys: the keys of the rows to look at; nil for all.
    /// - Returns: the statement.
    package static func counts(
        _ conditions: [SQLFragment], in mapping: EntityMapping, among keys: [Int64]? = nil
    ) -> SQLFragment {
        let sums = conditions.map { "SUM(\($0))" as SQLFragment }
        guard let first = sums.first else { return "SELECT 0" }
        let list = sums.dropFirst().reduce(first) { "\($0), \($1)" }
        return "SELECT \(list) FROM \(name: mapping.table) WHERE \(own(mapping, keys))"
    }

    private static func own(_ mapping: EntityMapping, _ keys: [Int64]? = nil) -> SQLFragment {
        if let keys { return "\(.key) IN (\(.list(keys.map { "\(number: $0)" })))" }
        return mapping.sharesTable ? SQLFragment.isEntity(mapping.numbers) : "1"
    }
}

extension ColumnStorage {
    /// The kinds of values that SQLite may keep in such a column, as named by `typeof`.
    package var sqliteKinds: [String] {
        switch self {
        case .integer, .boolean, .toOne: ["integer"]
        case .double, .float, .date: ["real", "integer"]
        // Decimals with more digits than a double are stored as texts.
        case .decimal: ["real", "integer", "text"]
        case .string, .url: ["text"]
        // A UUID that was stored as a text is read as well.
        case .uuid: ["blob", "text"]
        case .data, .transformable: ["blob"]
        }
    }
}

/// The statements for values that must be unique. Pure; the values have placeholders.
package enum UniqueValueSQL {
    /// The first values that several rows share: `SELECT ZUID FROM ZITEM WHERE ZUID NOT NULL GROUP BY ZUID HAVING
    /// COUNT(*) > 1 ORDER BY MIN(Z_PK) LIMIT ?`.
    package static func shared(_ columns: [String], in table: String) -> SQLFragment {
        let list = SQLFragment.list(columns.map { "\(name: $0)" })
        let present = SQLFragment.joined(columns.map { "\(name: $0) IS NOT NULL" }, separator: " AND ")
        let groups: SQLFragment = "SELECT \(list) FROM \(name: table) WHERE \(present) GROUP BY \(list)"
        return "\(groups) HAVING COUNT(*) > 1 ORDER BY MIN(\(.key)) LIMIT \(SQLFragment(.placeholder))"
    }

    /// The rows that have given values: `SELECT Z_PK, Z_ENT FROM ZITEM WHERE ZUID = ? ORDER BY Z_PK`.
    package static func rows(_ columns: [String], in table: String) -> SQLFragment {
        let equal = columns.map { "\(name: $0) = \(SQLFragment(.placeholder))" as SQLFragment }
        let condition = SQLFragment.joined(equal, separator: " AND ")
        return "SELECT \(.key), \(.entity) FROM \(name: table) WHERE \(condition) ORDER BY \(.key)"
    }
}
