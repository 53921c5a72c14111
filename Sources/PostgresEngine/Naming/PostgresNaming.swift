import CoreDataModel
import PostgresConnection
import SQLGeneration

/// The names of tables and columns in PostgreSQL: those of the model in snake case, or those given in `userInfo`. Pure.
package struct PostgresNaming {
    /// The key in an entity's or a property's `userInfo` for another name of its table or column.
    package static let userInfoKey = "PippinSQLName"

    private let entities: [EntityLayout]
    private let numbers: [String: Int]
    private var names = SchemaNames()
    private var tables = FreeNames()

    /// - Parameters:
    ///   - entities: the entities in the store, each root followed by its subentities.
    ///   - numbers: their numbers, by name.
    /// - Returns: the names.
    package static func names(_ entities: [EntityLayout], numbers: [String: Int]) -> SchemaNames {
        var naming = PostgresNaming(entities: entities, numbers: numbers)
        for root in entities where root.superentity == nil {
            naming.names.tables[root.name] = naming.tables.next(naming.name(of: root))
        }
        for root in entities where root.superentity == nil { naming.nameColumns(of: root) }
        naming.nameJoinTables()
        return naming.names
    }

    /// The names of the tables of a schema, each qualified with the schema's name.
    package static func names(in schema: String) -> ([EntityLayout], [String: Int]) -> SchemaNames {
        { entities, numbers in
            var names = names(entities, numbers: numbers)
            names.tables = names.tables.mapValues { QualifiedName.make(schema: schema, name: $0) }
            for index in names.joins.indices {
                names.joins[index].table = QualifiedName.make(schema: schema, name: names.joins[index].table)
            }
            return names
        }
    }

    private init(entities: [EntityLayout], numbers: [String: Int]) {
        (self.entities, self.numbers) = (entities, numbers)
    }

    private func name(of entity: EntityLayout) -> String {
        (entity.description.userInfo?[Self.userInfoKey] as? String).map(QualifiedName.part)
            ?? SnakeCase.name(QualifiedName.part(entity.name))
    }

    private static func given(_ property: NSPropertyDescription) -> String? {
        (property.userInfo?[userInfoKey] as? String).map(QualifiedName.part)
    }

    private static func declared(
        _ relationships: [RelationshipLayout], by entity: EntityLayout
    ) -> [RelationshipLayout] {
        relationships[(entity.superentity?.relationships.count ?? 0)...].sorted { $0.name < $1.name }
    }

    // MARK: Columns

    /// Columns that every PostgreSQL table has, and whose names are not available.
    private static let systemColumns: Set<String> = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

    private mutating func nameColumns(of root: EntityLayout) {
        var taken = FreeNames(Self.systemColumns.union([ColumnName.key, ColumnName.entity, ColumnName.version]))
        for entity in root.selfAndSubentities where numbers[entity.name] != nil {
            var columns: [String: SlotColumn] = [:]
            let own = entity.slots[(entity.superentity?.slots.count ?? 0)...].filter { !$0.isTransient }
            for slot in own.sorted(by: { $0.name < $1.name }) {
                switch slot.kind {
                case .attribute(let attribute):
                    columns[slot.name] = Self.column(of: attribute, path: slot.name, names: &taken)
                case .toOne(let relationship):
                    columns[slot.name] = Self.column(of: relationship, names: &taken)
                }
            }
            names.columns[entity.name] = columns
            names.owners[entity.name] = owners(of: entity, names: &taken)
        }
    }

    private static func column(
        of attribute: AttributeLayout, path: String, prefix: String = "", names: inout FreeNames
    ) -> SlotColumn? {
        let wanted = given(attribute.description) ?? prefix + SnakeCase.name(attribute.name)
        if attribute.type == .compositeAttributeType {
            let elements = attribute.elements.compactMap {
                Self.column(of: $0, path: path + "." + $0.name, prefix: wanted + "_", names: &names)
            }
            guard !elements.isEmpty else { return nil }
            return SlotColumn(
                property: path, name: "", storage: .transformable(allowsExternal: false), elements: elements)
        }
        guard let storage = Self.storage(of: attribute) else { return nil }
        var column = SlotColumn(property: path, name: names.next(wanted), storage: storage)
        column.isDerived = attribute.derivation != nil
        return column
    }

    /// How an attribute is stored: Booleans as `boolean`, and large values in the row, too, from where the server moves
    /// them out by itself.
    private static func storage(of attribute: AttributeLayout) -> ColumnStorage? {
        if attribute.type == .booleanAttributeType { return .boolean }
        switch ColumnStorage(attribute) {
        case .data: return .data(allowsExternal: false)
        case .transformable: return .transformable(allowsExternal: false)
        case let storage: return storage
        }
    }

    private static func column(of relationship: RelationshipLayout, names: inout FreeNames) -> SlotColumn {
        let base = SnakeCase.name(relationship.name)
        var column = SlotColumn(
            property: relationship.name, name: names.next(given(relationship.description) ?? base + "_id"),
            storage: .toOne)
        column.destination = relationship.destination
        if relationship.destination.selfAndSubentities.count > 1 {
            column.entityColumn = names.next("_\(base)_entity")
        }
        if let inverse = relationship.inverse, inverse.isOrdered { column.orderColumn = names.next("_\(base)_order") }
        return column
    }

    /// The columns in which an entity's rows keep the owners of the relationships without inverse that lead to it.
    private func owners(of entity: EntityLayout, names: inout FreeNames) -> [OwnerColumn] {
        let owning = entities.flatMap { source in
            Self.declared(source.relationships, by: source).filter {
                $0.isToMany && $0.inverse == nil && !$0.isTransient && $0.destination === entity
            }
        }
        return owning.map { relationship in
            let base = "\(SnakeCase.name(relationship.source.name))_\(SnakeCase.name(relationship.name))"
            let name = names.next(Self.given(relationship.description) ?? base + "_id")
            let order = relationship.isOrdered ? names.next("_\(base)_order") : nil
            return OwnerColumn(relationship: relationship, name: name, orderColumn: order)
        }
    }

    // MARK: Join tables

    private mutating func nameJoinTables() {
        for entity in entities {
            for relationship in Self.declared(entity.relationships, by: entity)
            where relationship.isManyToMany && !relationship.isTransient && Self.namesTheTable(relationship)
                && numbers[relationship.destination.name] != nil
            {
                let given = Self.given(relationship.description)
                let table = tables.next(given ?? "\(name(of: entity))_\(SnakeCase.name(relationship.name))")
                let (source, destination) = (name(of: entity) + "_id", name(of: relationship.destination) + "_id")
                var columns = FreeNames()
                let sourceColumn = columns.next(source)
                let isSame = source == destination
                let destinationColumn = columns.next(isSame ? SnakeCase.name(relationship.name) + "_id" : destination)
                var join = JoinTableNames(
                    relationship, table: table, sourceColumn: sourceColumn, destinationColumn: destinationColumn)
                if join.orderColumn != nil { join.orderColumn = "_order" }
                if join.inverseOrderColumn != nil { join.inverseOrderColumn = "_inverse_order" }
                names.joins.append(join)
            }
        }
    }

    /// Whether a many-to-many relationship is the one of the pair that gives the join table its name.
    private static func namesTheTable(_ relationship: RelationshipLayout) -> Bool {
        guard let inverse = relationship.inverse, inverse !== relationship else { return true }
        let (source, other) = (relationship.source.name, inverse.source.name)
        return source == other ? relationship.name < inverse.name : source < other
    }
}

/// The names of the columns that every table has. No property has such a name: properties begin with a letter.
package enum ColumnName {
    package static let key = "_id"
    /// The number of the row's entity.
    package static let entity = "_entity"
    /// A number that grows with every change of the row.
    package static let version = "_version"
}

/// The schema with Pippin's bookkeeping for the stores of a database.
package enum Bookkeeping {
    package static let schema = "pippin"
    /// The schema of a store's tables if no other one is given.
    package static let defaultStore = "public"
    /// The version of the tables in the schema.
    package static let version: Int64 = 1
}
