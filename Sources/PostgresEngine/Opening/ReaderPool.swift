import Foundation
import PostgresConnection
import StoreEngine

/// Connections that read: those in use, and idle ones for the next reader.
final class ReaderPool: @unchecked Sendable {
    // @unchecked Sendable: the lock guards the list; a connection in it has no owner.
    private let lock = NSLock()
    private var idle: [PostgresConnection] = []
    private let place: StorePlace
    private let settings: StoreSettings
    private let isPooled: Bool

    init(_ place: StorePlace, _ settings: StoreSettings, isPooled: Bool) {
        (self.place, self.settings, self.isPooled) = (place, settings, isPooled)
    }

    /// A connection without a transaction.
    func take() throws -> PostgresConnection {
        while let connection = lock.withLock({ idle.popLast() }) {
            if connection.isUsable { return connection }
        }
        return try DatabaseOpening.connect(place, settings, isPooled: isPooled)
    }

    /// Takes back a connection, and rolls its transaction back.
    func give(_ connection: PostgresConnection) {
        // A connection that cannot be rolled back is not used again.
        guard (try? connection.rollback()) != nil, connection.isUsable, !connection.isInTransaction else { return }
        lock.withLock { if idle.count < settings.maximumReaders { idle.append(connection) } }
    }
}
