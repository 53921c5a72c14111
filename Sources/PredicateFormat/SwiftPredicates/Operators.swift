import Foundation

extension PredicateExpressions.Conjunction: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let (left, right) = (try conversion.predicate(lhs), try conversion.predicate(rhs))
        if case .and(let parts) = left { return .predicate(.and(parts + [right])) }
        return .predicate(.and([left, right]))
    }
}

extension PredicateExpressions.Disjunction: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let (left, right) = (try conversion.predicate(lhs), try conversion.predicate(rhs))
        if case .or(let parts) = left { return .predicate(.or(parts + [right])) }
        return .predicate(.or([left, right]))
    }
}

extension PredicateExpressions.Negation: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .predicate(.not(try conversion.predicate(wrapped)))
    }
}

extension PredicateExpressions.Arithmetic: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let function: BuiltInFunction =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: .add
            }
        return .expression(.function(function, [try conversion.expression(lhs), try conversion.expression(rhs)]))
    }
}

extension PredicateExpressions.UnaryMinus: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.function(.negate, [try conversion.expression(wrapped)]))
    }
}

extension PredicateExpressions.IntDivision: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.function(.divide, [try conversion.expression(lhs), try conversion.expression(rhs)]))
    }
}

extension PredicateExpressions.FloatDivision: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.function(.divide, [try conversion.expression(lhs), try conversion.expression(rhs)]))
    }
}

extension PredicateExpressions.IntRemainder: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.function(.modulus, [try conversion.expression(lhs), try conversion.expression(rhs)]))
    }
}
