import CoreDataModel
import Foundation
import PostgresConnection
import StoreEngine

/// Connections to the server that takes writes.
enum ServerSearch {
    /// Connects. The statements qualify all tables with their schemas, so that no other table can be mistaken for one
    /// of them.
    static func connect(
        _ place: StorePlace, _ settings: StoreSettings, isPooled: Bool, to target: ConnectionTarget? = nil
    ) throws -> PostgresConnection {
        let connection = try PostgresConnection(target ?? place.target, keepsStatements: !isPooled)
        if StatementLog.isOn { connection.statementLog = { StatementLog.write($0) } }
        if StoreMonitor.isOn {
            connection.statementReport = { sql, duration, rows, error in
                StoreMonitor.report(.statement(sql, duration, rows: rows, error: error))
            }
        }
        if let seconds = place.failover.answerTimeout { connection.watchAnswers(seconds: seconds) }
        // A pooler would pass settings made here on to others.
        guard !isPooled else { return connection }
        let limit = place.failover.statementTimeout.map { "; SET statement_timeout = \($0)" } ?? ""
        try connection.execute(
            "SET search_path = pg_catalog, pg_temp; SET client_min_messages = warning; \(settings.lockTimeout())\(limit)"
        )
        return connection
    }

    /// Connects when a store is opened: waits for a server if one of several may become the primary.
    static func connectWaiting(
        _ place: StorePlace, _ settings: StoreSettings, isPooled: Bool
    ) throws -> PostgresConnection {
        do { return try connect(place, settings, isPooled: isPooled) } catch let error as PostgresError {
            guard place.failover.waitsWhenOpening, error.isWorthLookingElsewhere else { throw error }
            var found: PostgresConnection?
            let (_, latest) = try RecoveryRun.run(
                Recovery(.none, deadline: place.failover.deadline), from: error, since: .now,
                connect: { found = try connect(place, settings, isPooled: isPooled) })
            guard let found else { throw latest }
            return found
        }
    }

    private static let timeline = """
        SELECT CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END
        """

    /// The timeline that a server writes; each promotion begins a new one.
    ///
    /// - Throws: an error with ``PostgresError/isOnStandby`` for a server that writes none.
    static func timeline(_ connection: PostgresConnection) throws -> String {
        let result = try connection.queryOnce(timeline)
        guard result.count == 1, !result.isNull(0, 0) else {
            throw PostgresError(state: "25006", message: "the server is a standby, which takes no writes")
        }
        return result.string(0, 0)
    }

    /// The same, refusing a former primary that has not noticed yet that it is one.
    static func timeline(_ connection: PostgresConnection, notBefore known: String) throws -> String {
        let found = try timeline(connection)
        guard found >= known else {
            throw PostgresError(
                state: "25006",
                message: "the server writes timeline \(found), and another one has written \(known) since")
        }
        return found
    }
}

extension NSPostgreSQLUndecidedSave {
    /// Asks whether the save was committed. A save that was not can no longer be committed later, so it can be done
    /// again.
    ///
    /// - Parameters:
    ///   - url: the store's URL.
    ///   - options: the store's options, such as how long to look for a server.
    /// - Returns: whether all of it is in the store; otherwise nothing of it is.
    /// - Throws: an `NSError` if no server can be asked, and for a save that is more than 15 days old, whose outcome
    ///   may no longer be known.
    public func wasSaved(at url: URL?, options: [AnyHashable: Any]? = nil) throws -> Bool {
        let place = try StorePlace(url, options)
        guard date.timeIntervalSinceNow > -Double(Self.daysKept) * 43200 else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation,
                "What became of a save to “\(place.name)” is not known any more: it is too old.", url: place.shownURL)
        }
        let mark = SaveMark(writer: writer, number: number)
        var connection: PostgresConnection?
        let (verdict, error) = try RecoveryRun.run(
            Recovery(.commit(hasMark: true), deadline: place.failover.deadline),
            from: PostgresError(state: PostgresError.connectionFailure, message: "the server gives no answer"),
            since: .now,
            connect: { connection = try ServerSearch.connect(place, StoreSettings(options), isPooled: true) },
            ask: { try connection.flatMap { try mark.isSaved(in: schema, $0) } })
        switch verdict {
        case .saved: return true
        case .undone: return false
        case .undecided, .unreachable:
            throw PostgresStoreError.make(
                error, fallback: CoreDataErrorCode.persistentStoreOperation, work: "ask of a save to", place: place)
        }
    }
}
