import CompactCollections
import CoreDataModel

/// The names of a store's tables and columns, by entity and property: from the naming rules, or from an existing store.
package struct SchemaNames {
    /// The tables of the root entities.
    package var tables: [String: String] = [:]
    /// The column of every attribute and to-one relationship that an entity declares, by entity and property.
    package var columns: [String: [String: SlotColumn]] = [:]
    /// The columns in which an entity's rows keep the owners of to-many relationships without inverse that lead to it,
    /// by entity, in the order of the table.
    package var owners: [String: [OwnerColumn]] = [:]
    /// The join tables.
    package var joins: [JoinTableNames] = []

    package init() {}
}

/// The column in which a destination's row keeps its owner, for a to-many relationship without inverse: `Z1SPEC` for
/// the relationship `spec` of the entity with number 1.
package struct OwnerColumn: Sendable {
    package let relationship: RelationshipLayout
    package var name: String
    /// The column with the owner's `Z_ENT`, if a store has one. Pippin's own stores have none.
    package var entityColumn: String?
    /// The column with the place among the owner's objects, for an ordered relationship.
    package var orderColumn: String?

    package init(
        relationship: RelationshipLayout, name: String, entityColumn: String? = nil, orderColumn: String? = nil
    ) {
        (self.relationship, self.name, self.entityColumn, self.orderColumn) = (
            relationship, name, entityColumn, orderColumn
        )
    }

    /// All of them.
    package var columns: [String] { [name, entityColumn, orderColumn].compactMap { $0 } }
}
