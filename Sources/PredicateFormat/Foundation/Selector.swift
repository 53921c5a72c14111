/// The name of a method, for sort descriptors, which take their comparison as a selector; there is no Objective-C
/// runtime here.
///
/// ```swift
/// NSSortDescriptor(key: "title", ascending: true, selector: NSSelectorFromString("localizedStandardCompare:"))
/// ```
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The method's name.
    public let description: String

    /// A selector by the method's name.
    ///
    /// - Parameter name: the name, such as `compare:`.
    public init(_ name: String) {
        description = name
    }

    /// A selector by the method's name.
    ///
    /// - Parameter name: the name, such as `compare:`.
    public init(stringLiteral name: String) {
        description = name
    }
}

/// Returns the selector with a name.
///
/// - Parameter name: the name.
/// - Returns: the selector.
public func NSSelectorFromString(_ name: String) -> Selector {
    Selector(name)
}

/// Returns the name of a selector.
///
/// - Parameter selector: the selector.
/// - Returns: its name.
public func NSStringFromSelector(_ selector: Selector) -> String {
    selector.description
}

extension SortTerm.Comparison {
    /// The comparison of a string method; nil for any other method.
    init?(_ selector: Selector) {
        switch selector.description {
        case "compare:": self = .plain
        case "caseInsensitiveCompare:": self = .caseInsensitive
        case "localizedCompare:": self = .localized
        case "localizedCaseInsensitiveCompare:": self = .localizedCaseInsensitive
        case "localizedStandardCompare:": self = .localizedStandard
        default: return nil
        }
    }

    /// The method for the comparison.
    var selector: Selector {
        switch self {
        case .plain: "compare:"
        case .caseInsensitive: "caseInsensitiveCompare:"
        case .localized: "localizedCompare:"
        case .localizedCaseInsensitive: "localizedCaseInsensitiveCompare:"
        case .localizedStandard: "localizedStandardCompare:"
        }
    }
}
