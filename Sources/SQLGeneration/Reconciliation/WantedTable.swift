import CompactCollections
import CoreDataModel
import Ordering
import StoreEngine

/// The columns that a root entity's table must have: one for each attribute, to-one relationship and owner.
struct WantedTable {
    struct Column {
        let entity: EntityLayout
        /// The property; the composite for its elements.
        let property: String
        let wanted: ColumnMatching.Wanted
        /// The relationship whose owners the column holds.
        var owner: RelationshipLayout?
        /// For a relationship, the column with the destination's entity, by the rules.
        var entityColumn: String?
        /// For a relationship with an order, the column with the place, by the rules.
        var orderColumn: String?
    }

    let root: EntityLayout
    /// The name by the rules.
    let name: String
    /// The name without a number.
    let stem: String
    /// The table's name before the entity was renamed.
    let former: String?
    private(set) var columns: [Column] = []

    init(_ root: EntityLayout, members: [EntityLayout], names: SchemaNames) {
        self.root = root
        stem = "Z" + root.name.uppercased()
        name = names.tables[root.name] ?? stem
        let identifier = root.description.renamingIdentifier
        former = identifier.flatMap { $0 == root.name ? nil : "Z" + $0.uppercased() }
        for entity in members {
            let properties = entity.description.propertiesByName
            for (property, column) in (names.columns[entity.name] ?? [:]).ordered(by: { $0.key < $1.key }) {
                let renamed = properties[property]?.renamingIdentifier.flatMap { $0 == property ? nil : $0 }
                for leaf in column.flattened {
                    let path = leaf.property.split(separator: ".")
                    let base = path.last.map(String.init) ?? property
                    // Earlier versions of Pippin put the composite's name into the columns of its elements.
                    let others = path.count > 1 ? ["Z" + path.joined(separator: "_").uppercased()] : []
                    columns.append(
                        Column(
                            entity: entity, property: property,
                            wanted: .init(
                                name: leaf.name, stem: "Z" + base.uppercased(), others: others,
                                former: path.count > 1 ? nil : renamed.map { "Z" + $0.uppercased() },
                                type: leaf.storage.declaredType),
                            entityColumn: leaf.entityColumn, orderColumn: leaf.orderColumn))
                }
            }
            for owner in names.owners[entity.name] ?? [] {
                let stem = StoredName.numbered(owner.name, prefix: "Z").map {
                    "Z\($0.number)\(owner.relationship.name.uppercased())"
                }
                columns.append(
                    Column(
                        entity: entity, property: owner.relationship.name,
                        wanted: .init(name: owner.name, stem: stem ?? owner.name, type: "INTEGER", prefix: "Z"),
                        owner: owner.relationship, orderColumn: owner.orderColumn))
            }
        }
    }
}
