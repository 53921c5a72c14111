import CoreDataModel
import Foundation
import PostgresConnection
import StoreEngine

/// Connections to standbys: the idle ones, and which server is asked next.
final class StandbyPool: @unchecked Sendable {
    // @unchecked Sendable: the lock guards what changes; a connection in a list has no owner.
    private let lock = NSLock()
    private var idle: [[PostgresConnection]]
    private var rotation: StandbyRotation
    private let targets: [ConnectionTarget]
    private let place: StorePlace
    private let settings: StoreSettings
    private let isPooled: Bool
    private let start = ContinuousClock.now
    /// How long a reading waits for a standby.
    private let patience: Duration

    init(_ place: StorePlace, _ settings: StoreSettings, isPooled: Bool, patience: Duration) {
        (self.place, self.settings, self.isPooled, self.patience) = (place, settings, isPooled, patience)
        targets = place.target.eachHost.map { host in
            var target = host
            target.settings["target_session_attrs"] = "any"
            return target
        }
        idle = Array(repeating: [], count: targets.count)
        rotation = StandbyRotation(
            count: targets.count, first: Int(ProcessInfo.processInfo.processIdentifier))
    }

    /// An idle connection to a standby that has everything that a token promises.
    ///
    /// - Parameter token: what must be seen.
    /// - Returns: nil if there is no standby, or none has it in time.
    func take(seeing token: NSPostgreSQLReadToken?) -> (connection: PostgresConnection, server: Int)? {
        let begin = ContinuousClock.now
        let end = begin + patience
        for server in lock.withLock({ rotation.candidates(at: ContinuousClock.now - start) }) {
            do {
                let connection = try connection(server)
                if try Self.waits(connection, token, until: end) {
                    note(.used, server)
                    NSPostgreSQLMetricsReceiver.record(.standbyRead(waited: ContinuousClock.now - begin))
                    return (connection, server)
                }
                give(connection, server)
                note(.lagged, server)
            } catch { note(.lost, server) }
        }
        NSPostgreSQLMetricsReceiver.record(.standbysPassedOver(waited: ContinuousClock.now - begin))
        return nil
    }

    private func connection(_ server: Int) throws -> PostgresConnection {
        while let connection = lock.withLock({ idle[server].popLast() }) {
            connection.noticeEnd()
            if connection.isUsable { return connection }
        }
        return try ServerSearch.connect(place, settings, isPooled: isPooled, to: targets[server])
    }

    /// Waits until a standby has everything that a token promises.
    ///
    /// - Returns: false if it does not have it in time.
    /// - Throws: the server's errors; an error for a server that is no standby.
    private static func waits(
        _ connection: PostgresConnection, _ token: NSPostgreSQLReadToken?, until end: ContinuousClock.Instant
    ) throws -> Bool {
        while true {
            let result = try connection.query(
                "SELECT pg_last_wal_replay_lsn()::text, pg_is_in_recovery()")
            guard result.count == 1, result.integer(0, 1) == 1 else {
                throw PostgresError(state: "25006", message: "the server is no standby")
            }
            guard let token else { return true }
            if let reached = NSPostgreSQLReadToken(text: result.string(0, 0)), reached >= token { return true }
            guard ContinuousClock.now < end else { return false }
            usleep(5000)
        }
    }

    private func note(_ outcome: StandbyRotation.Outcome, _ server: Int) {
        lock.withLock { rotation.note(outcome, of: server, at: ContinuousClock.now - start) }
    }

    /// Takes back a connection, and rolls its transaction back.
    func give(_ connection: PostgresConnection, _ server: Int) {
        guard (try? connection.rollback()) != nil, connection.isUsable, !connection.isInTransaction else {
            return note(.lost, server)
        }
        lock.withLock { if idle[server].count < settings.maximumReaders { idle[server].append(connection) } }
    }
}
