import CoreDataModel
import SQLGeneration
import SQLiteConnection
import StoreEngine

// Hands out the rows of many objects as they are read.
extension OpenStore {
    /// The rows of objects, with a query for each batch: `SELECT … FROM ZAUTHOR t0 WHERE t0.Z_PK IN (?, …)`.
    func forEachRow(
        for identifiers: [NSManagedObjectID], _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws {
        if identifiers.count == 1 {
            let access = try access(identifiers[0].layout)
            let statement = try access.selectStatement(on: connection)
            defer { statement.reset() }
            try statement.bind(identifiers[0].key, at: 1)
            return try access.reader.forEachRow(statement) { row, _ in try body(0, row) }
        }
        for group in groups(identifiers) {
            let access = try access(identifiers[group[0]].layout)
            for start in stride(from: 0, to: group.count, by: EntityAccess.batch) {
                let part = group[start..<min(start + EntityAccess.batch, group.count)]
                let statement = try connection.statement(access.selectManyText)
                defer { statement.reset() }
                let places = try bind(part, of: identifiers, to: statement)
                try access.reader.forEachRow(statement) { row, _ in
                    guard let place = places[statement.integer(at: 0)] else { return }
                    try body(place, row)
                }
            }
        }
    }

    /// The rows with one of some values in a slot, with a query for each batch: `SELECT … FROM ZAUTHOR t0 WHERE t0.ZUID
    /// IN (?, …)`.
    ///
    /// - Returns: false if the table has rows of other entities, or the values are in several columns: nothing is read
    ///   then.
    func forEachRow(
        of entity: EntityLayout, where slot: Int, isAmong values: [StoredValue], _ body: (any CurrentRow) throws -> Void
    ) throws -> Bool {
        let access = try access(entity)
        guard !access.mapping.sharesTable, access.mapping.unavailable.isEmpty,
            let column = access.mapping.columns[slot], !column.isComposite
        else { return false }
        let attribute = entity.slots[slot].attribute
        if values.count == 1 {
            let statement = try access.selectStatement(slot, column, on: connection)
            defer { statement.reset() }
            try statement.bind(try access.writer.encoded(values[0], column, attribute: attribute, files: nil), at: 1)
            try access.reader.forEachRow(statement) { row, _ in try body(row) }
            return true
        }
        let text = access.selectText(where: slot, column)
        for start in stride(from: 0, to: values.count, by: EntityAccess.batch) {
            let part = values[start..<min(start + EntityAccess.batch, values.count)]
            let statement = try connection.statement(text)
            defer { statement.reset() }
            for (index, value) in part.enumerated() {
                try statement.bind(
                    try access.writer.encoded(value, column, attribute: attribute, files: nil), at: Int32(index + 1))
            }
            try access.reader.forEachRow(statement) { row, _ in try body(row) }
        }
        return true
    }

    /// The rows at the end of a to-many relationship for many objects, with a query for each batch: `SELECT …,
    /// t0.ZORDER FROM ZLINE t0 WHERE t0.ZORDER IN (?, …) ORDER BY t0.ZORDER, …`.
    func forEachDestination(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws {
        if identifiers.count == 1 {
            guard let ends = try ends(of: relationship, from: identifiers[0].layout) else { return }
            let access = try access(ends.destination.layout)
            let statement = try access.selectStatement(of: relationship, ends.toMany, on: connection)
            defer { statement.reset() }
            try statement.bind(identifiers[0].key, at: 1)
            return try access.reader.forEachRow(statement) { row, _ in try body(0, row) }
        }
        for group in groups(identifiers) {
            guard let ends = try ends(of: relationship, from: identifiers[group[0]].layout) else { continue }
            let access = try access(ends.destination.layout)
            let source = Int32(access.shape.columns.count) + access.shape.firstColumn
            for start in stride(from: 0, to: group.count, by: EntityAccess.batch) {
                let part = group[start..<min(start + EntityAccess.batch, group.count)]
                let statement = try connection.statement(access.selectText(of: relationship, ends.toMany))
                defer { statement.reset() }
                let places = try bind(part, of: identifiers, to: statement)
                // The rows of one object are consecutive.
                var (key, place): (Int64, Int?) = (-1, nil)
                try access.reader.forEachRow(statement) { row, _ in
                    let next = statement.integer(at: source)
                    if next != key { (key, place) = (next, places[next]) }
                    if let place { try body(place, row) }
                }
            }
        }
    }

    /// The keys at the end of a to-many relationship for many objects, with a query for each batch: `SELECT
    /// t1.Z_1NOTES, t0.Z_PK FROM Z_1TAGS t1 JOIN ZTAG t0 ON t0.Z_PK = t1.Z_2TAGS WHERE t1.Z_1NOTES IN (?, …) ORDER BY
    /// t1.Z_1NOTES, …`.
    func forEachKey(
        atEndOf relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ key: Int64) -> Void
    ) throws {
        for group in groups(identifiers) {
            guard let ends = try ends(of: relationship, from: identifiers[group[0]].layout) else { continue }
            let text = RowSQL.targets(ends.toMany, destination: ends.destination, count: EntityAccess.batch).sqlite.text
            for start in stride(from: 0, to: group.count, by: EntityAccess.batch) {
                let part = group[start..<min(start + EntityAccess.batch, group.count)]
                let statement = try connection.statement(text)
                defer { statement.reset() }
                let places = try bind(part, of: identifiers, to: statement)
                var (key, place): (Int64, Int?) = (-1, nil)
                while try statement.step() {
                    let next = statement.integer(at: 0)
                    if next != key { (key, place) = (next, places[next]) }
                    if let place { body(place, statement.integer(at: 1)) }
                }
            }
        }
    }

    /// The positions of identifiers, grouped by entity.
    private func groups(_ identifiers: [NSManagedObjectID]) -> [[Int]] {
        var groups: [[Int]] = []
        var known: [ObjectIdentifier: Int] = [:]
        for (place, identifier) in identifiers.enumerated() {
            let layout = ObjectIdentifier(identifier.layout)
            if let group = known[layout] {
                groups[group].append(place)
            } else {
                known[layout] = groups.count
                groups.append([place])
            }
        }
        return groups
    }

    /// Binds the keys of some objects. Unused parameters stay NULL, which equals nothing.
    private func bind(
        _ part: ArraySlice<Int>, of identifiers: [NSManagedObjectID], to statement: Statement
    ) throws -> [Int64: Int] {
        var places: [Int64: Int] = [:]
        places.reserveCapacity(part.count)
        for (index, place) in part.enumerated() {
            places[identifiers[place].key] = place
            try statement.bind(identifiers[place].key, at: Int32(index + 1))
        }
        return places
    }
}
