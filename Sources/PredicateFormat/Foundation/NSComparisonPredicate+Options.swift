extension NSComparisonPredicate {
    /// Which elements of a collection on the left side must satisfy a comparison.
    public enum Modifier: UInt, Sendable {
        /// The sides are compared as they are.
        case direct = 0
        /// Every element: `ALL`.
        case all = 1
        /// At least one element: `ANY`.
        case any = 2

        init(_ modifier: ComparisonModifier) {
            switch modifier {
            case .direct: self = .direct
            case .all: self = .all
            case .any: self = .any
            }
        }

        var comparisonModifier: ComparisonModifier {
            switch self {
            case .direct: .direct
            case .all: .all
            case .any: .any
            }
        }
    }

    /// How the values of two expressions are compared.
    public enum Operator: UInt, Sendable {
        /// `<`
        case lessThan = 0
        /// `<=`
        case lessThanOrEqualTo = 1
        /// `>`
        case greaterThan = 2
        /// `>=`
        case greaterThanOrEqualTo = 3
        /// `==`
        case equalTo = 4
        /// `!=`
        case notEqualTo = 5
        /// `MATCHES`: a regular expression.
        case matches = 6
        /// `LIKE`: a pattern with `?` and `*`.
        case like = 7
        /// `BEGINSWITH`
        case beginsWith = 8
        /// `ENDSWITH`
        case endsWith = 9
        /// `IN`
        case `in` = 10
        /// A function named by the predicate; see ``NSComparisonPredicate/customSelector``.
        case customSelector = 11
        /// `CONTAINS`
        case contains = 99
        /// `BETWEEN`
        case between = 100

        init(_ comparison: ComparisonOperator) {
            switch comparison {
            case .lessThan: self = .lessThan
            case .lessThanOrEqualTo: self = .lessThanOrEqualTo
            case .greaterThan: self = .greaterThan
            case .greaterThanOrEqualTo: self = .greaterThanOrEqualTo
            case .equalTo: self = .equalTo
            case .notEqualTo: self = .notEqualTo
            case .matches: self = .matches
            case .like: self = .like
            case .beginsWith: self = .beginsWith
            case .endsWith: self = .endsWith
            case .in: self = .in
            case .contains: self = .contains
            case .between: self = .between
            }
        }

        var comparison: ComparisonOperator {
            switch self {
            case .lessThan: .lessThan
            case .lessThanOrEqualTo: .lessThanOrEqualTo
            case .greaterThan: .greaterThan
            case .greaterThanOrEqualTo: .greaterThanOrEqualTo
            case .equalTo: .equalTo
            case .notEqualTo: .notEqualTo
            case .matches: .matches
            case .like: .like
            case .beginsWith: .beginsWith
            case .endsWith: .endsWith
            case .in: .in
            case .contains: .contains
            case .between: .between
            // A function's result is compared with true.
            case .customSelector: .equalTo
            }
        }
    }

    /// How strings are compared.
    public struct Options: OptionSet, Sendable {
        /// The options as bits.
        public let rawValue: UInt

        /// Options from bits.
        ///
        /// - Parameter rawValue: the bits of Foundation's constants.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// `[c]`: case is ignored.
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`: diacritics are ignored.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: byte by byte; the other options are ignored.
        public static let normalized = Options(rawValue: 4)
        /// `[l]`: by the rules of the current locale. Apple's framework supports the option without naming it.
        public static let localeSensitive = Options(rawValue: 8)
    }
}
