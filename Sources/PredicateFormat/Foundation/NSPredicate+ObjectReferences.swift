import Foundation

extension NSPredicate {
    /// The predicate with other objects in place of those that a function has a replacement for, also within
    /// collections. Predicates of one format stay so: what is derived from their skeleton is not made again.
    ///
    /// - Parameter replacement: the object to compare with in place of another; nil to keep it.
    /// - Returns: the predicate itself if there is nothing to replace.
    package func replacingObjects(_ replacement: (any KeyedOperand) -> (any KeyedOperand)?) -> NSPredicate {
        if let prepared = content(of: self)?.prepared {
            guard let prepared = prepared.replacingObjects(replacement) else { return self }
            return makePredicate(PredicateContent(prepared))
        }
        guard let compound = self as? NSCompoundPredicate else { return self }
        let parts = compound.subpredicates
        let replaced = parts.map { $0.replacingObjects(replacement) }
        guard zip(parts, replaced).contains(where: { $0 !== $1 }) else { return self }
        return NSCompoundPredicate(type: compound.compoundPredicateType, subpredicates: replaced)
    }
}

extension PreparedPredicate {
    /// Nil if there is nothing to replace.
    fileprivate func replacingObjects(
        _ replacement: (any KeyedOperand) -> (any KeyedOperand)?
    ) -> PreparedPredicate? {
        let replaced = arguments.map { $0.replacingObjects(replacement) }
        let skeleton = skeletonReplacingObjects(replacement)
        guard skeleton != nil || replaced.contains(where: { $0 != nil }) else { return nil }
        return PreparedPredicate(
            skeleton: skeleton ?? self.skeleton, identity: identity,
            arguments: zip(replaced, arguments).map { $0 ?? $1 },
            hasConstantParts: hasConstantParts, hasSpelledValues: hasSpelledValues)
    }

    /// Only a skeleton without a number has constants that are not literals. One that nests too deep is refused later.
    private func skeletonReplacingObjects(
        _ replacement: (any KeyedOperand) -> (any KeyedOperand)?
    ) -> PredicateTree? {
        guard identity == nil, !skeleton.isDeeper(than: maximumPredicateDepth) else { return nil }
        var isConcerned = false
        skeleton.forEachConstant { isConcerned = isConcerned || $0.replacingObjects(replacement) != nil }
        guard isConcerned else { return nil }
        return skeleton.mapExpressions { expression in
            guard case .constant(let value) = expression else { return expression }
            return value.replacingObjects(replacement).map { .constant($0) } ?? expression
        }
    }
}

extension Value {
    /// Nil if there is nothing to replace.
    fileprivate func replacingObjects(_ replacement: (any KeyedOperand) -> (any KeyedOperand)?) -> Value? {
        switch self {
        case .object(let reference): return replacement(reference.operand).map { .object($0) }
        case .collection(let elements):
            let replaced = elements.map { $0.replacingObjects(replacement) }
            guard replaced.contains(where: { $0 != nil }) else { return nil }
            return .collection(zip(replaced, elements).map { $0 ?? $1 })
        default: return nil
        }
    }
}

extension NSPredicate {
    /// The predicate with values in place of what is computed of constants: paths that start at one, which no database
    /// can follow (`SELF IN %@.friends` becomes `SELF IN {…}`), casts, functions and methods. It must be called where
    /// the constants may be read, and again for each fetch.
    package var withConstantPartsRead: NSPredicate {
        guard hasConstantParts, let tree = try? predicateTree(of: self) else { return self }
        return makePredicate(tree.mapExpressions(\.withConstantPartRead))
    }

    private var hasConstantParts: Bool {
        if let content = content(of: self) { return content.prepared.hasConstantParts }
        return (self as? NSCompoundPredicate)?.subpredicates.contains(where: \.hasConstantParts) ?? false
    }
}

extension ExpressionTree {
    /// The value at the end of a path from a constant; if there are several, those that are not nil, as a set. What is
    /// computed of constants: its value, if it has one.
    package var withConstantPartRead: ExpressionTree {
        switch self {
        case .path(from: .constant(let value), let keys):
            let end = value.value(forKeyPath: keys)
            guard let elements = end.elements else { return .constant(end) }
            return .constant(.collection(elements.filter { !$0.isNull }))
        case .cast(.constant(let value), to: .constant(.string(let name))):
            return value.cast(to: name).map { .constant($0) } ?? self
        case _ where isComputedOfConstants && callsKnownMethods:
            let value = CompiledExpression(self).evaluate(.null)
            // What cannot be computed with, such as the letters of a number, is for the store to refuse.
            return value.isNull ? self : .constant(value)
        default: return self
        }
    }

    private var callsKnownMethods: Bool {
        if case .call(_, let name, _) = self, !ExpressionTree.canCall(name) { return false }
        return parts.allSatisfy(\.callsKnownMethods)
    }
}

extension NSPredicate {
    /// The predicate with UUIDs and numbers in place of texts that spell them, if they are compared with properties
    /// that hold these: `id == '919B2352-45D8-446E-8778-350DF8AEF69B'`, `age > '5'`.
    ///
    /// This is done before a predicate is sent to a store or evaluated on objects, so that both find the same.
    ///
    /// - Parameter kind: what the values at a key path are; nil for others.
    /// - Returns: the predicate itself if there is nothing to replace.
    package func withSpelledValuesRead(_ kind: ([String]) -> SpelledKind?) -> NSPredicate {
        guard comparesSpelledValues(kind), let tree = try? predicateTree(of: self) else { return self }
        return makePredicate(tree.withSpelledValuesRead(kind))
    }

    /// Checks the constants first, which rarely spell such values, without making a tree.
    private func comparesSpelledValues(_ kind: ([String]) -> SpelledKind?) -> Bool {
        if let prepared = content(of: self)?.prepared {
            guard prepared.hasSpelledValues || prepared.arguments.contains(where: \.isSpelledValue) else {
                return false
            }
            return prepared.skeleton.comparesSpelledValues(kind, prepared.arguments)
        }
        return (self as? NSCompoundPredicate)?.subpredicates.contains { $0.comparesSpelledValues(kind) } ?? false
    }
}
