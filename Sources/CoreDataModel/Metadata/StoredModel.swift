import Foundation

/// Which model a store is of, where it keeps a copy of its model, a program supposes one, and the two differ. Pure.
package enum StoredModel {
    /// The copies that can be of the version in the metadata: they have all entities that the metadata have hashes of.
    /// Core Data compares hashes only, and never notices a copy that another program has left behind.
    ///
    /// - Parameters:
    ///   - copies: the copies that the store keeps.
    ///   - hashed: the names of the entities in the metadata; empty if it is not known.
    /// - Returns: those copies, in the same order.
    package static func current(_ copies: [NSManagedObjectModel], hashed: Set<String>) -> [NSManagedObjectModel] {
        copies.filter { hashed.isSubset(of: $0.entitiesByName.keys) }
    }

    /// The copy, unless the tables show that it is of another version: they are not its own, but those of the supposed
    /// model.
    ///
    /// - Parameters:
    ///   - copy: the copy that the store keeps; nil for none.
    ///   - supposed: the model that the store may be of.
    ///   - hasTables: whether the store's tables are exactly those of a model.
    /// - Returns: the model; nil if there is no copy and the tables are others.
    /// - Throws: the errors of `hasTables`.
    package static func choose(
        copy: NSManagedObjectModel?, supposed: NSManagedObjectModel, hasTables: (NSManagedObjectModel) throws -> Bool
    ) rethrows -> NSManagedObjectModel? {
        guard let copy else { return try hasTables(supposed) ? supposed : nil }
        // Models that are equal need no look at the tables.
        guard !copy.hasSameEntities(as: supposed), try !hasTables(copy), try hasTables(supposed) else { return copy }
        return supposed
    }
}

extension NSManagedObjectModel {
    fileprivate func hasSameEntities(as other: NSManagedObjectModel) -> Bool {
        let others = other.entitiesByName
        return entities.count == others.count
            && entities.allSatisfy { others[$0.name ?? ""]?.ownVersionHash == $0.ownVersionHash }
    }
}
