import Foundation

/// The comparison of two values by an operator.
///
/// With `nil` on one side, the results are these, and `NOT` negates them:
///
///     nil == nil      true          nil != nil      false
///     nil == x        false         nil != x        true
///     nil < x, nil LIKE x, …        false
///     nil IN {1}      false         nil IN {1, nil} true
///
/// An empty collection counts as nil, as Core Data treats an empty to-many relationship. Values of kinds that cannot be
/// compared are unequal, and neither is less.
enum ValueRelation {
    typealias Code = @Sendable (Value, Value) -> Bool

    static func make(_ comparison: ComparisonOperator, _ options: StringOptions) -> Code {
        let options = options.contains(.normalized) ? [] : options
        switch comparison {
        case .equalTo: return { equal($0, $1, options) }
        case .notEqualTo: return { !equal($0, $1, options) }
        case .lessThan: return { ordered($0, $1, options) { $0 == .orderedAscending } }
        case .lessThanOrEqualTo: return { ordered($0, $1, options) { $0 != .orderedDescending } }
        case .greaterThan: return { ordered($0, $1, options) { $0 == .orderedDescending } }
        case .greaterThanOrEqualTo: return { ordered($0, $1, options) { $0 != .orderedAscending } }
        case .between: return { between($0, $1, options) }
        case .in: return { element($0, of: $1, options) }
        case .contains: return { element($1, of: $0, options) }
        case .beginsWith, .endsWith, .like, .matches:
            return { first, second in
                guard let a = first.comparedText, let b = second.comparedText else { return false }
                return comparison.holds(a, b, options)
            }
        }
    }

    static func equal(_ first: Value, _ second: Value, _ options: StringOptions) -> Bool {
        if !options.isEmpty, let a = first.comparedText, let b = second.comparedText {
            return a.folded(options).isLiterallyEqual(to: b.folded(options))
        }
        if first == second { return true }
        if first.isURL || second.isURL, let a = first.comparedText, let b = second.comparedText {
            return a.isLiterallyEqual(to: b)
        }
        return first.isNull && second.isNothing || second.isNull && first.isNothing
    }

    static func ordered(
        _ first: Value, _ second: Value, _ options: StringOptions, _ holds: (ComparisonResult) -> Bool
    ) -> Bool {
        if !options.isEmpty, let a = first.comparedText, let b = second.comparedText {
            return holds(a.folded(options).literalComparison(with: b.folded(options)))
        }
        if let order = first.comparison(with: second) { return holds(order) }
        guard first.isURL || second.isURL, let a = first.comparedText, let b = second.comparedText else { return false }
        return holds(a.literalComparison(with: b))
    }

    static func between(_ value: Value, _ bounds: Value, _ options: StringOptions) -> Bool {
        guard case .collection(let bounds) = bounds, bounds.count == 2 else { return false }
        return ordered(value, bounds[0], options) { $0 != .orderedAscending }
            && ordered(value, bounds[1], options) { $0 != .orderedDescending }
    }

    /// Whether a value is in a collection, or a string within another.
    static func element(_ value: Value, of collection: Value, _ options: StringOptions) -> Bool {
        if let text = collection.comparedText, let part = value.comparedText {
            return ComparisonOperator.contains.holds(text, part, options)
        }
        guard case .collection(let elements) = collection else { return false }
        return elements.contains { equal(value, $0, options) }
    }
}

extension Value {
    /// What comparisons of texts read: a text, or a URL as stores keep it; nil for anything else.
    var comparedText: String? {
        switch self {
        case .string(let text): text
        case .url(let url): url.absoluteString
        default: nil
        }
    }

    fileprivate var isURL: Bool { if case .url = self { true } else { false } }

    /// Whether the value is nil or an empty collection.
    var isNothing: Bool {
        switch self {
        case .null: true
        case .collection(let elements): elements.isEmpty
        default: false
        }
    }
}
