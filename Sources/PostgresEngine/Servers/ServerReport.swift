import CoreDataModel
import Foundation
import PostgresConnection
import StoreEngine

/// Reports of the servers that a store names, for people.
package enum ServerReport {
    /// One server.
    package struct Server: Equatable {
        package let host: String
        package var isReachable = false
        package var isStandby = false
        /// The position in the log up to which it has written, or replayed.
        package var position = ""
        /// The age of the last transaction that a standby has, in seconds since its commit.
        package var lag: Double?
        package var connections: Int64 = 0
        package var mostConnections: Int64 = 0
        /// Why the server is not reachable.
        package var reason = ""

        package init(host: String) { self.host = host }

        package var line: String {
            guard isReachable else { return "\(host): not reachable (\(reason))" }
            let behind = lag.map { String(format: ", last transaction %.1f s ago", $0) } ?? ""
            return
                "\(host): \(isStandby ? "standby" : "primary"), at \(position)\(behind), \(connections) of \(mostConnections) connections"
        }
    }

    /// Asks each server that a store's URL or connection string names.
    ///
    /// - Parameter url: the store's URL.
    /// - Returns: the servers in the order in which they are named, each with the activity of its connections and
    ///   PgBouncer's report about its pools, then the primary's report about its standbys, and the slowest statements
    ///   if `pg_stat_statements` is there.
    /// - Throws: an `NSError` for a URL that does not name a PostgreSQL database.
    package static func lines(of url: URL) throws -> [String] {
        let place = try StorePlace(url, [NSReadOnlyPersistentStoreOption: true])
        var lines: [String] = []
        for target in place.target.eachHost {
            var host = target
            host.settings["target_session_attrs"] = "any"
            if !target.names("connect_timeout") { host.settings["connect_timeout"] = "2" }
            var server = Server(host: Self.name(of: target))
            do {
                let connection = try PostgresConnection(host, keepsStatements: false)
                try describe(&server, connection)
                lines.append(server.line)
                lines.append(try ConnectionReport.activity(connection))
                lines += ConnectionReport.pools(host)
                if !server.isStandby { lines += try details(connection) }
            } catch let error as PostgresError {
                server.reason = error.message
                lines.append(server.line)
            }
        }
        return lines
    }

    private static func name(of target: ConnectionTarget) -> String {
        let parsed = (try? target.parsed()) ?? [:]
        let host =
            target.settings["host"] ?? parsed["host"] ?? target.settings["hostaddr"] ?? parsed["hostaddr"] ?? "local"
        return (target.settings["port"] ?? parsed["port"]).map { "\(host):\($0)" } ?? host
    }

    private static func describe(_ server: inout Server, _ connection: PostgresConnection) throws {
        let result = try connection.queryOnce(
            """
            SELECT pg_is_in_recovery(), CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END::text, \
            extract(epoch FROM now() - pg_last_xact_replay_timestamp())::float8, \
            (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'), \
            current_setting('max_connections')::bigint, pg_is_in_recovery()
            """)
        server.isReachable = true
        server.isStandby = result.integer(0, 0) == 1
        server.position = result.string(0, 1)
        if server.isStandby, !result.isNull(0, 2) { server.lag = result.double(0, 2) }
        (server.connections, server.mostConnections) = (result.integer(0, 3), result.integer(0, 4))
    }

    /// The primary's report: which standbys copy from it, and which statements take most time.
    private static func details(_ connection: PostgresConnection) throws -> [String] {
        var lines: [String] = []
        let standbys = try connection.queryOnce(
            """
            SELECT application_name, coalesce(state, '?'), coalesce(sync_state, '?'), \
            coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::bigint FROM pg_stat_replication ORDER BY 1
            """)
        for row in 0..<standbys.count {
            lines.append(
                "  copied by \(standbys.string(row, 0)): \(standbys.string(row, 1)), \(standbys.string(row, 2)), "
                    + "\(standbys.integer(row, 3)) bytes behind")
        }
        // Nothing is reported if the extension is not loaded, or the role may not read it.
        let slow = try? connection.queryOnce(
            """
            SELECT round(mean_exec_time::numeric, 2)::text, calls, left(regexp_replace(query, '\\s+', ' ', 'g'), 100) \
            FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) \
            ORDER BY total_exec_time DESC LIMIT 5
            """)
        for row in 0..<(slow?.count ?? 0) {
            guard let slow else { break }
            lines.append("  \(slow.string(row, 0)) ms × \(slow.integer(row, 1)): \(slow.string(row, 2))")
        }
        return lines
    }
}

/// Reports of servers and poolers about their connections, for people.
enum ConnectionReport {
    /// What a server's clients do: how many work, wait, or hold a transaction open. A role without administrator rights
    /// sees only its own connections.
    ///
    /// - Parameter connection: a connection to the server.
    /// - Returns: one line.
    /// - Throws: the server's errors.
    static func activity(_ connection: PostgresConnection) throws -> String {
        let result = try connection.queryOnce(
            """
            SELECT count(*) FILTER (WHERE state = 'active'), count(*) FILTER (WHERE state = 'idle'), \
            count(*) FILTER (WHERE state LIKE 'idle in transaction%'), count(*) FILTER (WHERE wait_event_type = 'Lock'), \
            coalesce(max(extract(epoch FROM now() - xact_start)) FILTER (WHERE pid <> pg_backend_pid()), 0)::float8 \
            FROM pg_stat_activity WHERE backend_type = 'client backend'
            """)
        let longest = (result.double(0, 4) * 10).rounded() / 10
        return
            "  connections: \(result.integer(0, 0)) working, \(result.integer(0, 3)) of them waiting for a lock, "
            + "\(result.integer(0, 2)) idle in a transaction, \(result.integer(0, 1)) idle; longest transaction \(longest) s"
    }

    /// PgBouncer's report about its pools, if the target leads to one and the role may ask it.
    ///
    /// - Parameter target: the location of the store's server.
    /// - Returns: a line for each pool; empty without PgBouncer.
    static func pools(_ target: ConnectionTarget) -> [String] {
        var console = target
        console.settings["dbname"] = "pgbouncer"
        console.settings["target_session_attrs"] = "any"
        guard let connection = try? PostgresConnection(console, keepsStatements: false),
            let pools = try? connection.plainTexts("SHOW POOLS")
        else { return [] }
        return pools.filter { $0["database"] != "pgbouncer" }.map { pool in
            func figure(_ name: String) -> String { pool[name] ?? "?" }
            return
                "  PgBouncer, \(figure("database")) as \(figure("user")) (\(figure("pool_mode")) mode): clients \(figure("cl_active")) active, "
                + "\(figure("cl_waiting")) waiting (longest \(figure("maxwait")) s); servers \(figure("sv_active")) active, \(figure("sv_idle")) idle"
        }
    }
}
