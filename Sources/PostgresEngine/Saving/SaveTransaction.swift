import CoreDataModel
import PostgresConnection
import StoreEngine

extension OpenDatabase {
    /// Runs a closure in a transaction that counts as a save, or in a part of the long one; rolled back if it throws.
    ///
    /// - Throws: `StructureChange`, `UnexpectedChange`, `SaveUndone`, and the errors of the closure.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        if longTransaction != nil { return try connection.part(body) }
        try beginSave()
        let result: Result
        do { result = try body() } catch {
            // The first error is the one to report.
            try? connection.rollback()
            throw error
        }
        try commitSave()
        return result
    }

    /// Begins a transaction that counts as a save, on another connection if this one turns out to be lost.
    func beginSave() throws {
        var losses = Losses(place.failover)
        while true {
            do {
                _ = try connection.pipeline(beginning())
                return
            } catch let error as PostgresError {
                try? connection.rollback()
                guard isServerLost(error), !isBoundToConnection else {
                    do { try explain(error) } catch let undone as SaveUndone {
                        _ = try losses.wait(after: undone)
                        continue
                    }
                }
                try reconnect(after: error, since: losses.wait(after: error))
            }
        }
    }

    /// Commits the transaction of a save.
    ///
    /// - Throws: as ``decidingSave(_:)``.
    func commitSave() throws {
        try decidingSave {
            let warnings = connection.warningCount
            do { try connection.commit() } catch {
                // The first error is the one to report.
                if connection.isUsable { try? connection.rollback() }
                throw error
            }
            return connection.warningCount == warnings
        }
    }

    /// Whether the last statements of a save and its `COMMIT` may be sent together. A lost connection then always
    /// leaves open whether the server has committed, so the server must be able to say so.
    var commitsAtOnce: Bool { longTransaction == nil && place.session == nil && writer != nil }

    /// Runs the commit of a save. If the connection is lost before the answer, whichever server is then the primary is
    /// asked for the outcome.
    ///
    /// - Parameter body: returns whether the answer can be relied on.
    /// - Throws: `SaveUndone` if nothing was committed; an error that says so if no server could be asked; the errors
    ///   of the closure.
    func decidingSave(_ body: () throws -> Bool) throws {
        var failure = PostgresError(state: "01000", message: "the server did not wait for its standbys")
        do {
            if try body() {
                saves.noteOwn()
                writer?.isKnown = true
                return notifyOwnProcess()
            }
        } catch let error as PostgresError
            where (error.isConnectionFailure || !connection.isUsable) && place.session == nil
        { failure = error }
        let (mark, start) = (writer?.mark, ContinuousClock.now)
        NSPostgreSQLMetricsReceiver.record(.serverLost(state: failure.state))
        let (verdict, latest) = try RecoveryRun.run(
            Recovery(.commit(hasMark: mark != nil), deadline: place.failover.deadline), from: failure, since: start,
            connect: connectAnew, ask: { try mark?.isSaved(in: place.schema, connection) })
        let elapsed = ContinuousClock.now - start
        switch verdict {
        case .saved, .undone:
            NSPostgreSQLMetricsReceiver.record(.saveDecided(isSaved: verdict == .saved, after: elapsed))
        case .undecided, .unreachable: NSPostgreSQLMetricsReceiver.record(.saveUndecided(after: elapsed))
        }
        switch verdict {
        case .saved:
            saves.noteOwn()
            notifyOwnProcess()
        case .undone: throw SaveUndone(cause: failure)
        case .undecided, .unreachable:
            notifyOwnProcess()
            writer?.renew()
            throw PostgresStoreError.uncertain(latest, place: place, mark)
        }
    }
}
