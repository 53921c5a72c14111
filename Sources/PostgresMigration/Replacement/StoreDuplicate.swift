import CoreDataModel
import Foundation
import PostgresConnection
import PostgresEngine
import SQLGeneration
import StoreEngine

/// A copy of a store in another schema of the same database.
enum StoreDuplicate {
    /// - Throws: the server's errors, and an `NSError` where there is no store to copy, or one in the other place.
    static func make(of source: StorePlace, at place: StorePlace, in connection: PostgresConnection) throws {
        let opening = DatabaseOpening(source, connection)
        guard let stored = try opening.stored(), let model = try opening.cachedModel() else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOpen, "There is no store in “\(source.name)”, or none with a model.",
                url: source.shownURL)
        }
        let hashes = StoreMetadata.hashes(in: stored.metadata)
        func schema(_ place: StorePlace) throws -> SQLSchema {
            SQLSchema(
                layout: try model.compiledLayout(), entityNames: hashes.isEmpty ? nil : Set(hashes.keys),
                numbers: stored.numbers, naming: PostgresNaming.names(in: place.schema))
        }
        let former = try schema(source)
        let target = DatabaseOpening(place, connection)
        _ = try target.create(schema(place), model: model, metadata: stored.metadata)
        for table in TableCreation(former).tables {
            let old = quotedName(table.table)
            let name = QualifiedName.name(table.table)
            let new = quotedName(QualifiedName.make(schema: place.schema, name: name))
            let columns = try self.columns(name, place, connection).map(quotedName).joined(separator: ", ")
            try connection.execute("INSERT INTO \(new) (\(columns)) SELECT \(columns) FROM \(old)")
            guard table.references.isEmpty else { continue }
            let sequence = "pg_get_serial_sequence(\(quotedText(new)), '\(ColumnName.key)')::regclass"
            let latest = "pg_sequence_last_value(pg_get_serial_sequence(\(quotedText(old)), '\(ColumnName.key)')::regclass)"
            try connection.execute(
                "SELECT setval(\(sequence), k) FROM (SELECT \(latest) AS k) c WHERE k IS NOT NULL")
        }
        try carryHistory(from: source, to: place, connection)
    }

    private static func columns(
        _ table: String, _ place: StorePlace, _ connection: PostgresConnection
    ) throws -> [String] {
        var parameters = PostgresParameters()
        parameters.append(quotedName(QualifiedName.make(schema: place.schema, name: table)))
        let result = try connection.query(
            "SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            parameters)
        return (0..<result.count).map { result.string($0, 0) }
    }

    private static func carryHistory(
        from source: StorePlace, to place: StorePlace, _ connection: PostgresConnection
    ) throws {
        var parameters = PostgresParameters()
        parameters.append(source.schema)
        parameters.append(place.schema)
        let transactions = "id, date, author, context_name, bundle_id, process_id"
        let changes = "transaction_id, id, kind, entity, key, columns, tombstone"
        for statement in [
            """
            UPDATE pippin.stores n SET uuid = s.uuid, keeps_history = s.keeps_history, latest = s.latest, latest_change = s.latest_change \
            FROM pippin.stores s WHERE s.schema_name = $1 AND n.schema_name = $2
            """,
            "INSERT INTO pippin.transactions (schema_name, \(transactions)) SELECT $2, \(transactions) FROM pippin.transactions WHERE schema_name = $1",
            "INSERT INTO pippin.changes (schema_name, \(changes)) SELECT $2, \(changes) FROM pippin.changes WHERE schema_name = $1",
        ] { try connection.query(statement, parameters) }
    }
}
