import CoreDataModel
import SQLGeneration

/// How a database has the values that rows get when they are brought to a new model.
package protocol ColumnMoving: Sendable {
    /// A value that is spelled out.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - column: where it is to be.
    ///   - attribute: the attribute whose value it is.
    ///   - mapping: the entity.
    ///   - schema: the tables.
    /// - Returns: the value, in SQL.
    /// - Throws: an `NSError` for a value that cannot be stored.
    func literal(
        _ value: StoredValue, _ column: SlotColumn, _ attribute: AttributeLayout?, _ mapping: EntityMapping,
        _ schema: SQLSchema
    ) throws -> SQLFragment

    /// What an attribute gets whose value was in another column.
    ///
    /// - Parameters:
    ///   - column: the column that it was in.
    ///   - source: the attribute in the source.
    ///   - destination: the column that it is to be in.
    ///   - attribute: the attribute in the destination.
    ///   - fallback: what it gets where there is no value; nil for none.
    /// - Returns: the value.
    func moved(
        _ column: SlotColumn, _ source: AttributeLayout, to destination: SlotColumn, _ attribute: AttributeLayout,
        fallback: SQLFragment?
    ) -> MovedValue

    /// A value out of the JSON that a column holds.
    func nested(_ column: String, _ path: [String], _ element: AttributeLayout) -> SQLFragment

    /// Whether the JSON that a column holds has anything under a path.
    func nestedIsPresent(_ column: String, _ path: [String]) -> SQLFragment
}
