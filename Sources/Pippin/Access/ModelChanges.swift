/// What to set in the models that a filter selects.
public struct ModelChanges<Model: CoreModel> {
    /// What happens to one property.
    enum Setting {
        case value(any Encodable)
        case computed(NumberChange)
    }

    var settings: [(property: PropertyName, setting: Setting)] = []

    /// Sets a property.
    ///
    /// - Parameters:
    ///   - property: a property of the model: a single value, a nested struct, or another model. Identifiers, lists of
    ///     models, and properties of nested values cannot be set.
    ///   - value: the value. Of another model only the identifier is used, and that model must be stored.
    public mutating func set<Value: Encodable>(_ property: WritableKeyPath<Model, Value>, to value: Value) {
        settings.append((PropertyName(property), .value(value)))
    }

    // MARK: Numbers

    /// Adds to a number, whatever it is in each model when the change is made: nothing that others add meanwhile is
    /// lost.
    ///
    /// ```swift
    /// try await manager.update(Book.self, where: \.id == "emma") { $0.add(-1, to: \.copies) }
    /// ```
    ///
    /// A sum that the property's type does not hold is an error; nothing is changed then.
    ///
    /// - Parameters:
    ///   - amount: what is added; a negative number is subtracted.
    ///   - property: a property of the model with a number of the standard library, or a decimal.
    /// - SQL: `SET Z<PROPERTY> = Z<PROPERTY> + ?`; decimals and numbers of other sizes than columns are read, computed
    ///   and written
    public mutating func add<Value: Numeric & Codable & Sendable>(
        _ amount: Value, to property: WritableKeyPath<Model, Value>
    ) { compute(property, .add, amount) }

    /// Adds to a number where there is one; nil stays nil.
    ///
    /// - Parameters:
    ///   - amount: what is added; a negative number is subtracted.
    ///   - property: a property of the model with a number of the standard library, or a decimal.
    /// - SQL: `SET Z<PROPERTY> = Z<PROPERTY> + ?`; decimals and numbers of other sizes than columns are read, computed
    ///   and written
    public mutating func add<Value: Numeric & Codable & Sendable>(
        _ amount: Value, to property: WritableKeyPath<Model, Value?>
    ) { compute(property, .add, amount) }

    /// Multiplies a number, whatever it is in each model when the change is made.
    ///
    /// ```swift
    /// try await manager.update(Book.self, where: \.price > 100) { $0.multiply(\.price, by: 0.9) }
    /// ```
    ///
    /// A product that the property's type does not hold is an error; nothing is changed then.
    ///
    /// - Parameters:
    ///   - property: a property of the model with a number of the standard library, or a decimal.
    ///   - factor: the factor.
    /// - SQL: `SET Z<PROPERTY> = Z<PROPERTY> * ?`; decimals and numbers of other sizes than columns are read, computed
    ///   and written
    public mutating func multiply<Value: Numeric & Codable & Sendable>(
        _ property: WritableKeyPath<Model, Value>, by factor: Value
    ) { compute(property, .multiply, factor) }

    /// Multiplies a number where there is one; nil stays nil.
    ///
    /// - Parameters:
    ///   - property: a property of the model with a number of the standard library, or a decimal.
    ///   - factor: the factor.
    /// - SQL: `SET Z<PROPERTY> = Z<PROPERTY> * ?`; decimals and numbers of other sizes than columns are read, computed
    ///   and written
    public mutating func multiply<Value: Numeric & Codable & Sendable>(
        _ property: WritableKeyPath<Model, Value?>, by factor: Value
    ) { compute(property, .multiply, factor) }

    private mutating func compute(
        _ property: PartialKeyPath<Model>, _ operation: NumberChange.Operation,
        _ operand: any Numeric & Codable & Sendable
    ) {
        settings.append((PropertyName(property), .computed(NumberChange(operation: operation, operand: operand))))
    }
}
