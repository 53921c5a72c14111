import PostgresConnection

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
