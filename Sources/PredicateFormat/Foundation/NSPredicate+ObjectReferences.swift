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

    /// Only a skeleton without a number has constants that are no literals. One that nests too deep is refused later.
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
