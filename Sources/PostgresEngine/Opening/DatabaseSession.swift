import CoreDataModel
import Foundation
import PostgresConnection
import StoreEngine
import Synchronization

/// A transaction in which several stores of a database are read and written: a store opened by the URL that the session
/// gives it works in that transaction.
package enum DatabaseSession {
    private struct Shared: @unchecked Sendable {
        // @unchecked Sendable: it is used by the thread that runs the session, or by threads that this one waits for.
        let connection: PostgresConnection
        init(_ connection: PostgresConnection) { self.connection = connection }
    }

    private static let connections = Mutex<[String: Shared]>([:])

    /// Runs a closure in a transaction on a connection of its own.
    ///
    /// - Parameters:
    ///   - place: the location of the database.
    ///   - settings: how long to wait for locks.
    ///   - isPooled: whether a pooler passes the connection on to other clients: then nothing stays prepared or set on
    ///     it.
    ///   - body: receives the connection, and the name of the session.
    /// - Returns: what the closure returns.
    /// - Throws: the errors of the closure; the database is then unchanged.
    package static func run<Result>(
        _ place: StorePlace, _ settings: StoreSettings, isPooled: Bool,
        _ body: (PostgresConnection, String) throws -> Result
    ) throws -> Result {
        if let session = place.session { return try body(connection(session, place), session) }
        let connection = try DatabaseOpening.connect(place, settings, isPooled: isPooled)
        let name = UUID().uuidString
        return try connection.wholeTransaction {
            if isPooled { try connection.execute(settings.lockTimeout(local: true)) }
            let shared = Shared(connection)
            connections.withLock { $0[name] = shared }
            defer { connections.withLock { $0[name] = nil } }
            return try body(connection, name)
        }
    }

    static func connection(_ session: String, _ place: StorePlace) throws -> PostgresConnection {
        if let shared = connections.withLock({ $0[session] }) { return shared.connection }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreOperation, "The transaction that “\(place.name)” was a part of has ended.",
            url: place.shownURL)
    }
}
