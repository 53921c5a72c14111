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
                    StoreMonitor.report(.wait(ContinuousClock.now - begin))
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
    /// - Throws: the server's errors; an error for a server that is not a standby.
    private static func waits(
        _ connection: PostgresConnection, _ token: NSPostgreSQLReadToken?, until end: ContinuousClock.Instant
    ) throws -> Bool {
        while true {
            let result = try connection.query(
                "SELECT pg_last_wal_replay_lsn()::text, pg_is_in_recovery()")
            guard result.count == 1, result.integer(0, 1) == 1 else {
                throw PostgresError(state: "25006", message: "the server is not a standby")
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

/// A promise: a reading with it sees at least what had been saved when it was made, on whichever server.
///
/// ```swift
/// try context.save()
/// let token = try coordinator.postgreSQLReadToken()       // into a cookie, say
/// // in another process:
/// try coordinator.require(token)                          // what is pinned after this sees the save
/// ```
public struct NSPostgreSQLReadToken: Codable, Hashable, Comparable, Sendable {
    /// A position in the server's log: everything written before it is seen.
    let position: UInt64

    init(position: UInt64) { self.position = position }

    /// A position as PostgreSQL writes it: `16/B374D848`.
    init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let high = UInt32(parts[0], radix: 16), let low = UInt32(parts[1], radix: 16) else {
            return nil
        }
        position = UInt64(high) << 32 | UInt64(low)
    }

    /// The position as PostgreSQL reads it.
    var text: String {
        "\(String(position >> 32, radix: 16, uppercase: true))/\(String(position & 0xFFFF_FFFF, radix: 16, uppercase: true))"
    }

    /// Whether one promise is smaller than another one, which then includes it.
    ///
    /// - Parameters:
    ///   - first: a promise.
    ///   - second: another one of the same cluster.
    /// - Returns: whether the second one promises more.
    public static func < (first: Self, second: Self) -> Bool { first.position < second.position }

    /// Reads a token as it is kept.
    ///
    /// - Parameter decoder: what holds the token.
    /// - Throws: an error for a text that is not a token.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let token = Self(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no place in a log")
        }
        self = token
    }

    /// Writes the token: a short text.
    ///
    /// - Parameter encoder: what takes the token.
    /// - Throws: the encoder's errors.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
