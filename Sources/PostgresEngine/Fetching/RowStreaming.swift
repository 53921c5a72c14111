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
