import CoreDataModel
import PredicateFormat
import StoreEngine

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
