import CoreDataModel
import SQLGeneration

/// The database-specific SQL for values of rows that are migrated to a new model.
package protocol ColumnMoving: Sendable {
    /// A literal value.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - column: the column for the value.
    ///   - attribute: the value's attribute.
    ///   - mapping: the entity.
    ///   - schema: the tables.
    /// - Returns: the value, in SQL.
    /// - Throws: an `NSError` for a value that cannot be stored.
    func literal(
        _ value: StoredValue, _ column: SlotColumn, _ attribute: AttributeLayout?, _ mapping: EntityMapping,
        _ schema: SQLSchema
    ) throws -> SQLFragment

    /// The value for an attribute that was in another column.
    ///
    /// - Parameters:
    ///   - column: the former column.
    ///   - source: the attribute in the source.
    ///   - destination: the column that it is to be in.
    ///   - attribute: the attribute in the destination.
    ///   - fallback: the value for rows without one; nil for none.
    /// - Returns: the value.
    func moved(
        _ column: SlotColumn, _ source: AttributeLayout, to destination: SlotColumn, _ attribute: AttributeLayout,
        fallback: SQLFragment?
    ) -> MovedValue

    /// A value from the JSON in a column.
    func nested(_ column: String, _ path: [String], _ element: AttributeLayout) -> SQLFragment

    /// Whether the JSON in a column has anything at a path.
    func nestedIsPresent(_ column: String, _ path: [String]) -> SQLFragment
}
