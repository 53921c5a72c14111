import Foundation

/// PgBouncer in front of the tests' server, with two connections to it for everybody: each transaction gets whichever
/// is free.
///
/// A shell watches over it, which ends it when the test process does, however it does.
package final class Bouncer {
    /// The program, where it is installed.
    package static let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].first(
        where: FileManager.default.isExecutableFile)
    package let folder: String
    private let lifeline = Pipe()

    package init(_ database: TestDatabase) throws {
        folder = "\(database.server.folder)/bouncer_\(database.name)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try """
        [databases]
        * = host=\(database.server.folder)
        [pgbouncer]
        listen_addr =
        listen_port = 5432
        unix_socket_dir = \(folder)
        auth_type = any
        pool_mode = transaction
        default_pool_size = 2
        server_login_retry = 1
        ignore_startup_parameters = extra_float_digits
        """.replacing("* = host", with: "* = user=postgres host")
            .write(toFile: "\(folder)/settings", atomically: true, encoding: .utf8)
        _ = fcntl(lifeline.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try DetachedShell.run(
            """
            run=
            if [ "$(id -u)" = 0 ]; then
                chown -R postgres "$0"
                run="setpriv --reuid=postgres --regid=postgres --init-groups --"
            fi
            $run "$1" "$0/settings" </dev/null >"$0/log" 2>&1 &
            bouncer=$!
            cat >/dev/null
            kill -KILL "$bouncer" 2>/dev/null
            """, [folder, Bouncer.program ?? ""], input: lifeline.fileHandleForReading)
        let end = ContinuousClock.now + .seconds(60)
        while !FileManager.default.fileExists(atPath: "\(folder)/.s.PGSQL.5432") {
            guard ContinuousClock.now < end else { throw NotStarted(log: log) }
            usleep(20_000)
        }
    }

    /// PgBouncer did not begin to listen within a minute.
    struct NotStarted: Error { let log: String }

    /// Carries out what connects through it; an error comes with what PgBouncer wrote last.
    package func explaining<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw Refused(log: log, error: error) }
    }

    struct Refused: Error {
        let log: String
        let error: any Error
    }

    /// What it wrote last.
    package var log: String {
        let text = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(12).joined(separator: "\n")
    }

    deinit { try? lifeline.fileHandleForWriting.close() }
}
