import CoreDataModel

extension SQLSchema {
    /// All indexes that the model asks for.
    package var indexes: [IndexDefinition] {
        layout.entities.filter { $0.superentity == nil }.flatMap { indexes(of: $0) } + joinTables.map(\.index)
    }

    /// The indexes of an entity's table and of the join tables after it, in Core Data's order.
    package func indexes(of root: EntityLayout) -> [IndexDefinition] {
        guard let mapping = mapping(of: root) else { return [] }
        let members = root.selfAndSubentities.compactMap { self.mapping(of: $0) }
        var indexes: [IndexDefinition] = []
        let order = tables.first { $0.name == mapping.table }?.columns.map(\.name) ?? []
        var toOnes = Set<String>()
        for member in members {
            for column in member.columns.compactMap({ $0 }) where column.destination != nil {
                toOnes.insert(column.name)
            }
            toOnes.formUnion(member.owners.map(\.name))
        }
        for column in order where toOnes.contains(column) {
            indexes.append(
                IndexDefinition(
                    name: "\(mapping.table)_\(column)_INDEX", table: mapping.table, terms: ["\(name: column)"])
            )
        }
        if mapping.sharesTable {
            indexes.append(
                IndexDefinition(name: "\(mapping.table)_Z_ENT_INDEX", table: mapping.table, terms: ["\(.entity)"]))
        }
        for member in members { indexes += fetchIndexes(of: member) }
        for member in members { indexes += constraintIndexes(of: member) }
        return indexes
    }

    /// The fetch indexes that an entity declares: `Z_<Entity>_<name>`. An attribute that is marked as indexed but has
    /// no index of its name gets one too, before the others.
    private func fetchIndexes(of mapping: EntityMapping) -> [IndexDefinition] {
        let entity = mapping.layout
        let declared = mapping.madeIndexes
        let names = Set(entity.description.indexes.map(\.name))
        let marked = entity.description.ownProperties.filter { property in
            property.isIndexed && property is NSAttributeDescription && !names.contains(property.name)
        }
        var indexes = marked.sorted { $0.name < $1.name }.compactMap { property -> IndexDefinition? in
            guard let column = mapping.column(named: property.name), !column.isComposite else { return nil }
            return IndexDefinition(
                name: "Z_\(entity.name)_\(property.name)", table: mapping.table,
                terms: [Self.term(column.name, ascending: true)])
        }
        for index in declared {
            // A spatial index would be a table of its own, which no code reads yet; without it, fetches are slower but
            // right.
            guard index.elements.allSatisfy({ $0.collationType == .binary }) else { continue }
            let terms = index.elements.compactMap { element -> SQLFragment? in
                if let expression = (element.property as? NSExpressionDescription)?.expression {
                    return IndexSQL(schema: self, mapping: mapping).term(expression, ascending: element.isAscending)
                }
                guard let name = element.propertyName, let column = mapping.column(named: name), !column.isComposite
                else {
                    return nil
                }
                return Self.term(column.name, ascending: element.isAscending)
            }
            guard !terms.isEmpty, terms.count == index.elements.count else { continue }
            var definition = IndexDefinition(
                name: "Z_\(entity.name)_\(index.name)", table: mapping.table, terms: terms)
            if let predicate = index.partialIndexPredicate {
                // Without its condition it would be another index, so none is made, and fetches are slower.
                guard let condition = IndexSQL(schema: self, mapping: mapping).condition(predicate) else { continue }
                definition.condition = condition
            }
            indexes.append(definition)
        }
        return indexes
    }

    /// The unique indexes of the constraints that an entity declares: `Z_<Entity>_UNIQUE_<a>_<b>`.
    private func constraintIndexes(of mapping: EntityMapping) -> [IndexDefinition] {
        let entity = mapping.layout
        return entity.description.uniquenessConstraintNames.compactMap { names in
            let columns = names.compactMap { mapping.column(named: $0) }.filter { !$0.isComposite }
            guard !names.isEmpty, columns.count == names.count else { return nil }
            return IndexDefinition(
                name: "Z_\(entity.name)_UNIQUE_\(names.joined(separator: "_"))", table: mapping.table,
                terms: columns.map { Self.term($0.name, ascending: true) }, isUnique: true)
        }
    }

    private static func term(_ column: String, ascending: Bool) -> SQLFragment {
        "\(name: column) COLLATE BINARY \(ascending ? "ASC" : "DESC" as SQLFragment)"
    }
}

extension EntityMapping {
    /// The fetch indexes of the entity that the store makes one for each.
    ///
    /// As in Core Data's stores, one over just a to-one relationship is not among them, since the column of a
    /// relationship always has an index. A model that was used by Core Data may list an index twice, and SQLite does
    /// not distinguish names by case; the first one is made.
    package var madeIndexes: [NSFetchIndexDescription] {
        var names: Set<String> = []
        return layout.description.indexes.filter { index in
            let isRelationship =
                index.elements.count == 1 && index.partialIndexPredicate == nil
                && index.elements[0].propertyName.flatMap { column(named: $0)?.destination } != nil
            return !isRelationship && names.insert(index.name.uppercased()).inserted
        }
    }
}
