import Foundation
import PostgresServer
import SwiftData
import TestSupport
import Testing

/// `PIPPIN_KILLS=20 PIPPIN_MIGRATED_ROWS=100000 swift test --filter KilledModelMigrationTests` kills as many programs
/// as are named, with as many rows, instead of 3 and 2,000.
@Suite("A program that is killed while it migrates models through three versions", .serialized)
struct KilledModelMigrationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let kills = environment["PIPPIN_KILLS"].flatMap { Int($0) } ?? 3
    private static let rows = environment["PIPPIN_MIGRATED_ROWS"].flatMap { Int($0) } ?? 2_000

    @Test("leaves a file as it was or as it is afterwards; the next program runs the plan's code once", .ownThread)
    func file() throws {
        let folder = try TestFolder()
        var number = 0
        try killed {
            number += 1
            let url = folder.url.appendingPathComponent("\(number)/store.sqlite")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            return FileStore(url: url)
        }
    }

    @Test("leaves a schema as it was or as it is afterwards; the next program runs the code once", .needsPostgres)
    func schema() throws {
        let database = try TestDatabase()
        var number = 0
        try killed {
            number += 1
            return SchemaStore(database: database, schema: "store_\(number)")
        }
    }

    private func killed(_ place: () throws -> any EntryStore) throws {
        let whole = try place()
        try end(run("make", whole.argument, "\(Self.rows)"))
        let start = Date()
        try end(run("migrate", whole.argument))
        let duration = Date().timeIntervalSince(start)
        try expect(whole, isMigrated: true)
        var migrated = 0
        for _ in 0..<Self.kills {
            let store = try place()
            try end(run("make", store.argument, "\(Self.rows)"))
            let process = try run("migrate", store.argument)
            Thread.sleep(forTimeInterval: Double.random(in: 0...duration))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            try store.settle()
            let isMigrated = try store.columns().contains("total")
            migrated += isMigrated ? 1 : 0
            try expect(store, isMigrated: isMigrated)
            try end(run("migrate", store.argument))
            try expect(store, isMigrated: true)
            #expect(try store.leftovers() == [])
        }
        print("\(migrated) of \(Self.kills) killed programs had migrated the store")
    }

    /// All rows are those of the first version or of the last one.
    private func expect(_ store: any EntryStore, isMigrated: Bool) throws {
        #expect(try store.columns() == (isMigrated ? ["note", "number", "total"] : ["number"]))
        #expect(try store.number("SELECT COUNT(*) FROM entry") == Self.rows)
        #expect(try store.number("SELECT COUNT(DISTINCT number) FROM entry") == Self.rows)
        guard isMigrated else { return }
        #expect(
            try store.number("SELECT COUNT(*) FROM entry WHERE total = 2 * number AND note = 'seen'") == Self.rows)
    }

    private func run(_ arguments: String...) throws -> Process {
        let process = Process()
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("SwiftDataMigrationChild")
        process.arguments = arguments
        try process.run()
        return process
    }

    private func end(_ process: Process) throws {
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }
}

/// A store of entries, as plain SQL sees it.
private protocol EntryStore {
    /// What the programs are given.
    var argument: String { get }
    /// The names of the properties' columns, sorted.
    func columns() throws -> [String]
    /// The number that a statement gives, with plain names of the table and its columns.
    func number(_ sql: String) throws -> Int
    /// What a migration has not removed.
    func leftovers() throws -> [String]
    /// Waits until nobody works for a program that is gone.
    func settle() throws
}

private struct FileStore: EntryStore {
    let url: URL
    var argument: String { url.path }

    func settle() {}

    func columns() throws -> [String] {
        let names = try plainSQL("SELECT name FROM pragma_table_info('ZENTRY') ORDER BY name", in: url)
        return names.filter { !$0.hasPrefix("Z_") }.map { $0.dropFirst().lowercased() }
    }

    func number(_ sql: String) throws -> Int {
        let words = sql.replacing("entry", with: "ZENTRY").replacing("total =", with: "ZTOTAL =")
            .replacing("note =", with: "ZNOTE =").replacing("number", with: "ZNUMBER")
        return try plainNumber(words, in: url).map { Int($0) } ?? -1
    }

    func leftovers() throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
        return names.filter { !$0.hasPrefix(url.lastPathComponent) }.sorted()
    }
}

private struct SchemaStore: EntryStore {
    let database: TestDatabase
    let schema: String
    var argument: String { database.uri() + "&schema=\(schema)" }

    func settle() throws {
        let others = """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
            """
        for _ in 0..<600 where try database.rows(others) != [["0"]] { Thread.sleep(forTimeInterval: 0.05) }
    }

    func columns() throws -> [String] {
        let names = try database.rows(
            """
            SELECT column_name FROM information_schema.columns
            WHERE table_schema = '\(schema)' AND table_name = 'entry' ORDER BY 1
            """)
        return names.map { $0[0] }.filter { !$0.hasPrefix("z_") && !$0.hasPrefix("_") }
    }

    func number(_ sql: String) throws -> Int {
        Int(try database.rows(sql.replacing("entry", with: "\(schema).entry")).first?.first ?? "") ?? -1
    }

    /// The server notices after a while that a killed program has gone.
    func leftovers() throws -> [String] {
        try database.rows(
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE '\(schema)_%' ORDER BY 1"
        ).map { $0[0] }
    }
}
