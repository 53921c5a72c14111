import CoreDataModel
import Foundation
import SQLGeneration
import SQLMigration
import SQLiteEngine

/// The values of rows in SQLite's SQL.
struct SQLiteColumns: ColumnMoving {
    func literal(
        _ value: StoredValue, _ column: SlotColumn, _ attribute: AttributeLayout?, _ mapping: EntityMapping,
        _ schema: SQLSchema
    ) throws -> SQLFragment {
        let value = try RowWriter(mapping, schema: schema).encoded(value, column, attribute: attribute, files: nil)
        if case .blob(let data) = value, case .data(true) = column.storage {
            return "\(literal: .blob(ExternalData.inline(data)))"
        }
        return "\(literal: value)"
    }

    func moved(
        _ column: SlotColumn, _ source: AttributeLayout, to destination: SlotColumn, _ attribute: AttributeLayout,
        fallback: SQLFragment?
    ) -> MovedValue {
        ColumnConversion.value(
            column.name, from: source, column.storage, to: attribute, destination.storage, fallback: fallback)
    }

    func nested(_ column: String, _ path: [String], _ element: AttributeLayout) -> SQLFragment {
        NestedJSON.sql(column, path, element)
    }

    func nestedIsPresent(_ column: String, _ path: [String]) -> SQLFragment { NestedJSON.isPresent(column, path) }
}
