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
        try conversion.checkOrder(of: LHS.Output.self, left, right)
        return .comparison(left, comparison, right)
    }
}

// MARK: Ranges

/// `(1...10).contains($0.age)`
extension PredicateExpressions.RangeExpressionContains: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        guard let bounds = try (range as? any Bounded)?.bounds(conversion) else {
            throw PredicateWithoutTreeError(reason: "\(type(of: range)) in a #Predicate has no equivalent.")
        }
        let element = try conversion.expression(element)
        for bound in [bounds.lower, bounds.upper] {
            if let bound { try conversion.checkOrder(of: Element.Output.self, element, bound) }
        }
        if bounds.includesUpper, let lower = bounds.lower, let upper = bounds.upper {
            return .comparison(element, .between, .collection(of: [lower, upper]))
        }
        let isAbove = bounds.lower.map { ComparisonTree(element, .greaterThanOrEqualTo, $0) }
        let isBelow = bounds.upper.map {
            ComparisonTree(element, bounds.includesUpper ? .lessThanOrEqualTo : .lessThan, $0)
        }
        let conditions = [isAbove, isBelow].compactMap { $0.map { PredicateTree.comparison($0) } }
        return .predicate(conditions.count == 1 ? conditions[0] : .and(conditions))
    }
}

/// The bounds of a range; nil where it has no end.
private struct Bounds {
    var lower: ExpressionTree?
    var upper: ExpressionTree?
    var includesUpper = false
}

/// A range, as a part of a `#Predicate` or a value of the program.
private protocol Bounded {
    func bounds(_ conversion: PredicateConversion) throws -> Bounds?
}

extension PredicateExpressions.Range: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) throws -> Bounds? {
        Bounds(lower: try conversion.expression(lower), upper: try conversion.expression(upper))
    }
}

extension PredicateExpressions.ClosedRange: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) throws -> Bounds? {
        Bounds(lower: try conversion.expression(lower), upper: try conversion.expression(upper), includesUpper: true)
    }
}

extension PredicateExpressions.Value: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) throws -> Bounds? {
        try (value as? any Bounded)?.bounds(conversion)
    }
}

extension Range: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) -> Bounds? {
        Bounds(lower: conversion.constant(lowerBound), upper: conversion.constant(upperBound))
    }
}

extension ClosedRange: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) -> Bounds? {
        Bounds(
            lower: conversion.constant(lowerBound), upper: conversion.constant(upperBound), includesUpper: true)
    }
}

extension PartialRangeFrom: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) -> Bounds? {
        Bounds(lower: conversion.constant(lowerBound))
    }
}

extension PartialRangeThrough: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) -> Bounds? {
        Bounds(upper: conversion.constant(upperBound), includesUpper: true)
    }
}

extension PartialRangeUpTo: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) -> Bounds? {
        Bounds(upper: conversion.constant(upperBound))
    }
}
