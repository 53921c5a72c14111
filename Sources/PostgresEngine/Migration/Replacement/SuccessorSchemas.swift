import CoreDataModel
import Foundation
import MigrationPlans
import PostgresConnection
import StoreEngine

/// Schemas for the successors of a store, all of them created in one transaction.
final class SuccessorSchemas: SuccessorPlaces {
    private let place: StorePlace
    private let connection: PostgresConnection
    private let session: String
    private let store: URL
    private var made: Set<String> = []
    private var temporary: URL?

    init(_ place: StorePlace, _ connection: PostgresConnection, _ session: String, _ store: URL) {
        (self.place, self.connection, self.session, self.store) = (place, connection, session, store)
    }

    deinit { if let temporary { try? FileManager.default.removeItem(at: temporary) } }

    var folder: URL {
        if let temporary { return temporary }
        let made = FileManager.default.temporaryDirectory.appendingPathComponent(
            "pippin-migration-\(UUID().uuidString)", isDirectory: true)
        // A failure is reported by the code that writes there.
        try? FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
        temporary = made
        return made
    }

    func place(step: Int) throws -> URL {
        let schema = try freeName(step)
        try connection.execute("CREATE SCHEMA \(quotedName(schema))")
        made.insert(schema)
        return StorePlace.url(StorePlace.url(store, schema: schema), session: session)
    }

    /// A name that no schema has.
    private func freeName(_ step: Int) throws -> String {
        var number = 1
        while true {
            let name = SnakeCase.distinct(
                place.schema, ending: "_successor_\(step)" + (number == 1 ? "" : "_\(number)"))
            var parameters = PostgresParameters()
            parameters.append(name)
            if try connection.query("SELECT FROM pg_namespace WHERE nspname = $1", parameters).count == 0 {
                return name
            }
            number += 1
        }
    }

    func copy(_ store: URL, to place: URL) throws {
        // Only these places know the transaction; anything else is the store itself, whose options may say more than
        // its URL.
        let known = try StorePlace(place, nil)
        let former = (try? StorePlace(store, nil)).flatMap { $0.session == nil ? nil : $0 } ?? self.place
        try StoreDuplicate.make(of: former, at: known, from: connection, to: connection)
    }

    func remove(_ place: URL) throws {
        let place = try StorePlace(place, nil)
        try DatabaseOpening(place, connection).destroy()
        try drop(place.schema)
    }

    func removeAll() throws {
        for schema in made.sorted() {
            var parameters = PostgresParameters()
            parameters.append(schema)
            try connection.query("DELETE FROM pippin.stores WHERE schema_name = $1", parameters)
            try drop(schema)
        }
    }

    private func drop(_ schema: String) throws {
        guard made.remove(schema) != nil else { return }
        // The schema was made in this transaction, so nothing in it belongs to others.
        try connection.execute("DROP SCHEMA \(quotedName(schema)) CASCADE")
    }
}
