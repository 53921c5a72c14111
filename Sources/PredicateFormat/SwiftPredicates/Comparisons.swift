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
        let (left, right) = (try conversion.expression(lhs), try conversion.expression(rhs))
        if !conversion.ordersRawValues, !left.isConstant, !right.isConstant, hasOwnOrder(LHS.Output.self) {
            throw EnumerationOrderError(type: "\(LHS.Output.self)")
        }
        return .comparison(left, comparison, right)
    }
}

/// Two values of an enumeration are compared by its own order, which the raw values do not tell.
package struct EnumerationOrderError: Error {
    package let type: String
}

/// Whether a type is an enumeration with raw values, which are stored and may have another order. A structure with a
/// raw value is one value, so that both orders are taken for the same.
///
/// Unsafe memory: the first word of a type's metadata is its kind in Swift's stable ABI, and that of an enumeration is
/// 0x201 (`MetadataKind::Enum`). No mirror can tell, since there is no value.
private func hasOwnOrder(_ type: Any.Type) -> Bool {
    type is any RawRepresentable.Type && unsafeBitCast(type, to: UnsafePointer<Int>.self).pointee == 0x201
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
        (conversion.constant(lowerBound), conversion.constant(upperBound), false)
    }
}

extension ClosedRange: Bounded {
    fileprivate func bounds(
        _ conversion: PredicateConversion
    ) throws -> (lower: ExpressionTree, upper: ExpressionTree, includesUpper: Bool)? {
        (conversion.constant(lowerBound), conversion.constant(upperBound), true)
    }
}
