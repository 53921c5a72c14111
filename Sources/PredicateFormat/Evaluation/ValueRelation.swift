import Foundation

/// Whether two values stand in the relation that an operator names.
///
/// With `nil` on one side:
///
///     nil == nil      true          nil != nil      false
///     nil == x        unknown       nil != x        true
///     nil < x, nil IN …, nil LIKE x, …              unknown
///
/// Values of kinds that cannot be compared are unequal, and neither is less.
enum ValueRelation {
    typealias Code = @Sendable (Value, Value) -> Truth

    static func make(_ comparison: ComparisonOperator, _ options: StringOptions) -> Code {
        let options = options.contains(.normalized) ? [] : options
        switch comparison {
        case .equalTo: return { equal($0, $1, options) }
        case .notEqualTo: return { $0.isNull != $1.isNull ? .true : equal($0, $1, options).negated }
        case .lessThan: return { ordered($0, $1, options) { $0 == .orderedAscending } }
        case .lessThanOrEqualTo: return { ordered($0, $1, options) { $0 != .orderedDescending } }
        case .greaterThan: return { ordered($0, $1, options) { $0 == .orderedDescending } }
        case .greaterThanOrEqualTo: return { ordered($0, $1, options) { $0 != .orderedAscending } }
        case .between: return { between($0, $1, options) }
        case .in: return { element($0, of: $1, options) }
        case .contains: return { element($1, of: $0, options) }
        case .beginsWith: return { strings($0, $1, options) { $0.literallyBegins(with: $1) } }
        case .endsWith: return { strings($0, $1, options) { $0.literallyEnds(with: $1) } }
        case .like:
            return { strings($0, $1, []) { LikePattern($1, options: options).matches($0) } }
        case .matches:
            return {
                strings($0, $1, []) { MatchesPattern.cached($1, options: options)?.matches($0) ?? false }
            }
        }
    }

    static func equal(_ first: Value, _ second: Value, _ options: StringOptions) -> Truth {
        if first.isNull || second.isNull { return first.isNull && second.isNull ? .true : .unknown }
        if !options.isEmpty, case .string(let a) = first, case .string(let b) = second {
            return Truth(a.folded(options).isLiterallyEqual(to: b.folded(options)))
        }
        return Truth(first == second)
    }

    static func ordered(
        _ first: Value, _ second: Value, _ options: StringOptions, _ holds: (ComparisonResult) -> Bool
    ) -> Truth {
        if first.isNull || second.isNull { return .unknown }
        if !options.isEmpty, case .string(let a) = first, case .string(let b) = second {
            return Truth(holds(a.folded(options).literalComparison(with: b.folded(options))))
        }
        guard let order = first.comparison(with: second) else { return .false }
        return Truth(holds(order))
    }

    static func between(_ value: Value, _ bounds: Value, _ options: StringOptions) -> Truth {
        guard let bounds = bounds.elements, bounds.count == 2 else { return bounds.isNull ? .unknown : .false }
        let lower = ordered(value, bounds[0], options) { $0 != .orderedAscending }
        let upper = ordered(value, bounds[1], options) { $0 != .orderedDescending }
        if lower == .false || upper == .false { return .false }
        return lower == .true && upper == .true ? .true : .unknown
    }

    /// Whether a value is in a collection, or a string within another. Elements that are `nil` are not found.
    static func element(_ value: Value, of collection: Value, _ options: StringOptions) -> Truth {
        switch collection {
        case .collection(let elements):
            if elements.isEmpty { return .false }
            if value.isNull { return .unknown }
            return Truth(elements.contains { equal(value, $0, options) == .true })
        case .null: return .unknown
        default:
            return strings(collection, value, options) { $0.literallyContains($1) }
        }
    }

    static func strings(
        _ first: Value, _ second: Value, _ options: StringOptions, _ holds: (String, String) -> Bool
    ) -> Truth {
        if first.isNull || second.isNull { return .unknown }
        guard case .string(let a) = first, case .string(let b) = second else { return .false }
        return options.isEmpty ? Truth(holds(a, b)) : Truth(holds(a.folded(options), b.folded(options)))
    }
}
