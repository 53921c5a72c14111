import CoreDataModel
import Foundation
import PostgresConnection
import StoreEngine

/// Stores in PostgreSQL databases.
package enum PostgresFormat: StoreFormat {
    package static let type = "PostgreSQL"

    package static func makeEngine(_ facts: StoreFacts) -> any OpenableEngine { PostgresEngine(facts) }

    package static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
        try working(url, options, "read the metadata of") { opening in
            guard let stored = try opening.stored() else { throw missing(opening.place) }
            return stored.metadata
        }
    }

    package static func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        try working(url, options, "write the metadata of") { opening in
            guard try opening.stored() != nil else { throw missing(opening.place) }
            try opening.connection.transaction {
                try MetadataWriting.write(metadata ?? [:], opening.place, opening.connection)
            }
        }
    }

    /// Removes a store's tables, and its entries in the bookkeeping tables. Other tables of its schema stay.
    package static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        try working(url, options, "destroy") { try $0.destroy() }
    }

    package static func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws {
        try replace(at: destination, from: source, options: options, sourceOptions: nil)
    }

    package static func replace(
        at destination: URL, from source: URL, options: [AnyHashable: Any]?, sourceOptions: [AnyHashable: Any]?
    ) throws {
        let (place, original) = (try StorePlace(destination, options), try StorePlace(source, sourceOptions))
        guard
            place.session != nil || original.target.description != place.target.description
                || original.schema != place.schema
        else { return }
        do {
            try DatabaseSession.run(place, StoreSettings(options), isPooled: isPooled(options)) { connection, _ in
                let opening = DatabaseOpening(place, connection)
                try opening.lock()
                try connection.execute(OpenDatabase.lockAlone(place))
                let grants = try opening.stored() == nil ? nil : TableGrants(place, connection)
                try opening.destroy(cascades: false)
                if original.session != nil || original.target.description == place.target.description {
                    try StoreDuplicate.make(of: original, at: place, from: connection, to: connection)
                } else {
                    let reader = try DatabaseOpening.connect(
                        original, StoreSettings(nil), isPooled: isPooled(options) || isPooled(sourceOptions))
                    let isThere = try DatabaseOpening(original, reader).stored() != nil
                    var locks = TableLocks(
                        isThere ? try TableGrants.tables(original, reader) : [], of: original, StoreSettings(options))
                    _ = try locks.begin(reader, [])
                    defer { try? reader.rollback() }
                    try StoreDuplicate.make(of: original, at: place, from: reader, to: connection)
                }
                for table in try TableGrants.tables(place, connection) { try grants?.grant(on: table) }
                try connection.execute(
                    "SELECT pg_notify('\(Bookkeeping.schema)', \(quotedText(place.schema)))")
            }
        } catch {
            throw PostgresStoreError.make(
                error, fallback: CoreDataErrorCode.persistentStoreOperation, work: "replace", place: place)
        }
    }

    /// Whether the options say that there is a connection pooler between the program and the server.
    package static func isPooled(_ options: [AnyHashable: Any]?) -> Bool {
        StoreSettings.flag(options, NSPostgreSQLPooledOption)
    }

    package static func missing(_ place: StorePlace) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreOpen, "There is no store in “\(place.name)”.", url: place.shownURL)
    }

    package static func working<Result>(
        _ url: URL, _ options: [AnyHashable: Any]?, _ work: String, _ body: (DatabaseOpening) throws -> Result
    ) throws -> Result {
        let place = try StorePlace(url, options)
        do {
            return try body(
                DatabaseOpening(place, StoreSettings(options), isPooled: isPooled(options)))
        } catch {
            throw PostgresStoreError.make(
                error, fallback: CoreDataErrorCode.persistentStoreOperation, work: work, place: place)
        }
    }
}
