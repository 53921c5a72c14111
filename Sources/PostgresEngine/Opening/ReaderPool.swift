import Foundation
import PostgresConnection
import StoreEngine

/// Connections that read: those that are in use, and those that wait for the next who reads.
final class ReaderPool: @unchecked Sendable {
    // @unchecked Sendable: the lock guards the list; a connection in it is nobody's.
    private let lock = NSLock()
    private var idle: [PostgresConnection] = []
    private let place: StorePlace
    private let settings: StoreSettings
    private let isPooled: Bool

    init(_ place: StorePlace, _ settings: StoreSettings, isPooled: Bool) {
        (self.place, self.settings, self.isPooled) = (place, settings, isPooled)
    }

    /// A connection on which nothing is under way.
    func take() throws -> PostgresConnection {
        while let connection = lock.withLock({ idle.popLast() }) {
            if connection.isUsable { return connection }
        }
        return try DatabaseOpening.connect(place, settings, isPooled: isPooled)
    }

    /// A connection on which something waits to be undone; it is made to do so.
    func give(_ connection: PostgresConnection) {
        // What cannot be undone is not used again.
        guard (try? connection.rollback()) != nil, connection.isUsable, !connection.isInTransaction else { return }
        lock.withLock { if idle.count < settings.maximumReaders { idle.append(connection) } }
    }
}
