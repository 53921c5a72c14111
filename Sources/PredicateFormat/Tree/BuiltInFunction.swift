/// A function that expressions call by name. Raw values are the names that `NSExpression(forFunction:arguments:)`
/// takes; for a function of one argument, a format string also accepts the name without its colon: `sum(…)`.
package enum BuiltInFunction: String, Hashable, Sendable, CaseIterable {
    // Collections.
    case sum = "sum:"
    case count = "count:"
    case minimum = "min:"
    case maximum = "max:"
    case average = "average:"
    case median = "median:"
    case mode = "mode:"
    case standardDeviation = "stddev:"
    case distinct = "distinct:"

    // Arithmetic, with the operators' spelling.
    /// `a + b`
    case add = "add:to:"
    /// `a - b`
    case subtract = "from:subtract:"
    /// `a * b`
    case multiply = "multiply:by:"
    /// `a / b`
    case divide = "divide:by:"
    case modulus = "modulus:by:"
    /// `a ** b`
    case power = "raise:toPower:"
    /// `-a`
    case negate = "chs:"
    case squareRoot = "sqrt:"
    case logarithm = "log:"
    case naturalLogarithm = "ln:"
    case exponential = "exp:"
    case ceiling = "ceiling:"
    case floor = "floor:"
    case truncate = "trunc:"
    case absolute = "abs:"
    case random = "random"
    case randomBelow = "random:"

    // Bits.
    /// `a & b`
    case bitwiseAnd = "bitwiseAnd:with:"
    /// `a | b`
    case bitwiseOr = "bitwiseOr:with:"
    /// `a ^ b`
    case bitwiseXor = "bitwiseXor:with:"
    /// `a << b`
    case leftShift = "leftshift:by:"
    /// `a >> b`
    case rightShift = "rightshift:by:"
    /// `~a`
    case onesComplement = "onesComplement:"

    // Strings.
    case uppercase = "uppercase:"
    case lowercase = "lowercase:"
    case length = "length:"
    case canonical = "canonical:"

    /// `SEARCH(title, text, "whale*")`: whether texts have what a person searches for.
    case search = "search:for:"

    // Other functions.
    case now = "now"
    case noIndex = "noindex:"
    case distance = "distanceToLocation:fromLocation:"

    /// Whether the function is an aggregate of a collection, which may also be written as a list: `max(1, 5, 10)`.
    package var takesCollection: Bool {
        switch self {
        case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation: true
        default: false
        }
    }

    /// Other names for functions in format strings, apart from the name without the colon.
    package static let otherNames: [String: BuiltInFunction] = [
        "SEARCH": .search, "search": .search, "random": .random, "randomn": .randomBelow, "randomn:": .randomBelow,
    ]

    /// How many arguments the function takes.
    package var argumentCount: Int {
        rawValue.utf8.reduce(into: 0) { count, character in
            if character == UInt8(ascii: ":") { count += 1 }
        }
    }
}

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
