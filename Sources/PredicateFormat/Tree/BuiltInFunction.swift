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
        "random": .random, "randomn": .randomBelow, "randomn:": .randomBelow,
    ]

    /// How many arguments the function takes.
    package var argumentCount: Int {
        rawValue.utf8.reduce(into: 0) { count, character in
            if character == UInt8(ascii: ":") { count += 1 }
        }
    }
}
