import CoreDataModel
import PostgresConnection
import StoreEngine

extension OpenDatabase {
    /// Whether the error means that the server is gone, or is no longer the primary.
    func isServerLost(_ error: PostgresError) -> Bool {
        error.isConnectionFailure || error.isOnStandby || !connection.isUsable
    }

    /// Whether the work cannot move to another connection: a transaction is open that cannot be begun again, or one
    /// state is read that no other connection has.
    var isBoundToConnection: Bool { longTransaction != nil || isPinned || place.session != nil }

    /// Runs work that only reads. It is run again if the connection turns out to be lost, unless rows were handed out
    /// already.
    func reading<Result>(
        _ work: String, fallback: Int = CoreDataErrorCode.persistentStoreOperation, _ body: () throws -> Result
    ) throws -> Result {
        try run(work, fallback: fallback) {
            var losses = Losses(place.failover)
            while true {
                do { return try checkingGeneration(body) } catch let error as PostgresError {
                    guard isServerLost(error), !isBoundToConnection, !locksOutWriters else { throw error }
                    try reconnect(after: error, since: losses.wait(after: error))
                }
            }
        }
    }

    /// Runs work whose statements are each sent together with the question for the store's generation, so that nothing
    /// that was read from a migrated or replaced store is used. In a transaction they are sent alone.
    private func checkingGeneration<Result>(_ body: () throws -> Result) throws -> Result {
        let connection = connection
        // Work within such work is checked with it.
        guard connection.companion == nil else { return try body() }
        connection.companion = generationRequest
        defer { connection.companion = nil }
        let result = try body()
        if let answer = connection.companionAnswer { try checkGeneration(answer) }
        return result
    }

    /// Makes a new connection if the old one is lost.
    func reconnectIfNeeded() throws {
        guard !connection.isUsable, !isBoundToConnection else { return }
        try reconnect(
            after: PostgresError(state: PostgresError.connectionFailure, message: "the connection was lost"),
            since: .now)
    }

    /// Makes a new connection, to whichever server takes writes by then.
    ///
    /// - Throws: the latest error if there is no such server in time.
    func reconnect(after error: PostgresError, since start: ContinuousClock.Instant) throws {
        let recovery = Recovery(.none, deadline: place.failover.deadline)
        NSPostgreSQLMetricsReceiver.record(.serverLost(state: error.state))
        let (verdict, latest) = try RecoveryRun.run(recovery, from: error, since: start, connect: connectAnew)
        let elapsed = ContinuousClock.now - start
        guard verdict == .undone else {
            NSPostgreSQLMetricsReceiver.record(.serverNotFound(after: elapsed))
            throw latest
        }
        NSPostgreSQLMetricsReceiver.record(.serverFound(after: elapsed))
    }

    /// Makes a new connection, and refuses a former primary that has not noticed yet that it is one.
    func connectAnew() throws {
        let new = try DatabaseOpening.connect(place, settings, isPooled: isPooled)
        if place.failover.waitsWhenOpening, !isReadOnly {
            timeline = try ServerSearch.timeline(new, notBefore: timeline)
        }
        connection = new
        keys.removeAll()
        locksOutWriters = false
    }
}
