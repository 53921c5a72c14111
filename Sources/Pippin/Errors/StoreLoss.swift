/// Data in a store that the models it is to be opened with would not keep, or data that it lacks and they require.
public struct StoreLoss: Sendable, Equatable {
    /// The entity's name in the store.
    public let entity: String
    /// The property's name in the store, such as `address.street` for a nested struct's property; nil for the whole
    /// entity.
    public let property: String?
    /// How many rows have a value of the property, or lack one that is required, or how many rows the entity has.
    public let rows: Int
    /// Why it would be lost.
    public let reason: String
    /// What to add to the schema to keep it, or to let it go.
    public let advice: String
    /// Whether the rows lack a value that the models require, and lose none.
    var isWithoutValue = false
}

extension StoreLoss: CustomStringConvertible {
    /// The loss in one line.
    public var description: String {
        let value = isWithoutValue ? "no value" : "a value"
        let what = property.map { "\(entity).\($0), \(rows) \(rows == 1 ? "row has" : "rows have") \(value)" }
        return "\(what ?? "\(entity), \(rows) \(rows == 1 ? "row" : "rows")"): \(reason) \(advice)"
    }
}
