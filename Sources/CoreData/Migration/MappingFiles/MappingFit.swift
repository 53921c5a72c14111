import CompactCollections
import Foundation
import Ordering

/// Whether entity mappings are for two versions of a model. Pure.
///
/// A mapping model names the version hashes of its entities. One that was made for other versions may have only hashes
/// of these two, if the versions have further entities, and does not migrate their objects. So the entities that it
/// does not name count, too.
enum MappingFit {
    /// Whether entity mappings were made for two models: their hashes are those of the models, and they lose no entity.
    static func holds(
        _ mappings: [NSEntityMapping], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) -> Bool {
        agree(mappings, from: source, to: destination) && lost(mappings, from: source, to: destination).isEmpty
    }

    /// Whether the hashes of entity mappings are those of two models.
    static func agree(
        _ mappings: [NSEntityMapping], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) -> Bool { !mappings.isEmpty && agree(mappings, source: source) && agree(mappings, destination: destination) }

    /// Whether the sources of entity mappings are of a model's version.
    static func agree(_ mappings: [NSEntityMapping], source: NSManagedObjectModel) -> Bool {
        mappings.allSatisfy { agrees($0.sourceEntityVersionHash, $0.sourceEntityName, source) }
    }

    /// Whether the destinations of entity mappings are of a model's version.
    static func agree(_ mappings: [NSEntityMapping], destination: NSManagedObjectModel) -> Bool {
        mappings.allSatisfy { agrees($0.destinationEntityVersionHash, $0.destinationEntityName, destination) }
    }

    /// Whether a hash is an entity's: Apple's, or our own. A mapping compiled here has our own hashes, while a store's
    /// copy of its model has Apple's. A mapping without a hash, made by a program, is of any version with the entity.
    private static func agrees(_ hash: Data?, _ entity: String?, _ model: NSManagedObjectModel) -> Bool {
        guard let entity else { return hash == nil }
        guard let description = model.entitiesByName[entity] else { return false }
        return hash.map { description.versionHash == $0 || description.ownVersionHash == $0 } ?? true
    }

    /// The source's entities whose objects no mapping is for, although the destination has the entities. A mapping for
    /// a removed entity says that its objects go.
    static func lost(
        _ mappings: [NSEntityMapping], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) -> [String] {
        let named = Set(mappings.flatMap { $0.takenEntities(of: source) })
        let others = source.entities.filter { !$0.isAbstract && !named.contains($0.name ?? "") }.compactMap(\.name)
        guard !others.isEmpty else { return [] }
        let kept = Set(ModelCorrespondence(from: source, to: destination).entities.values)
        return others.filter(kept.contains).sorted()
    }

    /// How many entities of the destination no mapping makes. A mapping model may leave out new ones; of several
    /// mapping models, the one that does not was made for the version.
    static func unnamed(_ mappings: [NSEntityMapping], of destination: NSManagedObjectModel) -> Int {
        let named = Set(mappings.compactMap(\.destinationEntityName))
        return destination.entities.filter { !$0.isAbstract && !named.contains($0.name ?? "") }.count
    }

    /// The index of the mappings for two models that leave out the fewest entities, the first of several; nil if none
    /// are for them.
    ///
    /// Mappings without any hash of the source or of the destination do not say what versions they are for.
    static func best(
        _ candidates: [[NSEntityMapping]], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) -> Int? {
        candidates.indices.filter { index in
            candidates[index].contains { $0.sourceEntityVersionHash != nil }
                && candidates[index].contains { $0.destinationEntityVersionHash != nil }
                && holds(candidates[index], from: source, to: destination)
        }.map { (index: $0, unnamed: unnamed(candidates[$0], of: destination)) }
            .min { ($0.unnamed, $0.index) < ($1.unnamed, $1.index) }?.index
    }
}
