import CoreDataModel
import Foundation

extension ModelLayout {
    /// The entities that a program cannot use any more when another one has migrated some of them: these, and all that
    /// relationships or inheritance connect with them, before or since. A change of any of the others concerns none of
    /// these. Pure.
    ///
    /// - Parameters:
    ///   - names: the entities whose version in the store is another one.
    ///   - stored: the model that the store has now.
    /// - Returns: the names of the entities.
    package func entities(connectedWith names: Set<String>, in stored: NSManagedObjectModel) -> Set<String> {
        var neighbours: [String: Set<String>] = [:]
        func connect(_ entity: String, _ other: String?) {
            guard let other else { return }
            neighbours[entity, default: []].insert(other)
            neighbours[other, default: []].insert(entity)
        }
        for entity in entities {
            connect(entity.name, entity.superentity?.name)
            for relationship in entity.relationships { connect(entity.name, relationship.destination.name) }
        }
        for entity in stored.entities {
            let name = entity.name ?? ""
            connect(name, entity.superentity?.name)
            for relationship in entity.relationshipsByName.values {
                connect(name, relationship.destinationEntity?.name)
            }
        }
        var found = names
        var waiting = Array(names)
        while let name = waiting.popLast() {
            for next in neighbours[name] ?? [] where found.insert(next).inserted { waiting.append(next) }
        }
        return found
    }
}

extension SQLSchema {
    /// Checks that an entity is still of the version that the model has.
    ///
    /// - Throws: the error that says of another version.
    package func checkCurrent(_ entity: EntityLayout) throws {
        if let outdated, outdated.entities.contains(entity.name) { throw outdated.error }
    }
}

/// The entities that another program has migrated while the store was open.
package struct OutdatedEntities: Sendable {
    package let entities: Set<String>
    /// What their use is answered with.
    package let error: NSError

    package init(_ entities: Set<String>, _ error: NSError) { (self.entities, self.error) = (entities, error) }
}
