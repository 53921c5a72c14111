import CompactCollections
import Foundation

/// A version of a model as a mapping model sees it: entities by name, with their inherited properties, and their
/// version hashes.
package struct MappedModel {
    private let entities: [String: EntityDocument]
    private let hashes: [String: Data]

    /// - Parameters:
    ///   - document: the version as a value.
    ///   - hashes: the version hashes of the entities, by name.
    package init(_ document: ModelDocument, hashes: [String: Data]) {
        entities = Dictionary(document.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.hashes = hashes
    }

    func hasEntity(_ name: String) -> Bool { entities[name] != nil }

    func versionHash(of entity: String) -> Data? { hashes[entity] }

    /// A property of an entity, its own or inherited.
    func property(_ name: String, of entity: String) -> PropertyDocument? { properties(of: entity)[name] }

    /// The properties of an entity, its own and inherited ones, by name.
    func properties(of entity: String) -> [String: PropertyDocument] {
        guard let document = entities[entity] else { return [:] }
        let line = [document] + DocumentCheck.ancestors(of: document, entities)
        return Dictionary(line.flatMap(\.properties).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// An entity and all its subentities.
    func selfAndDescendants(of entity: String) -> Set<String> {
        Set(
            entities.values.filter { candidate in
                candidate.name == entity
                    || DocumentCheck.ancestors(of: candidate, entities).contains { $0.name == entity }
            }.map(\.name))
    }
}
