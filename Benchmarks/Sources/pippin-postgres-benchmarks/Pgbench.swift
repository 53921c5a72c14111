import Foundation

/// `pgbench` with the statements of a small save: what PostgreSQL's own tool comes to on the same server.
struct Pgbench {
    /// The program, from the environment.
    static let program = ProcessInfo.processInfo.environment["PGBENCH"]

    let uri: String
    /// Whether each save first asks whether the row is there, in a round trip of its own.
    let looksFirst: Bool

    /// How many transactions there are in a second, of several clients with a connection and a thread each; nil where
    /// the program is missing.
    ///
    /// - Parameters:
    ///   - clients: how many clients there are.
    ///   - isPipelined: whether a client sends the statements of a save together, as Pippin does; otherwise each is a
    ///     round trip, as usual.
    /// - Returns: the transactions.
    /// - Throws: what starting the program throws.
    func perSecond(_ clients: Int, isPipelined: Bool) throws -> Double? {
        guard let program = Self.program else { return nil }
        let script = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-\(UUID().uuidString).sql")
        defer { try? FileManager.default.removeItem(at: script) }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [
            "-n", "-M", "prepared", "-c", "\(clients)", "-j", "\(clients)", "-T", "3", "-f", script.path, uri,
        ]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try text(isPipelined: isPipelined).write(to: script, atomically: true, encoding: .utf8)
        try process.run()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let line = said.split(separator: "\n").first { $0.hasPrefix("tps = ") }
        return line.flatMap { Double($0.dropFirst("tps = ".count).prefix { $0 != " " }) }
    }

    private func text(isPipelined: Bool) -> String {
        let look = looksFirst ? ["SELECT _id, id, title FROM hand.item WHERE id = 'nobody';"] : []
        let save = SaveStatements.all(ofWriter: "md5(:client_id::text)::uuid").map { $0 + ";" }
        let lines = isPipelined ? look + ["\\startpipeline"] + save + ["\\endpipeline"] : look + save
        return lines.joined(separator: "\n") + "\n"
    }

    /// The rows of the clients, as each program that saves has one.
    static func addWriters(_ database: ByHand) {
        database.run(
            """
            INSERT INTO pippin.writers SELECT 'hand', md5(number::text)::uuid, 0, true, now() FROM generate_series(0, 15) number \
            ON CONFLICT DO NOTHING
            """)
    }
}

/// The statements of a save of one row, as the engine sends them.
enum SaveStatements {
    /// - Parameter writer: an expression for the identifier of the program that saves.
    /// - Returns: the statements, from `BEGIN` to `COMMIT`.
    static func all(ofWriter writer: String) -> [String] {
        [
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
            "SELECT pg_advisory_xact_lock_shared(747747, 1)",
            """
            WITH counted AS (UPDATE pippin.saves SET count = count + 1 WHERE schema_name = 'hand' AND slot = (pg_backend_pid() % 32)), \
            marked AS (UPDATE pippin.writers SET number = number + 1, is_saved = true, date = now() \
            WHERE schema_name = 'hand' AND writer = (SELECT \(writer)) RETURNING 1) \
            SELECT 1 / (count(*) * (SELECT count(*) FROM marked)) FROM pippin.stores WHERE schema_name = 'hand'
            """,
            """
            INSERT INTO hand.item (id, title, count, price, created_at, is_flagged) VALUES (gen_random_uuid()::text, \
            'The title of an item', 1, 2.5, now(), true)
            """,
            """
            SELECT CASE WHEN pg_try_advisory_lock(747750, 1) THEN nullif(pg_advisory_unlock(747750, 1), true)::text \
            ELSE pg_notify('pippin', 'hand')::text END
            """,
            "COMMIT",
        ]
    }
}
