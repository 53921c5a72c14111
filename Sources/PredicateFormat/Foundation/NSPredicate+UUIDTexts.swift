import Foundation

extension NSPredicate {
    /// The predicate with UUIDs in place of texts that spell them, if they are compared with UUID properties: `id ==
    /// '919B2352-45D8-446E-8778-350DF8AEF69B'`.
    ///
    /// This is done before a predicate is sent to a store or evaluated on objects, so that both find the same.
    ///
    /// - Parameter holdsUUIDs: whether a key path leads to UUIDs.
    /// - Returns: the predicate itself if there is nothing to replace.
    package func withUUIDsRead(_ holdsUUIDs: ([String]) -> Bool) -> NSPredicate {
        guard comparesUUIDTexts(holdsUUIDs), let tree = try? predicateTree(of: self) else { return self }
        return makePredicate(tree.withUUIDsRead(holdsUUIDs))
    }

    /// Checks the constants first, which rarely spell UUIDs, without making a tree.
    private func comparesUUIDTexts(_ holdsUUIDs: ([String]) -> Bool) -> Bool {
        if let prepared = content(of: self)?.prepared {
            guard prepared.hasUUIDTexts || prepared.arguments.contains(where: \.spellsUUID) else { return false }
            return prepared.skeleton.comparesUUIDTexts(holdsUUIDs, prepared.arguments)
        }
        return (self as? NSCompoundPredicate)?.subpredicates.contains { $0.comparesUUIDTexts(holdsUUIDs) } ?? false
    }
}
