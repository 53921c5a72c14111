import Foundation

extension NSPredicate {
    /// The predicate with UUIDs in place of the texts that spell them, where they are compared with what holds UUIDs:
    /// `id == '919B2352-45D8-446E-8778-350DF8AEF69B'`.
    ///
    /// Done before a predicate goes to a store or is asked of objects, so that both find the same.
    ///
    /// - Parameter holdsUUIDs: whether a key path leads to UUIDs.
    /// - Returns: the predicate itself where there is nothing to replace.
    package func withUUIDsRead(_ holdsUUIDs: ([String]) -> Bool) -> NSPredicate {
        guard comparesUUIDTexts(holdsUUIDs), let tree = try? predicateTree(of: self) else { return self }
        return makePredicate(tree.withUUIDsRead(holdsUUIDs))
    }

    /// Looks at the constants first, which seldom spell UUIDs, and makes no tree for the answer.
    private func comparesUUIDTexts(_ holdsUUIDs: ([String]) -> Bool) -> Bool {
        if let prepared = content(of: self)?.prepared {
            guard prepared.hasUUIDTexts || prepared.arguments.contains(where: \.spellsUUID) else { return false }
            return prepared.skeleton.comparesUUIDTexts(holdsUUIDs, prepared.arguments)
        }
        return (self as? NSCompoundPredicate)?.subpredicates.contains { $0.comparesUUIDTexts(holdsUUIDs) } ?? false
    }
}
