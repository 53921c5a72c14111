import Foundation

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
