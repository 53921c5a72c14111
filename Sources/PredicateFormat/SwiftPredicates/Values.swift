import Foundation

extension PredicateExpressions.Variable: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(try conversion.variable(key))
    }
}

extension PredicateExpressions.Value: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(conversion.constant(value))
    }
}

extension PredicateExpressions.NilLiteral: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.constant(.null))
    }
}

/// `$0.author.name`; `count`, `isEmpty` and similar properties are functions of the language.
extension PredicateExpressions.KeyPath: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        // A property of a value from outside the predicate, such as `settings.limit`, is a constant.
        if let value = try? evaluate(PredicateBindings()) { return .expression(conversion.constant(value)) }
        let origin = try conversion.expression(root)
        let isString = Root.Output.self is any StringProtocol.Type
        switch kind {
        case .collectionCount:
            return .expression(isString ? .function(.length, [origin]) : origin.appending(keys: ["@count"]))
        case .collectionIsEmpty:
            if isString { return .comparison(origin, .equalTo, .constant(.string(""))) }
            return .comparison(origin.appending(keys: ["@count"]), .equalTo, .constant(.integer(0)))
        case .collectionFirst: return .expression(.element(of: origin, at: .first))
        case .bidirectionalCollectionLast: return .expression(.element(of: origin, at: .last))
        default: break
        }
        guard let keys = keys(of: keyPath) else {
            throw PredicateWithoutTreeError(
                reason:
                    "The key path \(keyPath) in a #Predicate reads a computed property, which has no name to fetch by.")
        }
        return .expression(keys.isEmpty ? origin : origin.appending(keys: keys))
    }
}

/// `$0.boss?.name`: key paths of the language continue from nil with nil in any case.
extension PredicateExpressions.OptionalFlatMap: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let origin = try conversion.expression(wrapped)
        return .expression(try conversion.binding(variable.key, to: origin).expression(transform))
    }
}

/// `$0.name!`
extension PredicateExpressions.ForcedUnwrap: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(try conversion.expression(inner))
    }
}

/// `$0.age ?? 0`
extension PredicateExpressions.NilCoalesce: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let value = try conversion.expression(lhs)
        let isPresent = PredicateTree.comparison(ComparisonTree(value, .notEqualTo, .constant(.null)))
        return .expression(.conditional(isPresent, then: value, otherwise: try conversion.expression(rhs)))
    }
}

/// `$0.age > 17 ? "adult" : "child"`
extension PredicateExpressions.Conditional: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(
            .conditional(
                try conversion.predicate(test), then: try conversion.expression(trueBranch),
                otherwise: try conversion.expression(falseBranch)))
    }
}

/// `$0.tags[0]`
extension PredicateExpressions.CollectionIndexSubscript: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(
            .element(of: try conversion.expression(wrapped), at: .at(try conversion.expression(index))))
    }
}

/// `$0.sizes["small"]`
extension PredicateExpressions.DictionaryKeySubscript: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.element(of: try conversion.expression(wrapped), at: .at(try conversion.expression(key))))
    }
}
