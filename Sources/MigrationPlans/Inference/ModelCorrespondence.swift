import CompactCollections
import CoreDataModel

/// The names of a model's entities and properties in another version of it, by their renaming identifiers, as a value.
/// An inferred mapping uses it; it also exists if none can be inferred.
package struct ModelCorrespondence: Equatable, Sendable {
    /// The entities' names in the source, by their names in the destination.
    package let entities: [String: String]
    /// The entities' names in the destination, by their names in the source.
    package let successors: [String: String]
    /// The stored properties' names in the source, by entity and name in the destination, including inherited ones.
    /// Several attributes may come from one.
    package let properties: [String: [String: String]]

    package init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
        let names = RenamingMatch.sources(
            of: destination.entities.map(\.renameable), in: source.entities.map(\.renameable))
        var properties: [String: [String: String]] = [:]
        for (name, sourceName) in names {
            guard let entity = destination.entitiesByName[name], let former = source.entitiesByName[sourceName] else {
                continue
            }
            let attributes = RenamingMatch.attributeSources(
                of: entity.storedAttributes.map(\.renameable), in: former.storedAttributes.map(\.renameable))
            let relationships = RenamingMatch.sources(
                of: entity.storedRelationships.map(\.renameable), in: former.storedRelationships.map(\.renameable))
            properties[name] = attributes.merging(relationships) { first, _ in first }
        }
        entities = names
        successors = RenamingMatch.successors(names)
        self.properties = properties
    }
}
