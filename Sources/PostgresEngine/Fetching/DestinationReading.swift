import CoreDataModel
import PostgresConnection
import SQLGeneration
import StoreEngine

extension OpenDatabase {
    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try reading("read from") { try readDestinations(of: relationship, for: identifiers) }
    }

    /// The destinations of a to-many relationship for many objects, with one query.
    func readDestinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        var found: [[NSManagedObjectID]] = Array(repeating: [], count: identifiers.count)
        guard let source = schema.mapping(of: relationship.source), source.toManys.indices.contains(relationship.index),
            let toMany = source.toManys[relationship.index],
            let destination = schema.mapping(of: relationship.destination)
        else { return found }
        var positions: [Int64: [Int]] = [:]
        for (position, identifier) in identifiers.enumerated() {
            positions[identifier.key, default: []].append(position)
        }
        let result = try query(DestinationSQL.select(toMany, destination), keys: Array(positions.keys))
        for row in 0..<result.count {
            let layout = entity(numbered: result.integer(row, 2), kindOf: destination.layout)
            let identifier = NSManagedObjectID(layout: layout, store: identity, key: result.integer(row, 1))
            for position in positions[result.integer(row, 0)] ?? [] { found[position].append(identifier) }
        }
        return found
    }
}
