import CoreDataModel
import PostgresConnection
import SQLGeneration
import StoreEngine

// The rows of many objects, by one statement whatever their number, handed out as they lie in the result.
extension OpenDatabase {
    /// The rows of objects: `SELECT … FROM author t0 WHERE t0._id = ANY($1)`, one statement for each entity among them.
    func forEachRow(
        for identifiers: [NSManagedObjectID], _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws {
        // All are received before the first is handed out, so that all can be read again.
        let found = try Self.groups(identifiers).map { group -> ([Int], EntityAccess, PostgresResult) in
            let access = try access(identifiers[group[0]].layout)
            let result: PostgresResult = try reading("read from") {
                guard group.count > 1 else {
                    // The server makes one plan for any number of keys.
                    var parameters = PostgresParameters()
                    parameters.append(identifiers[group[0]].key)
                    return try connection.query(access.selectOneText, parameters)
                }
                return try query(access.selectText, keys: group.map { identifiers[$0].key })
            }
            return (group, access, result)
        }
        for (group, access, result) in found {
            var places: [Int64: Int] = [:]
            places.reserveCapacity(group.count)
            for place in group { places[identifiers[place].key] = place }
            try access.reader.forEachRow(result) { row, _ in
                if let place = places[row.key] { try body(place, row) }
            }
        }
    }

    /// The rows with one of the given values in a slot: `SELECT … FROM author t0 WHERE t0.uid = ANY($1)`.
    ///
    /// - Returns: false if the table has rows of other entities, or the column cannot hold such values: then nothing is
    ///   read.
    func forEachRow(
        of entity: EntityLayout, where slot: Int, isAmong values: [StoredValue], _ body: (any CurrentRow) throws -> Void
    ) throws -> Bool {
        let access = try access(entity)
        guard !access.mapping.sharesTable, let texts = access.selectTexts(where: slot),
            let place = access.writer.places.first(where: { $0.slot == slot })
        else { return false }
        // Held in a local: otherwise the writer would be copied for each value.
        let writer = access.writer
        var parameters = PostgresParameters()
        // No row has a value that cannot be stored.
        do {
            if values.count == 1 {
                var sink = ParameterSink(type: place.kind.type)
                try writer.write(values[0], place, to: &sink)
                parameters = sink.parameters
            } else {
                var array = PostgresArray(place.kind.type)
                for value in values { try writer.write(value, place, to: &array) }
                parameters.append(array)
            }
        } catch { return false }
        let text = values.count == 1 ? texts.one : texts.many
        let result: PostgresResult = try reading("read from") { try connection.query(text, parameters) }
        try access.reader.forEachRow(result) { row, _ in try body(row) }
        return true
    }

    /// The rows at the end of a to-many relationship for many objects: `SELECT …, t0.order_id FROM line t0 WHERE
    /// t0.order_id = ANY($1)`.
    func forEachDestination(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws {
        guard let source = schema.mapping(of: relationship.source), source.toManys.indices.contains(relationship.index),
            let toMany = source.toManys[relationship.index], !identifiers.isEmpty
        else { return }
        let access = try access(relationship.destination)
        let keys = identifiers.map(\.key)
        let result: PostgresResult = try reading("read from") { try query(access.selectText(of: toMany), keys: keys) }
        // After the row's columns come the owner's key and the place among the owner's rows.
        let owner = Int(access.shape.firstColumn) + access.shape.columns.count
        let order = result.columnCount > owner + 1 ? owner + 1 : nil
        try access.reader.forEachRow(result, OwnedRows(result, owner: owner, order: order, of: keys), body)
    }
}

extension OpenDatabase {
    /// The rows of objects in the given order: one query for each of their entities.
    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try reading("read from") { try readRows(identifiers) }
    }

    func readRows(_ identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        var found: [Row?] = Array(repeating: nil, count: identifiers.count)
        for group in Self.groups(identifiers) {
            let access = try access(identifiers[group[0]].layout)
            var positions: [Int64: [Int]] = [:]
            for position in group { positions[identifiers[position].key, default: []].append(position) }
            let result = try query(access.selectText, keys: group.map { identifiers[$0].key })
            for index in 0..<result.count {
                for position in positions[result.integer(index, 0)] ?? [] {
                    found[position] = try access.reader.row(result, index, identifier: identifiers[position])
                }
            }
        }
        return ContiguousArray(found.compactMap { $0 })
    }

    /// The row of one object.
    func row(for identifier: NSManagedObjectID) throws -> Row? {
        try reading("read from") {
            let access = try access(identifier.layout)
            var parameters = PostgresParameters()
            parameters.append(identifier.key)
            let result = try connection.query(access.selectOneText, parameters)
            return try result.count == 1 ? access.reader.row(result, 0, identifier: identifier) : nil
        }
    }

    /// The positions of identifiers, grouped by entity.
    static func groups(_ identifiers: [NSManagedObjectID]) -> [[Int]] {
        groups(identifiers.count) { identifiers[$0].layout }
    }

    /// The same for anything that has an entity.
    static func groups(_ count: Int, _ layout: (Int) -> EntityLayout) -> [[Int]] {
        var groups: [[Int]] = []
        var places: [ObjectIdentifier: Int] = [:]
        // Objects of one entity mostly follow one another.
        var latest: (layout: ObjectIdentifier, place: Int)?
        for position in 0..<count {
            let layout = ObjectIdentifier(layout(position))
            if let latest, latest.layout == layout {
                groups[latest.place].append(position)
                continue
            }
            let place = places[layout] ?? groups.count
            places[layout] = place
            if place == groups.count { groups.append([]) }
            groups[place].append(position)
            latest = (layout, place)
        }
        return groups
    }
}

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
