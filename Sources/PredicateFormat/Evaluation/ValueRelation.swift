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
                guard let (a, b) = searched(first, second) else { return false }
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
        if case .collection(let a) = first, case .collection(let b) = second { return haveSameObjects(a, b) }
        return first.isNull && second.isNothing || second.isNull && first.isNothing
    }

    /// Whether two collections are of the same objects, such as a relationship and a set, which have no order.
    private static func haveSameObjects(_ first: [Value], _ second: [Value]) -> Bool {
        guard first.count == second.count else { return false }
        let objects = Set(first)
        return objects == Set(second) && objects.allSatisfy { if case .object = $0 { true } else { false } }
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
        if let (text, part) = searched(collection, value) {
            return ComparisonOperator.contains.holds(text, part, options)
        }
        guard case .collection(let elements) = collection else { return false }
        return elements.contains { equal(value, $0, options) }
    }

    /// The texts of which one is searched for the other; nil if neither value is a text.
    private static func searched(_ first: Value, _ second: Value) -> (String, String)? {
        guard first.comparedText != nil || second.comparedText != nil, let first = first.searchedText,
            let second = second.searchedText
        else { return nil }
        return (first, second)
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

    /// What a search in texts reads: a number by its digits, as SQLite does.
    var searchedText: String? {
        switch self {
        case .integer, .double, .decimal: text
        default: comparedText
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
