import Foundation

/// As ``ValueRelation``, with a constant on the right: whatever can be made of it once is.
enum ValueTest {
    typealias Code = @Sendable (Value) -> Truth

    static func make(
        _ comparison: ComparisonOperator, _ options: StringOptions, against constant: Value
    ) -> Code {
        let options = options.contains(.normalized) ? [] : options
        switch (comparison, constant) {
        case (.equalTo, .null): return { Truth($0.isNull) }
        case (.notEqualTo, .null): return { Truth(!$0.isNull) }
        case (.equalTo, .integer(let number)):
            return { value in
                if case .integer(let other) = value { return Truth(other == number) }
                return value.isNull ? .unknown : Truth(value == .integer(number))
            }
        case (.equalTo, .string(let text)):
            return string(text, options) { $0.isLiterallyEqual(to: $1) }
        case (.notEqualTo, .string(let text)):
            let isEqual = string(text, options) { $0.isLiterallyEqual(to: $1) }
            return { $0.isNull ? .true : isEqual($0).negated }
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
        _ text: String, _ options: StringOptions, _ holds: @escaping @Sendable (String, String) -> Bool
    ) -> Code {
        let folded = text.folded(options)
        if options.isEmpty {
            return { value in
                guard case .string(let other) = value else { return value.isNull ? .unknown : .false }
                return Truth(holds(other, folded))
            }
        }
        return { value in
            guard case .string(let other) = value else { return value.isNull ? .unknown : .false }
            return Truth(holds(other.folded(options), folded))
        }
    }

    /// Membership in a set of constants, by hash.
    private static func membership(_ elements: [Value], _ options: StringOptions) -> Code {
        func folded(_ value: Value) -> Value {
            guard !options.isEmpty, case .string(let text) = value else { return value }
            return .string(text.folded(options))
        }
        if elements.isEmpty { return { _ in .false } }
        let set = Set(elements.filter { !$0.isNull }.map(folded))
        if options.isEmpty {
            return { $0.isNull ? .unknown : Truth(set.contains($0)) }
        }
        return { value in
            guard case .string(let text) = value else { return value.isNull ? .unknown : Truth(set.contains(value)) }
            return Truth(set.contains(.string(text.folded(options))))
        }
    }
}
