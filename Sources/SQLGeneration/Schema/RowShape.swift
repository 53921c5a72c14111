/// The columns that a `SELECT` for whole rows returns, and the position of each slot of each entity in them.
package struct RowShape: Sendable {
    /// The columns after `Z_PK`, `Z_ENT` and `Z_OPT`, as names of the entity's table.
    package let columns: [String]
    /// Whether `Z_ENT` is among the columns: only if rows of several entities are possible.
    package let selectsEntity: Bool
    /// The possible entities of the rows, in the order of their numbers.
    package let entities: [EntityShape]

    /// One slot of an entity's row: its column, by index in the result.
    package struct SlotShape: Sendable {
        package let slot: Int
        package let column: SlotColumn
        package let index: Int32
        /// The index of the column with a destination's `Z_ENT`; -1 for none.
        package let entityIndex: Int32
        package let elements: [SlotShape]
    }

    /// The row of an entity.
    package struct EntityShape: Sendable {
        package let mapping: EntityMapping
        /// The stored slots; the others are transient.
        package let slots: [SlotShape]
    }

    /// The index of the first column that belongs to a slot.
    package var firstColumn: Int32 { selectsEntity ? 3 : 2 }

    package init(_ mappings: [EntityMapping]) {
        selectsEntity = mappings.first?.sharesTable ?? false
        let first: Int32 = selectsEntity ? 3 : 2
        var columns: [String] = []
        var indexes: [String: Int32] = [:]
        func index(_ name: String) -> Int32 {
            if let known = indexes[name] { return known }
            let index = first + Int32(columns.count)
            columns.append(name)
            indexes[name] = index
            return index
        }
        func shape(_ column: SlotColumn, slot: Int) -> SlotShape {
            if column.isComposite {
                return SlotShape(
                    slot: slot, column: column, index: -1, entityIndex: -1,
                    elements: column.elements.map { shape($0, slot: slot) })
            }
            let position = index(column.name)
            return SlotShape(
                slot: slot, column: column, index: position, entityIndex: column.entityColumn.map(index) ?? -1,
                elements: [])
        }
        var entities: [EntityShape] = []
        for mapping in mappings {
            let slots = mapping.columns.indices.compactMap { slot in
                mapping.columns[slot].map { shape($0, slot: slot) }
            }
            entities.append(EntityShape(mapping: mapping, slots: slots))
        }
        self.columns = columns
        self.entities = entities
    }

    /// The list after `SELECT`: `t0.Z_PK, t0.Z_OPT, t0.ZNAME`.
    package func selection(alias: String) -> SQLFragment {
        let fixed: [SQLColumn.Name] = selectsEntity ? [.key, .entity, .version] : [.key, .version]
        return .list((fixed + columns.map { .named($0) }).map { "\($0, of: alias)" })
    }
}
