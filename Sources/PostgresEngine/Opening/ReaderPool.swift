import Foundation
import PostgresConnection
import StoreEngine

/// Connections that read: those in use, and idle ones for the next reader.
final class ReaderPool: @unchecked Sendable {
    // @unchecked Sendable: the lock guards the list; a connection in it has no owner.
    private let lock = NSLock()
    private var idle: [(connection: PostgresConnection, timeline: String)] = []
    private let place: StorePlace
    private let settings: StoreSettings
    private let isPooled: Bool

    init(_ place: StorePlace, _ settings: StoreSettings, isPooled: Bool) {
        (self.place, self.settings, self.isPooled) = (place, settings, isPooled)
    }

    /// A connection without a transaction.
    ///
    /// - Parameter timeline: the timeline that its server must have reached; empty if any will do.
    /// - Returns: the connection, and the timeline of its server.
    /// - Throws: the errors of connecting, and one for a server of a former timeline.
    func take(_ timeline: String) throws -> (connection: PostgresConnection, timeline: String) {
        while let found = lock.withLock({ idle.popLast() }) {
            found.connection.noticeEnd()
            if found.connection.isUsable, found.timeline >= timeline { return found }
        }
        let new = try DatabaseOpening.connect(place, settings, isPooled: isPooled)
        return (new, timeline.isEmpty ? "" : try ServerSearch.timeline(new, notBefore: timeline))
    }

    /// Takes back a connection, and rolls its transaction back.
    func give(_ connection: PostgresConnection, _ timeline: String) {
        // A connection that cannot be rolled back is not used again.
        guard (try? connection.rollback()) != nil, connection.isUsable, !connection.isInTransaction else { return }
        lock.withLock { if idle.count < settings.maximumReaders { idle.append((connection, timeline)) } }
    }

    /// Lets go of the idle connections, whose server was lost.
    func removeAll() { lock.withLock { idle.removeAll() } }
}
