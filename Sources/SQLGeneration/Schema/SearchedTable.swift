import CoreDataModel
import StoreEngine

/// Where the texts of a full-text index are: the columns of an entity's rows, and those of related rows.
package struct SearchedTable: Sendable {
    package let fields: SearchedFields
    package let mapping: EntityMapping
    /// The columns of the entity's own texts, by the places of their fields.
    package let columns: [Column]
    /// The related rows, as ``SearchedFields/relationships`` has the relationships.
    package let relations: [Relation]

    package struct Column: Sendable {
        package let field: Int
        package let name: String
    }

    /// Rows whose texts are searched as those of the rows that they are related with, the owners.
    package struct Relation: Sendable {
        package let relationship: RelationshipLayout
        package let destination: EntityMapping
        package let columns: [Column]
        /// The pairs of owners, `t`, and related rows, `r`, to stand after `FROM`.
        package let pairs: SQLFragment

        /// What tells the related rows, `r`, from others in their table, after other conditions.
        package var condition: SQLFragment { SearchedTable.condition(of: destination, "r") }
    }

    /// What tells the entity's rows, `t`, from others in the table, after other conditions.
    package var condition: SQLFragment { Self.condition(of: mapping, "t") }

    private static func condition(of mapping: EntityMapping, _ alias: String) -> SQLFragment {
        guard mapping.sharesTable else { return "" }
        let numbers = SQLFragment.list(mapping.numbers.map { "\(number: $0)" })
        return " AND \(.entity, of: alias) IN (\(numbers))"
    }

    /// The tables of the entities whose models mark texts. Entities share the index of their ancestor, if that has one.
    package static func all(of schema: SQLSchema) -> [SearchedTable] {
        schema.mappings.compactMap { mapping in
            guard let mapping, !SearchedFields.isOfAncestor(mapping.layout) else { return nil }
            return SearchedTable(mapping, schema)
        }
    }

    private init?(_ mapping: EntityMapping, _ schema: SQLSchema) {
        guard let fields = SearchedFields(of: mapping.layout) else { return nil }
        func columns(of mapping: EntityMapping, relation: Int?) -> [Column]? {
            var columns: [Column] = []
            for (place, field) in fields.fields.enumerated() where field.relation == relation {
                guard let name = Self.column(at: field.path, in: mapping) else { return nil }
                columns.append(Column(field: place, name: name))
            }
            return columns
        }
        guard let own = columns(of: mapping, relation: nil) else { return nil }
        var relations: [Relation] = []
        for (place, relationship) in fields.relationships.enumerated() {
            guard let destination = schema.mapping(of: relationship.destination),
                let columns = columns(of: destination, relation: place),
                let relation = Self.relation(relationship, mapping, destination, columns)
            else { return nil }
            relations.append(relation)
        }
        (self.fields, self.mapping, self.columns, self.relations) = (fields, mapping, own, relations)
    }

    /// The column of a text; nil for one that the store does not have.
    private static func column(at path: [String], in mapping: EntityMapping) -> String? {
        var column = path.first.flatMap { mapping.column(named: $0) }
        for depth in path.indices.dropFirst() {
            let property = path[...depth].joined(separator: ".")
            column = column?.elements.first { $0.property == property }
        }
        guard let column, !column.isComposite else { return nil }
        return column.name
    }

    private static func relation(
        _ relationship: RelationshipLayout, _ mapping: EntityMapping, _ destination: EntityMapping, _ columns: [Column]
    ) -> Relation? {
        let (key, owner): (SQLFragment, SQLFragment) = ("\(.key, of: "r")", "\(.key, of: "t")")
        let (rows, owners): (SQLFragment, SQLFragment) = ("\(name: destination.table) r", "\(name: mapping.table) t")
        let pairs: SQLFragment
        if !relationship.isToMany {
            guard let column = mapping.column(named: relationship.name) else { return nil }
            pairs = "\(owners) JOIN \(rows) ON \(key) = \(SQLColumn(column.name, of: "t"))"
        } else {
            guard let toMany = mapping.toManys[relationship.index] else { return nil }
            switch toMany {
            case .foreignKey(let foreign):
                pairs = "\(owners) JOIN \(rows) ON \(SQLColumn(foreign.column, of: "r")) = \(owner)"
            case .joinTable(let join):
                let (source, end) = (SQLColumn(join.sourceColumn, of: "j"), SQLColumn(join.destinationColumn, of: "j"))
                pairs = "\(name: join.table) j JOIN \(owners) ON \(source) = \(owner) JOIN \(rows) ON \(key) = \(end)"
            }
        }
        return Relation(
            relationship: relationship, destination: destination, columns: columns, pairs: pairs)
    }
}
