/// What to set in the models that a filter selects.
public struct ModelChanges<Model: CoreModel> {
    var settings: [(property: PropertyName, value: any Encodable)] = []

    /// Sets a property.
    ///
    /// - Parameters:
    ///   - property: a property of the model: a single value, a nested struct, or another model. Identifiers, lists of
    ///     models, and properties of nested values cannot be set.
    ///   - value: the value. Of another model only the identifier is used, and that model must be stored.
    public mutating func set<Value: Encodable>(_ property: WritableKeyPath<Model, Value>, to value: Value) {
        settings.append((PropertyName(property), value))
    }
}
