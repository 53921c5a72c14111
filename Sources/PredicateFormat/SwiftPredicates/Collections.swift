import Foundation

/// `$0.tags.contains("x")`, `["a", "b"].contains($0.name)`
extension PredicateExpressions.SequenceContains: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .comparison(try conversion.expression(element), .in, try conversion.expression(sequence))
    }
}

/// `$0.title.contains("x")`
extension PredicateExpressions.CollectionContainsCollection: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .comparison(try conversion.expression(base), .contains, try conversion.expression(other))
    }
}

/// `$0.title.starts(with: "x")`
extension PredicateExpressions.SequenceStartsWith: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .comparison(try conversion.expression(base), .beginsWith, try conversion.expression(prefix))
    }
}

/// `$0.reviews.contains { $0.stars > 3 }`
extension PredicateExpressions.SequenceContainsWhere: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let closure = conversion.closure(variable.key)
        let matching = ExpressionTree.subquery(
            of: try conversion.expression(sequence), variable: closure.name, try closure.conversion.predicate(test))
        return .comparison(matching.appending(keys: ["@count"]), .greaterThan, .constant(.integer(0)))
    }
}

/// `$0.reviews.allSatisfy { $0.stars > 3 }`
extension PredicateExpressions.SequenceAllSatisfy: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let closure = conversion.closure(variable.key)
        let failing = ExpressionTree.subquery(
            of: try conversion.expression(sequence), variable: closure.name,
            .not(try closure.conversion.predicate(test)))
        return .comparison(failing.appending(keys: ["@count"]), .equalTo, .constant(.integer(0)))
    }
}

/// `$0.reviews.filter { $0.stars > 3 }`
extension PredicateExpressions.Filter: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let closure = conversion.closure(variable.key)
        return .expression(
            .subquery(
                of: try conversion.expression(sequence), variable: closure.name,
                try closure.conversion.predicate(filter)))
    }
}

extension PredicateExpressions.SequenceMinimum: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.function(.minimum, [try conversion.expression(elements)]))
    }
}

extension PredicateExpressions.SequenceMaximum: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.function(.maximum, [try conversion.expression(elements)]))
    }
}
