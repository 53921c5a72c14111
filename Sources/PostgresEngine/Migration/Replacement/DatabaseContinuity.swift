import CoreDataModel
import Foundation
import MigrationPlans
import PostgresConnection
import SQLGeneration
import StoreEngine

/// Carries over what makes a store the same one after an object-by-object migration: its UUID, keys that are never
/// reused, and its history.
struct DatabaseContinuity: StoreContinuity {
    let greatestKey: Int64
    private let source: StorePlace
    private let stored: DatabaseOpening.StoredStore

    init(_ opening: DatabaseOpening, _ url: URL, _ options: [AnyHashable: Any]?) throws {
        source = opening.place
        guard let stored = try opening.stored() else { throw PostgresFormat.missing(opening.place) }
        self.stored = stored
        var parameters = PostgresParameters()
        parameters.append(opening.place.schema)
        let keys = try opening.connection.query(
            """
            SELECT COALESCE(max(pg_sequence_last_value(s.seqrelid::regclass) + s.seqincrement - 1), 0) FROM (SELECT DISTINCT schema_name, table_name FROM pippin.entities \
            WHERE schema_name = $1) e JOIN pg_sequence s ON s.seqrelid = \
            pg_get_serial_sequence(format('%I.%I', e.schema_name, e.table_name), '\(ColumnName.key)')::regclass
            """, parameters)
        greatestKey = keys.integer(0, 0)
    }

    func options(_ options: [AnyHashable: Any]) -> [AnyHashable: Any] { options }

    func carry(to place: URL, _ mapping: ObjectMapping) throws {
        let place = try StorePlace(place, nil)
        let connection = try DatabaseOpening(place, StoreSettings(nil), isPooled: false).connection
        let opening = DatabaseOpening(place, connection)
        guard let made = try opening.stored() else { throw PostgresFormat.missing(place) }
        do {
            try connection.transaction {
                var parameters = PostgresParameters()
                parameters.append(source.schema)
                parameters.append(place.schema)
                try connection.query(
                    """
                    UPDATE pippin.stores n SET uuid = s.uuid, keeps_history = s.keeps_history, latest = s.latest, \
                    latest_change = s.latest_change FROM pippin.stores s WHERE s.schema_name = $1 AND n.schema_name = $2
                    """, parameters)
                let transactions = "id, date, author, context_name, bundle_id, process_id"
                try connection.query(
                    "INSERT INTO pippin.transactions (schema_name, \(transactions)) SELECT $2, \(transactions) FROM pippin.transactions "
                        + "WHERE schema_name = $1", parameters)
                for changes in try EntityChanges.all(of: mapping, numbered: stored.numbers, numbered: made.numbers) {
                    try carry(changes, to: place, connection)
                }
            }
        } catch {
            throw PostgresStoreError.make(
                error, fallback: CoreDataErrorCode.migration, work: "carry the history into", place: place)
        }
    }

    /// Maps the changes to the migrated objects; those of removed objects keep their keys, which no new object has.
    private func carry(_ changes: EntityChanges, to place: StorePlace, _ connection: PostgresConnection) throws {
        var of = PostgresParameters()
        of.append(source.schema)
        of.append(Int32(changes.number))
        let found = try connection.query(
            "SELECT DISTINCT columns FROM pippin.changes WHERE schema_name = $1 AND entity = $2 AND columns IS NOT NULL",
            of)
        var parameters = PostgresParameters()
        parameters.append(source.schema)
        parameters.append(place.schema)
        parameters.append(Int32(changes.number))
        parameters.append(Int32(changes.usual.number))
        changes.appendObjects(to: &parameters)
        changes.appendMasks((0..<found.count).map { found.data($0, 0) }, to: &parameters)
        try connection.query(
            """
            INSERT INTO pippin.changes (schema_name, transaction_id, id, kind, entity, key, columns, tombstone) SELECT $2, c.transaction_id, \
            c.id, c.kind, COALESCE(m.entity, $4), COALESCE(m.new, c.key), CASE WHEN x.old IS NULL THEN c.columns ELSE x.new END, \
            c.tombstone FROM pippin.changes c LEFT JOIN unnest($5, $6, $7) AS m(old, new, entity) ON m.old = c.key \
            LEFT JOIN unnest($8, $9, $10) AS x(entity, old, new) ON x.entity = COALESCE(m.entity, $4) AND x.old = c.columns \
            WHERE c.schema_name = $1 AND c.entity = $3
            """, parameters)
        guard !HistoryProperties(changes.layout).preservedSlots.isEmpty else { return }
        // Deleted objects became nothing, so that they are of the usual entity.
        try Tombstones.carry(changes.number, by: changes.usual.sources, from: source, to: place, connection)
    }
}

// What becomes of the history's changes, as parameters of the statement that copies them.
extension EntityChanges {
    /// Appends the keys of objects, and the keys and entities of what they became; of several, the first.
    func appendObjects(to parameters: inout PostgresParameters) {
        var (keys, new, entities): ([Int64], [Int64], [Int32]) = ([], [], [])
        var known: Set<Int64> = []
        for list in pairs {
            guard let successor = successors[list.destination.layout.name] else { continue }
            for index in 0..<list.count where list.sources.isFirst(index) {
                let key = list.sources.keys[index]
                guard pairs.count == 1 || known.insert(key).inserted else { continue }
                keys.append(key)
                new.append(list.destinations.keys[index])
                entities.append(Int32(successor.number))
            }
        }
        parameters.append(array: keys)
        parameters.append(array: new)
        parameters.append(array: entities)
    }

    /// Appends the entities, and their masks of changed properties before and after, as far as they differ.
    func appendMasks(_ masks: [Data], to parameters: inout PostgresParameters) {
        var (entities, old): ([Int32], [Data]) = ([], [])
        var new = PostgresArray(Data.type)
        for successor in successors.values {
            let converted = self.masks(for: successor)
            for mask in masks {
                let now = converted(mask)
                guard now != mask else { continue }
                entities.append(Int32(successor.number))
                old.append(mask)
                if let now { new.append(now) } else { new.appendNull() }
            }
        }
        parameters.append(array: entities)
        parameters.append(array: old)
        parameters.append(new)
    }
}
