import CoreDataModel
import PredicateFormat
import StoreEngine

/// The statements that find references that lead to no row. Pure.
package enum DanglingReferenceSQL {
    /// The rows whose to-one relationship leads to no row:
    /// `SELECT t0.Z_PK, t0.ZBOOK FROM ZPAGE t0 LEFT JOIN ZBOOK t1 ON t1.Z_PK = t0.ZBOOK WHERE t0.Z_ENT = 5 AND t0.ZBOOK
    /// IS NOT NULL AND t1.Z_PK IS NULL`.
    package static func toOne(
        _ column: SlotColumn, of source: EntityMapping, destination: EntityMapping
    ) -> SQLFragment {
        let reference: SQLFragment = "\(SQLColumn(column.name, of: "t0"))"
        let rows: SQLFragment = "SELECT \(.key, of: "t0"), \(reference) FROM \(name: source.table) t0"
        let own: SQLFragment = "\(.entity, of: "t0") = \(number: source.number)"
        return "\(rows) \(target(reference, destination)) WHERE \(own) AND \(isMissing(reference))"
    }

    /// The rows of a join table that lead to no row:
    /// `SELECT t0.Z_5NOTES, t0.Z_13TAGS FROM Z_5TAGS t0 LEFT JOIN ZTAG t1 ON t1.Z_PK = t0.Z_13TAGS WHERE t0.Z_13TAGS IS
    /// NOT NULL AND t1.Z_PK IS NULL`.
    package static func joinTable(_ join: JoinMapping, destination: EntityMapping) -> SQLFragment {
        let reference: SQLFragment = "\(SQLColumn(join.destinationColumn, of: "t0"))"
        let rows: SQLFragment =
            "SELECT \(SQLColumn(join.sourceColumn, of: "t0")), \(reference) FROM \(name: join.table) t0"
        return "\(rows) \(target(reference, destination)) WHERE \(isMissing(reference))"
    }

    private static func target(_ reference: SQLFragment, _ destination: EntityMapping) -> SQLFragment {
        let row: SQLFragment = "LEFT JOIN \(name: destination.table) t1 ON \(.key, of: "t1") = \(reference)"
        // A row of another entity in the same table is not a destination.
        guard destination.sharesTable else { return row }
        return "\(row) AND \(SQLFragment.isEntity(destination.numbers, "\(.entity, of: "t1")"))"
    }

    private static func isMissing(_ reference: SQLFragment) -> SQLFragment {
        "\(reference) IS NOT NULL AND \(.key, of: "t1") IS NULL"
    }
}

// Several subentities may each declare a property of one name, whose values are in a column for each of them.
extension EntityMapping {
    /// The column of a property of which another subentity has one of the same name.
    ///
    /// - Throws: an `NSError` that names both, if they cannot be read as one.
    func sibling(_ key: String, of column: SlotColumn, in mapping: EntityMapping) throws -> SlotColumn {
        try checkAvailable(key, "cannot be fetched or compared")
        guard let own = self.column(named: key), own.storage == column.storage, !own.isComposite, !column.isComposite,
            own.destination?.root === column.destination?.root
        else { throw isNoSibling(key, of: mapping) }
        return own
    }

    /// The error for two properties that cannot be read as one.
    func isNoSibling(_ key: String, of mapping: EntityMapping) -> any Error {
        SQLError.unsupported(
            "“\(mapping.layout.name).\(key)” and “\(layout.name).\(key)” at once, which differ in type")
    }
}

extension SlotColumn {
    /// The value in a row: `t0.ZCODE`, or `IFNULL(t0.ZCODE, t0.ZCODE1)`.
    func value(of alias: String) -> SQLFragment { value(of: alias, \.name) ?? "NULL" }

    /// The number of the entity of the object that a to-one relationship leads to; nil if it can be of only one.
    func entity(of alias: String) -> SQLFragment? { value(of: alias, \.entityColumn) }

    /// The columns, for each entity that declares the property.
    func values(of alias: String, _ name: (SlotColumn) -> String?) -> [SQLFragment] {
        ([self] + siblings).compactMap(name).map { "\(SQLColumn($0, of: alias))" }
    }

    private func value(of alias: String, _ name: (SlotColumn) -> String?) -> SQLFragment? {
        let columns = values(of: alias, name)
        return columns.dropFirst().reduce(columns.first) { value, next in value.map { .call(.ifNull, $0, next) } }
    }
}

extension WrittenSQL {
    /// The statement with the names of a store.
    ///
    /// - Parameters:
    ///   - schema: the store's tables.
    ///   - date: writes a column with dates as the database's functions take it.
    /// - Returns: the statement, with a parameter for each value.
    /// - Throws: an `NSError` for an entity or a property that has no table or column.
    package func fragment(_ schema: SQLSchema, date: (SQLFragment) -> SQLFragment) throws -> SQLFragment {
        var result = SQLFragment.empty
        for part in parts {
            switch part {
            case .text(let text): result = result + SQLFragment(.text(text))
            case .value(let value): result = result + .parameter(.constant(value, .column(nil)))
            case .boolean(let value): result = result + .parameter(.constant(.boolean(value), .column(.boolean)))
            case .table(let entity):
                result = result + "\(name: try Self.mapping(of: entity, in: schema).table)"
            case .isOf(let entity):
                let mapping = try Self.mapping(of: entity, in: schema)
                let numbers = SQLFragment.list(mapping.numbers.map { "\(number: $0)" })
                result = result + (mapping.sharesTable ? "\(SQLColumn(.entity)) IN (\(numbers))" : "1 = 1")
            case .pairs(let relationship, let source, let destination):
                let join = try Self.join(relationship, in: schema)
                let columns: SQLFragment =
                    "\(name: join.sourceColumn) AS \(name: source), \(name: join.destinationColumn) AS \(name: destination)"
                result = result + "SELECT \(columns) FROM \(name: join.table)"
            case .key: result = result + "\(SQLColumn(.key))"
            case .column(let entity, let path):
                result = result + "\(SQLColumn(try Self.column(path, of: entity, in: schema)))"
            case .date(let entity, let path):
                result = result + date("\(SQLColumn(try Self.column(path, of: entity, in: schema)))")
            }
        }
        return result
    }

    private static func mapping(of entity: EntityLayout, in schema: SQLSchema) throws -> EntityMapping {
        if let mapping = schema.mapping(of: entity) { return mapping }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreOperation, "The store does not hold objects of entity “\(entity.name)”.")
    }

    private static func join(_ relationship: RelationshipLayout, in schema: SQLSchema) throws -> JoinMapping {
        let toManys = try mapping(of: relationship.source, in: schema).toManys
        if toManys.indices.contains(relationship.index), case .joinTable(let join) = toManys[relationship.index] {
            return join
        }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreOperation,
            "“\(relationship.source.name).\(relationship.name)” has no table of its own.")
    }

    /// The name of a column.
    private static func column(_ path: [String], of entity: EntityLayout, in schema: SQLSchema) throws -> String {
        var column = try path.first.flatMap { try mapping(of: entity, in: schema).column(named: $0) }
        for depth in path.indices.dropFirst() {
            let property = path[...depth].joined(separator: ".")
            column = column?.elements.first { $0.property == property }
        }
        if let column, !column.isComposite { return column.name }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreOperation,
            "“\(entity.name)” has no column for “\(path.joined(separator: "."))”.",
            suggestion: "Name an attribute or a reference to one object; others are reached by joining their table.")
    }
}
