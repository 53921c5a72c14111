import CoreDataModel
import PostgresConnection
import SQLGeneration
import StoreEngine

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
