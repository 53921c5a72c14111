import Foundation

/// Like ``ValueRelation``, with a constant on the right, which is prepared only once.
enum ValueTest {
    typealias Code = @Sendable (Value) -> Bool

    static func make(
        _ comparison: ComparisonOperator, _ options: StringOptions, against constant: Value
    ) -> Code {
        let options = options.contains(.normalized) ? [] : options
        switch (comparison, constant) {
        case (.equalTo, .null): return { $0.isNothing }
        case (.notEqualTo, .null): return { !$0.isNothing }
        case (.equalTo, .integer(let number)):
            return { value in
                if case .integer(let other) = value { return other == number }
                return value == .integer(number)
            }
        case (.equalTo, .string(let text)):
            return string(text, options, searched: false) { $0.isLiterallyEqual(to: $1) }
        case (.notEqualTo, .string(let text)):
            let isEqual = string(text, options, searched: false) { $0.isLiterallyEqual(to: $1) }
            return { !isEqual($0) }
        case (.beginsWith, .string(let text)):
            return string(text, options) { $0.literallyBegins(with: $1) }
        case (.endsWith, .string(let text)):
            return string(text, options) { $0.literallyEnds(with: $1) }
        case (.contains, .string(let text)):
            let isPart = string(text, options) { $0.literallyContains($1) }
            return { value in
                if case .collection = value { return ValueRelation.element(constant, of: value, options) }
                return isPart(value)
            }
        case (.like, .string(let text)):
            let pattern = LikePattern(text, options: options)
            return string(text, []) { value, _ in pattern.matches(value) }
        case (.matches, .string(let text)):
            let pattern = MatchesPattern.cached(text, options: options)
            return string(text, []) { value, _ in pattern?.matches(value) ?? false }
        case (.in, .collection(let elements)):
            return membership(elements, options)
        default:
            let relation = ValueRelation.make(comparison, options)
            return { relation($0, constant) }
        }
    }

    private static func string(
        _ text: String, _ options: StringOptions, searched: Bool = true,
        _ holds: @escaping @Sendable (String, String) -> Bool
    ) -> Code {
        if options.isEmpty {
            return { value in
                guard let other = searched ? value.searchedText : value.comparedText else { return false }
                return holds(other, text)
            }
        }
        let folded = text.folded(options)
        return { value in
            guard let other = searched ? value.searchedText : value.comparedText else { return false }
            return holds(other.folded(options), folded)
        }
    }

    /// Membership in a set of constants, by hash.
    private static func membership(_ elements: [Value], _ options: StringOptions) -> Code {
        if options.isEmpty {
            let set = Set(elements.map { $0.folded([]) })
            return { set.contains($0.folded([])) || $0.isNothing && set.contains(.null) }
        }
        let set = Set(elements.map { $0.folded(options) })
        return { set.contains($0.folded(options)) || $0.isNothing && set.contains(.null) }
    }
}

extension Value {
    /// The folding of a text, or of a URL as a text; every other value unchanged.
    fileprivate func folded(_ options: StringOptions) -> Value {
        switch self {
        case .string where options.isEmpty: self
        case .string(let text): .string(text.folded(options))
        case .url(let url): .string(options.isEmpty ? url.absoluteString : url.absoluteString.folded(options))
        default: self
        }
    }
}

extension ComparisonOperator {
    /// Whether the comparison of two strings holds. A store's SQL functions must use this, so that rows are found as
    /// objects are.
    ///
    /// `IN` checks whether the left string is a part of the right one; `BETWEEN` is false for strings.
    package func holds(_ left: String, _ right: String, _ options: StringOptions) -> Bool {
        let options = options.contains(.normalized) ? [] : options
        switch self {
        case .like: return LikePattern.cached(right, options: options).matches(left)
        case .matches: return MatchesPattern.cached(right, options: options)?.matches(left) ?? false
        case .between: return false
        default: break
        }
        if options.isEmpty { return holds(left, right) }
        return holds(left.folded(options), right.folded(options))
    }

    private func holds(_ left: String, _ right: String) -> Bool {
        switch self {
        case .equalTo: left.isLiterallyEqual(to: right)
        case .notEqualTo: !left.isLiterallyEqual(to: right)
        case .lessThan: left.literalComparison(with: right) == .orderedAscending
        case .lessThanOrEqualTo: left.literalComparison(with: right) != .orderedDescending
        case .greaterThan: left.literalComparison(with: right) == .orderedDescending
        case .greaterThanOrEqualTo: left.literalComparison(with: right) != .orderedAscending
        case .beginsWith: left.literallyBegins(with: right)
        case .endsWith: left.literallyEnds(with: right)
        case .contains: left.literallyContains(right)
        case .in: right.literallyContains(left)
        case .like, .matches, .between: false
        }
    }
}

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
