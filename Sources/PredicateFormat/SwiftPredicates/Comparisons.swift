import Foundation

extension PredicateExpressions.Equal: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .comparison(try conversion.expression(lhs), .equalTo, try conversion.expression(rhs))
    }
}

extension PredicateExpressions.NotEqual: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .comparison(try conversion.expression(lhs), .notEqualTo, try conversion.expression(rhs))
    }
}

extension PredicateExpressions.Comparison: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let comparison: ComparisonOperator =
            switch op {
            case .lessThan: .lessThan
            case .lessThanOrEqual: .lessThanOrEqualTo
            case .greaterThan: .greaterThan
            case .greaterThanOrEqual: .greaterThanOrEqualTo
            @unknown default: .equalTo
            }
        return .comparison(try conversion.expression(lhs), comparison, try conversion.expression(rhs))
    }
}

// MARK: Ranges

/// `(1...10).contains($0.age)`
extension PredicateExpressions.RangeExpressionContains: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let element = try conversion.expression(element)
        guard let bounds = try (range as? any Bounded)?.bounds(conversion) else {
            throw PredicateWithoutTreeError(reason: "\(type(of: range)) in a #Predicate has no equivalent.")
        }
        if bounds.includesUpper {
            return .comparison(element, .between, .collection(of: [bounds.lower, bounds.upper]))
        }
        return .predicate(
            .and([
                .comparison(ComparisonTree(element, .greaterThanOrEqualTo, bounds.lower)),
                .comparison(ComparisonTree(element, .lessThan, bounds.upper)),
            ]))
    }
}

/// A range with two bounds.
private protocol Bounded {
    func bounds(
        _ conversion: PredicateConversion
    ) throws -> (lower: ExpressionTree, upper: ExpressionTree, includesUpper: Bool)?
}

extension PredicateExpressions.Range: Bounded {
    fileprivate func bounds(
        _ conversion: PredicateConversion
    ) throws -> (lower: ExpressionTree, upper: ExpressionTree, includesUpper: Bool)? {
        (try conversion.expression(lower), try conversion.expression(upper), false)
    }
}

extension PredicateExpressions.ClosedRange: Bounded {
    fileprivate func bounds(
        _ conversion: PredicateConversion
    ) throws -> (lower: ExpressionTree, upper: ExpressionTree, includesUpper: Bool)? {
        (try conversion.expression(lower), try conversion.expression(upper), true)
    }
}

extension PredicateExpressions.Value: Bounded {
    fileprivate func bounds(
        _ conversion: PredicateConversion
    ) throws -> (lower: ExpressionTree, upper: ExpressionTree, includesUpper: Bool)? {
        try (value as? any Bounded)?.bounds(conversion)
    }
}

extension Range: Bounded {
    fileprivate func bounds(
        _ conversion: PredicateConversion
    ) throws -> (lower: ExpressionTree, upper: ExpressionTree, includesUpper: Bool)? {
        (.constant(Value(lowerBound)), .constant(Value(upperBound)), false)
    }
}

extension ClosedRange: Bounded {
    fileprivate func bounds(
        _ conversion: PredicateConversion
    ) throws -> (lower: ExpressionTree, upper: ExpressionTree, includesUpper: Bool)? {
        (.constant(Value(lowerBound)), .constant(Value(upperBound)), true)
    }
}
