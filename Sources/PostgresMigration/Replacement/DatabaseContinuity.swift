import CoreDataModel
import Foundation
import MigrationPlans
import PostgresConnection
import PostgresEngine
import SQLMigration
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
                for (source, name) in entities(of: mapping) {
                    try carryChanges(of: source, to: name, mapping, made, place, connection)
                }
            }
        } catch {
            throw PostgresStoreError.make(
                error, fallback: CoreDataErrorCode.migration, work: "carry the history into", place: place)
        }
    }

    /// The destination of each entity: the first one that a mapping names.
    private func entities(of mapping: ObjectMapping) -> [(source: String, destination: String)] {
        var known: Set<String> = []
        return (mapping.model.entityMappings ?? []).compactMap { mapping in
            guard let source = mapping.sourceEntityName, let destination = mapping.destinationEntityName,
                known.insert(source).inserted
            else { return nil }
            return (source, destination)
        }
    }

    /// Maps the changes to the migrated objects; those of removed objects keep their keys, which no new object has.
    private func carryChanges(
        of source: String, to name: String, _ mapping: ObjectMapping, _ made: DatabaseOpening.StoredStore,
        _ place: StorePlace, _ connection: PostgresConnection
    ) throws {
        guard let number = stored.numbers[source], let new = made.numbers[name],
            let former = try mapping.source.compiledLayout().entityByName[source],
            let layout = try mapping.destination.compiledLayout().entityByName[name]
        else { return }
        var (keys, successors): ([Int64], [Int64]) = ([], [])
        for pairs in mapping.pairs where pairs.source.layout.name == source && pairs.destination.layout.name == name {
            for index in 0..<pairs.count where pairs.sources.isFirst(index) {
                keys.append(pairs.sources.keys[index])
                successors.append(pairs.destinations.keys[index])
            }
        }
        var parameters = PostgresParameters()
        parameters.append(self.source.schema)
        parameters.append(place.schema)
        parameters.append(Int32(number))
        parameters.append(Int32(new))
        parameters.append(array: keys)
        parameters.append(array: successors)
        try connection.query(
            """
            INSERT INTO pippin.changes (schema_name, transaction_id, id, kind, entity, key, columns, tombstone) SELECT $2, c.transaction_id, \
            c.id, c.kind, $4, COALESCE(m.new, c.key), c.columns, c.tombstone FROM pippin.changes c LEFT JOIN unnest($5, $6) AS m(old, new) \
            ON m.old = c.key WHERE c.schema_name = $1 AND c.entity = $3
            """, parameters)
        let entityMapping = (mapping.model.entityMappings ?? []).first {
            $0.sourceEntityName == source && $0.destinationEntityName == name
        }
        try renewMasks(former, layout, entityMapping, Int32(new), place, connection)
    }

    private func renewMasks(
        _ former: EntityLayout, _ layout: EntityLayout, _ mapping: NSEntityMapping?, _ number: Int32,
        _ place: StorePlace, _ connection: PostgresConnection
    ) throws {
        let (before, now) = (HistoryProperties(former), HistoryProperties(layout))
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        parameters.append(number)
        let masks = try connection.query(
            "SELECT DISTINCT columns FROM pippin.changes WHERE schema_name = $1 AND entity = $2 AND columns IS NOT NULL",
            parameters)
        for row in 0..<masks.count {
            let mask = masks.data(row, 0)
            // A property of the same name is taken for the same one, as a mapping model says no more about it.
            let converted = HistoryMask.converted(mask, from: before, to: now) { before.names.contains($0) ? $0 : nil }
            guard converted != mask else { continue }
            var change = parameters
            change.append(mask)
            change.append(converted)
            try connection.query(
                "UPDATE pippin.changes SET columns = $4 WHERE schema_name = $1 AND entity = $2 AND columns = $3", change
            )
        }
    }
}
