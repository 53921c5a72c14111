import Foundation
import PostgresConnection
import Synchronization

/// A PostgreSQL server of the test process's own: a cluster in a temporary folder, reached through a Unix socket in it.
///
/// A shell watches over the server. Its input is a pipe from the test process, which ends when that does, however it
/// does; then the shell stops the server and removes the folder.
package final class PostgresServer: Sendable {
    /// The folder of the socket.
    package let folder: String
    private let lifeline: Atomic<Int32>
    private let databases = Atomic<Int>(0)

    private static let made = Mutex<Result<PostgresServer, any Error>?>(nil)

    /// The server, which is started when it is first asked for.
    ///
    /// - Throws: what keeps it from starting.
    package static func shared() throws -> PostgresServer {
        try made.withLock { made in
            if let made { return try made.get() }
            let result = Result { try PostgresServer() }
            made = result
            return try result.get()
        }
    }

    /// Starts a server that is stopped with ``stop()``, or when the process ends.
    ///
    /// - Parameter settings: more settings, such as `-c wal_level=logical`.
    /// - Throws: an error with what the server said when it does not start.
    package init(settings: [String] = []) throws {
        guard let programs = PostgresPrograms.installed else { throw ServerError(PostgresPrograms.reason) }
        // The path of a socket must be short.
        var template = Array("/tmp/pippin-postgres-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ServerError("no folder could be made in /tmp") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        lifeline = Atomic(try Self.start(programs, folder: folder, settings: settings))
        try waitUntilReady()
    }

    deinit { stop() }

    /// Stops the server and removes its folder, some moments later.
    package func stop() {
        let descriptor = lifeline.exchange(-1, ordering: .relaxed)
        if descriptor >= 0 { close(descriptor) }
    }

    private static func start(_ programs: PostgresPrograms, folder: String, settings: [String]) throws -> Int32 {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw ServerError("no pipe could be made") }
        // Other programs that tests start must not keep the pipe open.
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        let options = [
            "-c listen_addresses=", "-c unix_socket_directories=\(folder)", "-c fsync=off", "-c full_page_writes=off",
            "-c max_connections=800", "-c max_wal_size=256MB", "-c autovacuum_naptime=10s", "-c shared_buffers=256MB",
            "-c log_min_messages=fatal", "-c max_locks_per_transaction=256",
        ]
        try DetachedShell.run(
            script, [folder, programs.folder, (options + settings).joined(separator: " ")],
            input: FileHandle(fileDescriptor: ends[0]))
        close(ends[0])
        return ends[1]
    }

    /// `$0` is the folder, `$1` that of the programs, `$2` the settings. Root may not run a server.
    private static let script = """
        trap '' INT TERM HUP PIPE
        run=
        if [ "$(id -u)" = 0 ]; then
            chown postgres "$0"
            run="setpriv --reuid=postgres --regid=postgres --init-groups --"
        fi
        cd "$0"
        $run "$1/initdb" -D "$0/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >"$0/log" 2>&1 &&
        {
            $run "$1/postgres" -D "$0/data" $2 </dev/null >>"$0/log" 2>&1 &
            server=$!
            cat >/dev/null
            kill -QUIT "$server" 2>/dev/null
            wait "$server"
        } || cat >/dev/null
        cd /
        rm -rf "$0"
        """

    private func waitUntilReady() throws {
        var latest = ""
        for _ in 0..<600 {
            do {
                _ = try PostgresConnection(ConnectionTarget(uri(database: "postgres")))
                return
            } catch { latest = "\(error)" }
            Thread.sleep(forTimeInterval: 0.05)
        }
        let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
        throw ServerError("the PostgreSQL server did not start: \(latest)\n\(log.suffix(2000))")
    }

    /// The URI of a database of the server.
    package func uri(database: String, user: String = "postgres") -> String {
        "postgresql:///\(database)?host=\(folder)&user=\(user)"
    }

    func nextDatabaseName() -> String { "test_\(databases.add(1, ordering: .relaxed).newValue)" }

    struct ServerError: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }
}
