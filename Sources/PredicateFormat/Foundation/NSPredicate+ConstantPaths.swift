import Foundation

extension NSPredicate {
    /// The predicate with values in place of paths that start at a constant, which no database can follow: `SELF IN
    /// %@.friends` becomes `SELF IN {…}`. Casts of constants become what the parser makes of such literals. It must be
    /// called where the constants may be read, and again for each fetch.
    package var withConstantPathsRead: NSPredicate {
        guard hasConstantPaths, let tree = try? predicateTree(of: self) else { return self }
        return makePredicate(tree.mapExpressions(\.withConstantPathRead))
    }

    private var hasConstantPaths: Bool {
        if let content = content(of: self) { return content.prepared.hasConstantPaths }
        return (self as? NSCompoundPredicate)?.subpredicates.contains(where: \.hasConstantPaths) ?? false
    }
}

extension ExpressionTree {
    /// The value at the end of a path from a constant; if there are several, those that are not nil, as a set. A
    /// constant that is cast: the converted constant.
    package var withConstantPathRead: ExpressionTree {
        if case .cast(.constant(let value), to: .constant(.string(let name))) = self {
            return value.cast(to: name).map { .constant($0) } ?? self
        }
        guard case .path(from: .constant(let value), let keys) = self else { return self }
        let end = value.value(forKeyPath: keys)
        guard let elements = end.elements else { return .constant(end) }
        return .constant(.collection(elements.filter { !$0.isNull }))
    }
}
