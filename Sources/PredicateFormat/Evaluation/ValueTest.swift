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
