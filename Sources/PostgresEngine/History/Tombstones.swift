import CoreDataModel
import Foundation
import ModelFiles
import PostgresConnection
import StoreEngine

/// The tombstones of deleted objects in the history, as bytes: a property list of values by property. Pure.
package enum Tombstones {
    /// - Returns: nil if the object leaves no values.
    static func data(_ row: Row, _ properties: HistoryProperties) -> Data? {
        var list: [String: Any] = [:]
        for slot in properties.preservedSlots {
            let layout = row.objectID.layout.slots[slot]
            if let attribute = layout.attribute { list[layout.name] = KeptValues.plain(row.values[slot], attribute) }
        }
        return try? PropertyList(foundationObject: list).binaryData()
    }

    /// - Returns: nil if the entity keeps no values.
    static func values(_ data: Data?, _ entity: EntityLayout, _ properties: HistoryProperties) -> [String: StoredValue]?
    {
        guard !properties.preservedSlots.isEmpty else { return nil }
        let list = data.flatMap { try? PropertyList.foundationObject(of: $0) }
        var values: [String: StoredValue] = [:]
        for (name, value) in list as? [String: Any] ?? [:] {
            guard let slot = entity.slotIndex(forName: name), let attribute = entity.slots[slot].attribute else {
                continue
            }
            values[name] = KeptValues.stored(value, attribute)
        }
        return values
    }
}

extension Tombstones {
    /// Renames the attributes in the tombstones of deleted objects.
    ///
    /// - Parameters:
    ///   - names: the new names by the old ones, by the numbers of the entities.
    ///   - place: the store.
    ///   - connection: the connection.
    /// - Throws: the server's errors.
    package static func rename(
        _ names: [Int: [String: String]], of place: StorePlace, _ connection: PostgresConnection
    ) throws {
        guard !names.isEmpty else { return }
        try convert(names.keys.sorted(), of: place, in: place, connection) { entity, list in
            renamed(list, names[entity] ?? [:])
        }
    }

    /// The entities of which the history keeps values of deleted objects: `SELECT DISTINCT entity FROM pippin.changes
    /// WHERE schema_name = $1 AND entity IN (3, 4) AND tombstone IS NOT NULL ORDER BY entity`.
    ///
    /// - Parameters:
    ///   - entities: the numbers of the entities in question. Without any, the history is not read.
    ///   - place: the store.
    ///   - connection: the connection.
    /// - Returns: the numbers of those with such values, in order.
    /// - Throws: the server's errors.
    package static func kept(
        among entities: [Int], of place: StorePlace, _ connection: PostgresConnection
    ) throws -> [Int] {
        guard !entities.isEmpty else { return [] }
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        let list = entities.map(String.init).joined(separator: ", ")
        let result = try connection.query(
            "SELECT DISTINCT entity FROM pippin.changes WHERE schema_name = $1 AND entity IN (\(list)) "
                + "AND tombstone IS NOT NULL ORDER BY entity", parameters)
        return (0..<result.count).map { Int(result.integer($0, 0)) }
    }

    /// The values by their new names. The value of an attribute that is gone does not stay where another one has got
    /// its name.
    static func renamed(_ list: [String: Any], _ names: [String: String]) -> [String: Any]? {
        guard list.contains(where: { names[$0.key] != nil }) else { return nil }
        let taken = Set(names.values)
        let others = list.filter { names[$0.key] == nil && !taken.contains($0.key) }
        return others.merging(list.compactMap { name, value in names[name].map { ($0, value) } }) { $1 }
    }

    /// Gives the tombstones of an entity's deleted objects, which another store has taken over, the attributes of
    /// another version.
    ///
    /// - Parameters:
    ///   - entity: the number of the entity in the former store.
    ///   - sources: the names in the former version, by the new ones.
    ///   - former: the former store, whose history the other one has.
    ///   - place: the other store.
    ///   - connection: the connection.
    /// - Throws: the server's errors.
    package static func carry(
        _ entity: Int, by sources: [String: String], from former: StorePlace, to place: StorePlace,
        _ connection: PostgresConnection
    ) throws {
        try convert([entity], of: former, in: place, connection) { _, list in
            let carried = sources.compactMapValues { list[$0] }
            return list.keys.allSatisfy { sources[$0] == $0 } && carried.count == list.count ? nil : carried
        }
    }

    /// Converts the tombstones of entities.
    ///
    /// - Parameters:
    ///   - entities: the numbers of the entities.
    ///   - former: the store from which the tombstones are read.
    ///   - place: the store in which the same changes get the converted ones.
    ///   - connection: the connection.
    ///   - convert: gives the values of an object of an entity; `nil` if they stay.
    /// - Throws: the server's errors.
    private static func convert(
        _ entities: [Int], of former: StorePlace, in place: StorePlace, _ connection: PostgresConnection,
        _ convert: (Int, [String: Any]) -> [String: Any]?
    ) throws {
        var parameters = PostgresParameters()
        parameters.append(former.schema)
        parameters.append(array: entities.map { Int32($0) })
        let found = try connection.query(
            "SELECT transaction_id, id, entity, tombstone FROM pippin.changes WHERE schema_name = $1 AND entity = ANY($2) "
                + "AND tombstone IS NOT NULL", parameters)
        var (transactions, changes): ([Int64], [Int64]) = ([], [])
        var tombstones = PostgresArray(.bytes)
        for row in 0..<found.count {
            let data = found.data(row, 3)
            guard
                let list = try? PropertyList.foundationObject(of: data) as? [String: Any],
                let new = convert(Int(found.integer(row, 2)), list),
                let bytes = try? PropertyList(foundationObject: new).binaryData()
            else { continue }
            transactions.append(found.integer(row, 0))
            changes.append(found.integer(row, 1))
            tombstones.append(bytes)
        }
        guard !changes.isEmpty else { return }
        var converted = PostgresParameters()
        converted.append(place.schema)
        converted.append(array: transactions)
        converted.append(array: changes)
        converted.append(tombstones)
        try connection.query(
            "UPDATE pippin.changes c SET tombstone = u.tombstone FROM unnest($2, $3, $4) AS u(transaction_id, id, tombstone) "
                + "WHERE c.schema_name = $1 AND c.transaction_id = u.transaction_id AND c.id = u.id", converted)
    }
}
