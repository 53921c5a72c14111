import StoreSession

/// A value whose type has an order of its own, as an argument of a format or in a Swift predicate: as a rule, a case of
/// a comparable enumeration.
///
/// A store knows the order of the stored values only, which may be another one. So a comparison by order becomes a list
/// of the cases that satisfy it.
final class CaseArgument: NSObject, @unchecked Sendable {
    // @unchecked Sendable: cases are values, and do not change.
    let value: any Encodable
    let stored: Any

    init(_ value: any Encodable, stored: Any) {
        self.value = value
        self.stored = stored
    }

    /// Whether an argument is a case, or a list with cases.
    static func isWithin(_ argument: Any) -> Bool {
        argument is CaseArgument || (argument as? [Any])?.contains(where: isWithin) ?? false
    }

    /// What a store has for the cases that a comparison with this one selects; nil where the cases are not known.
    fileprivate func cases(_ comparison: FilterComparison) -> [Any]? {
        (value as? any CaseIterable & Comparable & Encodable)?.cases(comparison)?.compactMap {
            try? AttributeEncoder.comparable($0)
        }
    }
}

extension CaseIterable where Self: Comparable & Encodable {
    /// The cases that a comparison with this one selects, by the type's own order; nil for a comparison of something
    /// else.
    func cases(_ comparison: FilterComparison) -> [any Encodable]? {
        let cases = Self.allCases
        switch comparison {
        case .less: return cases.filter { $0 < self }
        case .atMost: return cases.filter { $0 <= self }
        case .more: return cases.filter { $0 > self }
        case .atLeast: return cases.filter { $0 >= self }
        case .equal, .notEqual, .text, .element: return nil
        }
    }
}

/// Whether a type has an order which the stored values may not have: that of an enumeration, or of a type that lists
/// its cases.
func hasOwnOrder(_ type: Any.Type) -> Bool {
    type is any Comparable.Type && (type is any CaseIterable.Type || isEnumeration(type))
}

extension PredicateTree {
    /// The predicate with cases in the form that stores keep.
    ///
    /// - Parameter entity: the model, for errors.
    /// - Returns: the predicate.
    /// - Throws: ``PersistenceError/Code/notComparable`` for a comparison by the order of an enumeration whose
    ///   cases are not known.
    func withStoredCases(of entity: String) throws -> PredicateTree {
        try mapComparisons { comparison in
            var comparison = comparison
            if let order = comparison.comparison.order {
                comparison = try comparison.selectingCases(order, of: entity)
            }
            comparison.left = try comparison.left.withStoredCases(of: entity)
            comparison.right = try comparison.right.withStoredCases(of: entity)
            return .comparison(comparison)
        }
    }
}

extension ComparisonTree {
    /// The comparison; if it is one of the order of cases, with the list of those that satisfy it.
    fileprivate func selectingCases(_ order: CaseOrder, of entity: String) throws -> ComparisonTree {
        if let bounds = right.constantValue?.elements, case .between = order, bounds.count == 2,
            let low = bounds[0].caseArgument, let high = bounds[1].caseArgument
        {
            guard let above = low.cases(.atLeast), let below = high.cases(.atMost) else {
                throw notComparable(low, with: left, of: entity)
            }
            let allowed = Set(below.map { Value($0) })
            return among(left, above.map { Value($0) }.filter(allowed.contains))
        }
        if case .side(let comparison, _) = order, let argument = right.constantValue?.caseArgument {
            guard let cases = argument.cases(comparison) else {
                throw notComparable(argument, with: left, of: entity)
            }
            return among(left, cases.map { Value($0) })
        }
        if case .side(_, let mirrored) = order, modifier == .direct, let argument = left.constantValue?.caseArgument {
            guard let cases = argument.cases(mirrored) else {
                throw notComparable(argument, with: right, of: entity)
            }
            return among(right, cases.map { Value($0) })
        }
        if let argument = right.anyCase { throw notComparable(argument, with: left, of: entity) }
        if let argument = left.anyCase { throw notComparable(argument, with: right, of: entity) }
        return self
    }

    private func among(_ side: ExpressionTree, _ cases: [Value]) -> ComparisonTree {
        ComparisonTree(side, .in, .constant(.collection(cases)), modifier: modifier)
    }

    private func notComparable(
        _ argument: CaseArgument, with other: ExpressionTree, of entity: String
    ) -> PersistenceError {
        .unknownOrder(property: other.shownPath, entity: entity, type: "\(type(of: argument.value))")
    }
}

/// A comparison that depends on the order of values.
private enum CaseOrder {
    /// With one value; and the same comparison with its sides exchanged.
    case side(FilterComparison, mirrored: FilterComparison)
    case between
}

extension ComparisonOperator {
    fileprivate var order: CaseOrder? {
        switch self {
        case .lessThan: .side(.less, mirrored: .more)
        case .lessThanOrEqualTo: .side(.atMost, mirrored: .atLeast)
        case .greaterThan: .side(.more, mirrored: .less)
        case .greaterThanOrEqualTo: .side(.atLeast, mirrored: .atMost)
        case .between: .between
        default: nil
        }
    }
}

extension ExpressionTree {
    /// The expression as an error names it.
    fileprivate var shownPath: String {
        if case .keyPath(let keys) = self { return keys.joined(separator: ".") }
        return "\(makeExpression(self))"
    }

    /// A case in the expression; nil if there is none.
    fileprivate var anyCase: CaseArgument? {
        var found: CaseArgument?
        forEachConstant { value in
            found = found ?? value.caseArgument ?? value.elements?.lazy.compactMap(\.caseArgument).first
        }
        return found
    }

    fileprivate func withStoredCases(of entity: String) throws -> ExpressionTree {
        if case .constant(let value) = self { return .constant(value.withStoredCases) }
        return try mapParts(
            { try $0.withStoredCases(of: entity) }, predicates: { try $0.withStoredCases(of: entity) })
    }
}

extension Value {
    fileprivate var caseArgument: CaseArgument? {
        guard case .object(let reference) = self else { return nil }
        return reference.object as? CaseArgument
    }

    fileprivate var withStoredCases: Value {
        guard let elements else { return caseArgument.map { Value($0.stored) } ?? self }
        return elements.contains { $0.caseArgument != nil } ? .collection(elements.map(\.withStoredCases)) : self
    }
}
