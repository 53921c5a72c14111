/// A key of a key path that aggregates a whole collection: `reviews.@avg.stars`, `reviews.@count`.
package enum CollectionOperator: String, Hashable, Sendable, CaseIterable {
    case count = "@count"
    case sum = "@sum"
    case average = "@avg"
    case minimum = "@min"
    case maximum = "@max"
    case unionOfObjects = "@unionOfObjects"
    case distinctUnionOfObjects = "@distinctUnionOfObjects"
    case unionOfArrays = "@unionOfArrays"
    case distinctUnionOfArrays = "@distinctUnionOfArrays"
    case unionOfSets = "@unionOfSets"
    case distinctUnionOfSets = "@distinctUnionOfSets"

    /// Whether the keys after the operator are read from each element. `@count` needs none.
    package var takesKeyPath: Bool { self != .count }
}

extension CollectionOperator {
    /// Whether the operator gives a collection, rather than one value.
    package var givesCollection: Bool { function == nil }

    /// The function that computes the same of a collection; nil for an operator that gives a collection.
    private var function: BuiltInFunction? {
        switch self {
        case .count: .count
        case .sum: .sum
        case .average: .average
        case .minimum: .minimum
        case .maximum: .maximum
        default: nil
        }
    }

    /// A key path that begins with an operator, as the function that a fetch computes over its objects: `@sum.price`
    /// is `sum:(price)`. Nil for any other key path.
    package static func functionOverAll(_ path: [String]) -> ExpressionTree? {
        guard let first = path.first, first.utf8.first == UInt8(ascii: "@"),
            let computation = CollectionOperator(rawValue: first), let function = computation.function,
            path.count > 1 || !computation.takesKeyPath
        else { return nil }
        let values = path.dropFirst()
        return .function(function, [values.isEmpty ? .evaluatedObject : .keyPath(Array(values))])
    }
}
