import StoreSession

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

/// A number computed from the one that a property has.
struct NumberChange: Sendable {
    /// With the name of the expression's function.
    enum Operation: String {
        case add = "add:to:"
        case multiply = "multiply:by:"

        var sign: String { self == .add ? "+" : "×" }
    }

    let operation: Operation
    let operand: any Numeric & Codable & Sendable

    /// The reason why a result cannot be written.
    struct DoesNotFit: Error {
        let reason: String
    }

    // MARK: In the store

    /// The expression with which a store computes the number itself; nil if only the program computes it exactly and
    /// notices each result that the type does not hold: decimals, numbers smaller than their columns, and what could be
    /// no number.
    func expression(of property: String) -> NSExpression? {
        let constant: NSNumber
        switch operand {
        case let number as Int: constant = NSNumber(value: number)
        case let number as Int64: constant = NSNumber(value: number)
        case let number as Int32: constant = NSNumber(value: number)
        case let number as Int16: constant = NSNumber(value: number)
        case let number as Double where number.isFinite && (operation == .add || number != 0):
            constant = NSNumber(value: number)
        default: return nil
        }
        return NSExpression(
            forFunction: operation.rawValue,
            arguments: [NSExpression(forKeyPath: property), NSExpression(forConstantValue: constant)])
    }

    // MARK: In the program

    /// The new number.
    ///
    /// - Parameters:
    ///   - present: the stored number.
    ///   - entity: the model's name, for errors.
    ///   - key: the property's name, for errors.
    /// - Returns: the sum or product, of the operand's type.
    /// - Throws: ``DoesNotFit`` for a result that the number's type does not hold, and an error for a stored value that
    ///   is no such number.
    func result(of present: StoredValue, entity: String, key: String) throws -> any Encodable {
        try result(operand, present, entity, key)
    }

    private func result<Number: Numeric & Codable>(
        _ operand: Number, _ present: StoredValue, _ entity: String, _ key: String
    ) throws -> any Encodable {
        let number = try AttributeDecoder.value(Number.self, present, entity: entity, key: key)
        if let whole = number as? any FixedWidthInteger & Encodable { return try result(whole, operand) }
        let result = operation == .add ? number + operand : number * operand
        guard (result as? Decimal)?.isNaN ?? false else { return result }
        throw doesNotFit(number, operand)
    }

    private func result<Whole: FixedWidthInteger & Encodable>(
        _ number: Whole, _ operand: any Numeric
    ) throws -> any Encodable {
        guard let operand = operand as? Whole else { throw doesNotFit(number, operand) }
        let (result, overflows) =
            operation == .add
            ? number.addingReportingOverflow(operand) : number.multipliedReportingOverflow(by: operand)
        guard overflows else { return result }
        throw doesNotFit(number, operand)
    }

    private func doesNotFit<Number>(_ number: Number, _ operand: Any) -> DoesNotFit {
        DoesNotFit(reason: "\(number) \(operation.sign) \(operand) is not a number that \(Number.self) holds.")
    }
}
