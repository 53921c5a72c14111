import Foundation

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
