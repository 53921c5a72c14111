import CoreDataModel
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// The destinations of a to-many relationship for many objects, with a query for each batch of objects.
    ///
    /// - Returns: a list for each of the objects, in order if the relationship is ordered.
    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try run("read from") {
            if identifiers.count == 1 { return [try destinations(of: relationship, for: identifiers[0])] }
            var positions: [ObjectIdentifier: [Int]] = [:]
            for (position, identifier) in identifiers.enumerated() {
                positions[ObjectIdentifier(identifier.layout), default: []].append(position)
            }
            var found: [[NSManagedObjectID]] = Array(repeating: [], count: identifiers.count)
            for group in positions.values {
                guard let ends = try ends(of: relationship, from: identifiers[group[0]].layout) else { continue }
                for start in stride(from: 0, to: group.count, by: EntityAccess.batch) {
                    let part = group[start..<min(start + EntityAccess.batch, group.count)]
                    try read(ends, part.map { (identifiers[$0].key, $0) }, into: &found)
                }
            }
            return found
        }
    }

    struct Ends {
        let toMany: ToManyMapping
        let destination: EntityMapping
    }

    /// - Returns: `nil` if the relationship is not stored.
    /// - Throws: 134020 if its place in the store is unknown.
    func ends(of relationship: RelationshipLayout, from source: EntityLayout) throws -> Ends? {
        let mapping = try access(source).mapping
        try mapping.checkAvailable(relationship.name, "cannot be read", url: file.url)
        if let finding = schema.finding(of: relationship.destination) {
            throw finding.error("“\(mapping.layout.name).\(relationship.name)” cannot be read", url: file.url)
        }
        guard mapping.toManys.indices.contains(relationship.index), let toMany = mapping.toManys[relationship.index],
            let destination = schema.mapping(of: relationship.destination)
        else { return nil }
        return Ends(toMany: toMany, destination: destination)
    }

    private func destinations(
        of relationship: RelationshipLayout, for identifier: NSManagedObjectID
    ) throws -> [NSManagedObjectID] {
        guard let ends = try ends(of: relationship, from: identifier.layout) else { return [] }
        let statement = try connection.statement(RowSQL.targets(ends.toMany, destination: ends.destination).sqlite.text)
        defer { statement.reset() }
        try statement.bind(identifier.key, at: 1)
        var found: [NSManagedObjectID] = []
        while try statement.step() { found.append(self.identifier(statement, at: 0, of: ends.destination)) }
        return found
    }

    /// - Parameters:
    ///   - ends: the join table or the column to read.
    ///   - objects: the keys, and the positions of their lists.
    ///   - found: receives the IDs, list by list.
    /// - Throws: SQLite's errors.
    private func read(
        _ ends: Ends, _ objects: [(key: Int64, position: Int)], into found: inout [[NSManagedObjectID]]
    ) throws {
        // Unused parameters stay NULL, which equals nothing.
        let text = RowSQL.targets(ends.toMany, destination: ends.destination, count: EntityAccess.batch).sqlite.text
        let statement = try connection.statement(text)
        defer { statement.reset() }
        var positions: [Int64: [Int]] = [:]
        for (index, object) in objects.enumerated() {
            positions[object.key, default: []].append(object.position)
            try statement.bind(object.key, at: Int32(index + 1))
        }
        while try statement.step() {
            let identifier = identifier(statement, at: 1, of: ends.destination)
            for position in positions[statement.integer(at: 0)] ?? [] { found[position].append(identifier) }
        }
    }

    private func identifier(_ statement: Statement, at column: Int32, of mapping: EntityMapping) -> NSManagedObjectID {
        let layout =
            mapping.sharesTable ? entity(numbered: statement.integer(at: column + 1), kindOf: mapping.layout) : nil
        return NSManagedObjectID(
            layout: layout ?? mapping.layout, store: identity, key: statement.integer(at: column))
    }
}
