/// A value that the store computes from models without handing them out: a function of one of their properties.
struct Aggregate<Model: CoreModel, Value: Decodable>: Sendable {
    let function: AggregateFunction
    /// The property; nil where the models themselves are counted.
    let property: PropertyName?

    private init(_ function: AggregateFunction, _ property: PartialKeyPath<Model>?) {
        self.function = function
        self.property = property.map { PropertyName($0) }
    }

    /// The sum, of the type that the caller wants.
    static func sum(_ property: PartialKeyPath<Model>) -> Self { Self(.sum, property) }
}

extension Aggregate where Value == Int {
    /// The number of models.
    static var count: Self { Self(.count, nil) }
}

extension Aggregate where Value == Double {
    static func average(_ property: PartialKeyPath<Model>) -> Self { Self(.average, property) }
}

extension Aggregate where Value: Comparable {
    static func min(_ property: PartialKeyPath<Model>) -> Self { Self(.minimum, property) }

    static func max(_ property: PartialKeyPath<Model>) -> Self { Self(.maximum, property) }
}

// Stores order enumerations by what they have for them, which may not be the order of the type.
extension Aggregate {
    /// Whether the type says which value is the least or the greatest, and not the store.
    var isByOrderOfCases: Bool {
        (function == .minimum || function == .maximum) && hasOwnOrder(Value.self)
    }

    /// The least or the greatest of some values by the order of their type; nil for none.
    func extreme(of values: [Value]) -> Value? {
        (Value.self as? any Comparable.Type).flatMap { extreme(of: values, as: $0) }
    }

    private func extreme<Case: Comparable>(of values: [Value], as type: Case.Type) -> Value? {
        let cases = values.compactMap { $0 as? Case }
        return (function == .minimum ? cases.min() : cases.max()) as? Value
    }
}

/// A function of the predicate language.
enum AggregateFunction: String {
    case count = "count:"
    case sum = "sum:"
    case minimum = "min:"
    case maximum = "max:"
    case average = "average:"
}
