import CoreDataModel
import StoreEngine

/// Where an entity's objects are stored in the database.
package final class EntityMapping: Sendable {
    package let layout: EntityLayout
    /// The entity's number in this store: `Z_ENT`.
    package let number: Int
    /// The table, which is the root entity's.
    package let table: String
    /// The columns by slot; nil for transient attributes.
    package let columns: [SlotColumn?]
    /// The to-many relationships by their index among the entity's relationships; nil for to-one ones.
    package let toManys: [ToManyMapping?]
    /// The columns in which the entity's rows keep the owners of relationships without inverse that lead to it.
    package let owners: [OwnerColumn]
    /// The numbers of the entity and of all its subentities, ascending.
    package let numbers: [Int]
    /// Whether the table holds objects of other entities too, so that rows must be distinguished by `Z_ENT`.
    package let sharesTable: Bool
    /// The properties whose columns or join tables could not be identified in an existing store, by name, with the
    /// reason.
    package let unavailable: [String: SchemaFinding]
    /// Whether rows of entities that the model does not have are left out, instead of being an error.
    let leavesOutStrangers: Bool

    init(
        layout: EntityLayout, number: Int, table: String, columns: [SlotColumn?], toManys: [ToManyMapping?],
        owners: [OwnerColumn] = [], numbers: [Int], sharesTable: Bool, unavailable: [String: SchemaFinding] = [:],
        leavesOutStrangers: Bool = false
    ) {
        self.layout = layout
        self.number = number
        self.table = table
        self.columns = columns
        self.toManys = toManys
        self.owners = owners
        self.unavailable = unavailable
        self.numbers = numbers
        self.sharesTable = sharesTable
        self.leavesOutStrangers = leavesOutStrangers
    }

    func takingDerivedValues() -> EntityMapping {
        let written = columns.map { column in
            var column = column
            column?.isDerived = false
            return column
        }
        return EntityMapping(
            layout: layout, number: number, table: table, columns: written, toManys: toManys, owners: owners,
            numbers: numbers, sharesTable: sharesTable, unavailable: unavailable,
            leavesOutStrangers: leavesOutStrangers)
    }

    func leavingOutStrangers() -> EntityMapping {
        EntityMapping(
            layout: layout, number: number, table: table, columns: columns, toManys: toManys, owners: owners,
            numbers: numbers, sharesTable: sharesTable, unavailable: unavailable, leavesOutStrangers: true)
    }

    /// The column of an attribute or to-one relationship.
    package func column(named property: String) -> SlotColumn? {
        layout.slotIndex(forName: property).flatMap { columns[$0] }
    }

    /// The columns of the entity's own table that its rows use, in the order of the slots, without `Z_FOK` columns.
    package var storedColumns: [SlotColumn] { columns.compactMap { $0 }.flatMap(\.flattened) }
}

/// The column of an attribute or of a to-one relationship.
package struct SlotColumn: Sendable {
    /// The property's name; for an element of a composite attribute, the key path.
    package let property: String
    /// The last part of it.
    package let ownName: String
    package var name: String
    package let storage: ColumnStorage
    /// For a to-one relationship to an entity with subentities: the column with the destination's `Z_ENT`.
    package var entityColumn: String?
    /// For the inverse of an ordered to-many relationship: the column with the place among the siblings.
    package var orderColumn: String?
    /// The destination of a to-one relationship.
    package var destination: EntityLayout?
    /// Whether a trigger computes the value, so that nothing else writes it.
    package var isDerived = false
    /// The columns of a composite attribute's elements; the composite itself then has no column.
    package var elements: [SlotColumn] = []

    package init(property: String, name: String, storage: ColumnStorage, elements: [SlotColumn] = []) {
        (self.property, self.name, self.storage, self.elements) = (property, name, storage, elements)
        ownName = property.lastIndex(of: ".").map { String(property[property.index(after: $0)...]) } ?? property
    }

    /// The layout of this element among those of its composite attribute, of which `place` is the first guess.
    package func element(of composite: AttributeLayout?, near place: Int) -> AttributeLayout? {
        guard let elements = composite?.elements else { return nil }
        if place < elements.count, elements[place].name == ownName { return elements[place] }
        return elements.first { $0.name == ownName }
    }

    /// The columns of the properties of this name that other subentities declare. A row has a value in one of them.
    var siblings: [SlotColumn] = []

    /// Whether this is a composite attribute, which is stored as its elements' columns.
    package var isComposite: Bool { !elements.isEmpty }

    /// The columns in the table: the column itself, or those of the elements.
    package var flattened: [SlotColumn] { isComposite ? elements.flatMap(\.flattened) : [self] }

    /// The columns whose values may be in files: elements of a composite attribute, too.
    package var externalColumns: [String] { flattened.filter(\.storage.allowsExternal).map(\.name) }
}

/// Where the destinations of a to-many relationship are found.
package enum ToManyMapping: Sendable {
    /// One-to-many: the destinations' rows carry the source's primary key in `column`.
    case foreignKey(ForeignKeyMapping)
    /// Many-to-many: pairs in a join table.
    case joinTable(JoinMapping)
}

/// A one-to-many relationship as stored in its destinations' table.
package struct ForeignKeyMapping: Sendable {
    package let table: String
    package let column: String
    /// The column with the source's `Z_ENT`, if sources have subentities.
    package let entityColumn: String?
    /// The column with the order key, for an ordered relationship.
    package let orderColumn: String?
    /// Whether the column belongs to an inverse relationship. Otherwise it belongs to the to-many relationship itself,
    /// whose changes write it.
    package let hasInverse: Bool

    /// All columns of the relationship.
    package var columns: [String] { [column, entityColumn, orderColumn].compactMap { $0 } }
}

/// A many-to-many relationship seen from one end.
package struct JoinMapping: Sendable {
    package let table: String
    /// The column with the primary key of this end's object.
    package let sourceColumn: String
    /// The column with the primary key of the other object.
    package let destinationColumn: String
    /// The column with the order key, for an ordered relationship.
    package let orderColumn: String?
    /// Whether the relationship is its own inverse, so that each pair is stored in both directions.
    package let isReflexive: Bool
    /// Whether the table has no primary key that keeps a pair from being there twice.
    package var isKeyless = false

    /// The same pairs from the other end.
    package var reversed: JoinMapping {
        JoinMapping(
            table: table, sourceColumn: destinationColumn, destinationColumn: sourceColumn, orderColumn: nil,
            isReflexive: isReflexive, isKeyless: isKeyless)
    }
}

extension EntityMapping {
    /// All columns that the entity's rows use, except for the key, the entity and the version.
    package var allColumns: [String] {
        storedColumns.flatMap { [$0.name, $0.entityColumn, $0.orderColumn].compactMap { $0 } }
            + owners.flatMap(\.columns)
    }
}
