import CoreDataModel
import PostgresConnection
import SQLGeneration
import StoreEngine

/// The types that the columns of rows have, unless somebody has given a column another one (`ALTER TABLE … ALTER …
/// TYPE`): its values would be read as different ones.
struct ColumnTypes {
    private let kinds: [(column: Int, kind: ColumnKind)]
    private let table: String

    init(_ shape: RowShape) {
        var kinds: [Int: ColumnKind] = [:]
        func add(_ slot: RowShape.SlotShape, _ attribute: AttributeLayout?) {
            guard slot.elements.isEmpty else {
                for element in slot.elements {
                    let name = element.column.property.split(separator: ".").last ?? ""
                    add(element, attribute?.elements.first { $0.name == name })
                }
                return
            }
            kinds[Int(slot.index)] = ColumnKind(slot.column.storage, attribute)
        }
        for entity in shape.entities {
            for slot in entity.slots { add(slot, entity.mapping.layout.slots[slot.slot].attribute) }
        }
        self.kinds = kinds.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        table = QualifiedName.name(shape.entities.first?.mapping.table ?? "")
    }

    /// Compares the types of a result, which tells them; rows that are copied do not.
    ///
    /// - Parameter cells: the rows.
    /// - Throws: an `NSError` if a column has values of a type that is read otherwise.
    func check(_ cells: some RowCells) throws {
        guard let result = cells as? PostgresResult, result.count > 0 else { return }
        for (column, kind) in kinds where !kind.reads(result.type(column)) {
            // Whatever type it has, a column without values has nothing to misread.
            guard (0..<result.count).contains(where: { !result.isNull($0, column) }) else { continue }
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreIncompatibleSchema,
                "The column “\(result.columnName(column))” of the table “\(table)” is not of the type "
                    + "\(kind.type.name): it was changed by other means than a migration, and its values cannot be read.",
                suggestion: "Change it back: ALTER TABLE … ALTER … TYPE \(kind.type.name).")
        }
    }
}

extension ColumnKind {
    /// Whether values of a type are read as they are meant; `nil` for a type that no column of Pippin's has.
    fileprivate func reads(_ type: PostgresType?) -> Bool {
        switch (self, type) {
        case (.smallint, .smallint?), (.smallint, .integer?), (.smallint, .bigint?), (.smallint, .boolean?),
            (.integer, .smallint?), (.integer, .integer?), (.integer, .bigint?), (.integer, .boolean?),
            (.bigint, .smallint?), (.bigint, .integer?), (.bigint, .bigint?), (.bigint, .boolean?),
            (.boolean, .smallint?), (.boolean, .integer?), (.boolean, .bigint?),
            (.key, .smallint?), (.key, .integer?), (.double, .real?):
            true
        // Texts have many types, such as `varchar`.
        case (.string, nil), (.url, nil): true
        default: type == self.type
        }
    }
}
