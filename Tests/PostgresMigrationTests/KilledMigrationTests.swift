import Foundation
import PostgresConnection
import PostgresServer
import TestSupport
import Testing

@testable import PostgresMigrationChild

/// `PIPPIN_KILLS=100 swift test --filter KilledMigrationTests` kills as many programs as are named in each test,
/// instead of 6.
@Suite("A program that is killed while it migrates a store in PostgreSQL", .serialized, .needsPostgres)
struct KilledMigrationTests {
    private static let kills = ProcessInfo.processInfo.environment["PIPPIN_KILLS"].flatMap { Int($0) } ?? 6
    private static let books = 3000

    @Test(
        "leaves all as it was, or as it is to be; the next program brings it to an end", arguments: Shelf.Way.allCases)
    func kill(way: Shelf.Way) async throws {
        var (asBefore, asAfter) = (0, 0)
        let duration = try await time(way)
        for _ in 0..<Self.kills {
            let database = try TestDatabase()
            try Shelf(at: database.uri()).found(Self.books)
            let before = try DatabaseContent(database)
            let child = try Child(way, database)
            try await Task.sleep(for: .seconds(Double.random(in: 0...duration)))
            child.kill()
            try await database.becomesQuiet()
            let left = try DatabaseContent(database)
            if left == before {
                asBefore += 1
            } else {
                asAfter += 1
                // Nothing is half done: a program that comes has nothing to migrate.
                #expect(try await Shelf(at: database.uri()).migrate(way) == Self.books)
                #expect(try DatabaseContent(database) == left)
            }
            #expect(try await Shelf(at: database.uri()).migrate(way) == Self.books)
            #expect(try database.rows("SELECT nspname FROM pg_namespace WHERE nspname LIKE '%successor%'").isEmpty)
        }
        print("\(way): \(asBefore) as before, \(asAfter) as after")
    }

    @Test(
        "may be any of many that start at once: one migrates, whoever is killed, and all others go on",
        arguments: Shelf.Way.allCases)
    func many(way: Shelf.Way) async throws {
        let database = try TestDatabase()
        try Shelf(at: database.uri()).found(Self.books)
        let duration = try await time(way)
        let generation = "SELECT generation AS number FROM pippin.stores"
        let before = try #require(Int(database.rows(generation)[0][0]))
        let children = try (0..<6).map { _ in try Child(way, database) }
        try await Task.sleep(for: .seconds(duration / 2))
        children[0].kill()
        for child in children.dropFirst() {
            let end = child.end()
            #expect(end.status == 0, "\(end.errors)")
            #expect(end.output == "\(Self.books)\n")
        }
        #expect(try database.rows(generation) == [["\(before + 1)"]])
    }

    @Test("leaves an index that finds what the texts say, whether it saved, migrated or made the index anew")
    func searchIndex() async throws {
        let rounds = ProcessInfo.processInfo.environment["PIPPIN_KILL_ROUNDS"].flatMap { Int($0) } ?? 6
        var random = SplitMix(state: 59)
        var database = try TestDatabase()
        for round in 0..<rounds {
            // In turn: migrates and saves, saves, makes the index anew and saves.
            if round % 3 == 0 {
                database = try TestDatabase()
                try await Tales.found(300, at: database.uri())
            } else if round % 3 == 2 {
                try database.connect().execute("DELETE FROM pippin.searches")
            }
            let child = try Child(["tales", database.uri(), "\(round)"])
            #expect(child.hear().hasPrefix("begun"))
            if round % 3 == 1 { for _ in 0..<Int.random(in: 1..<4, using: &random) { _ = child.hear() } }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0..<300, using: &random)))
            child.kill()
            let complaint = child.end().errors
            #expect(complaint.isEmpty)
            try await database.becomesQuiet()
            try await check(database, "round \(round)")
        }
    }

    /// Whether an index finds what the texts say, and is as a new one.
    private func check(_ database: TestDatabase, _ comment: Comment) async throws {
        let manager = Tales.manager(at: database.uri())
        let all = try await manager.fetch(Tales.Tale.self)
        for word in Tales.words {
            let found = try await manager.fetch(Tales.Tale.self, searching: word).map(\.uid)
            let wanted = all.filter { tale in
                "\(tale.title) \(tale.teller?.name ?? "")".split(separator: " ").contains(Substring(word))
            }.map(\.uid)
            #expect(found.sorted() == wanted.sorted(), comment)
        }
        let kept = try Self.index(in: database)
        #expect(kept.count >= all.count, comment)
        await manager.close()
        try database.connect().execute("DELETE FROM pippin.searches")
        let next = Tales.manager(at: database.uri())
        _ = try await next.fetch(Tales.Tale.self, searching: "whale")
        #expect(try Self.index(in: database) == kept, comment)
        await next.close()
    }

    /// The words of each row, without what they begin with, and what the index knows of related rows.
    private static func index(in database: TestDatabase) throws -> [[String]] {
        try database.rows(
            "SELECT key, version, regexp_replace(words::text, '''[0-9]+\\.', '''', 'g') FROM pippin.search ORDER BY 1")
            + database.rows("SELECT place, key, version FROM pippin.search_related ORDER BY 1, 2")
            + database.rows("SELECT place, key, owner FROM pippin.search_pairs ORDER BY 1, 2, 3")
    }

    /// How long a program takes that nobody kills.
    private func time(_ way: Shelf.Way) async throws -> Double {
        let database = try TestDatabase()
        try Shelf(at: database.uri()).found(Self.books)
        let start = Date()
        let end = try Child(way, database).end()
        #expect(end.status == 0, "\(end.errors)")
        return Date().timeIntervalSince(start)
    }
}

extension TestDatabase {
    /// Waits until the server has noticed who is gone.
    fileprivate func becomesQuiet() async throws {
        let connection = try connect()
        let isQuiet = try await eventually(within: .seconds(120)) {
            let others = try connection.query(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
                """)
            return others.integer(0, 0) == 0
        }
        #expect(isQuiet, "The server still works for a program that was killed.")
    }
}

/// A program that migrates a store.
private final class Child {
    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()

    convenience init(_ way: Shelf.Way, _ database: TestDatabase) throws {
        try self.init([way.rawValue, database.uri()])
    }

    init(_ arguments: [String]) throws {
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("PostgresMigrationChild")
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    /// Reads a line or more of what it says; empty when it has ended.
    func hear() -> String { String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func end() -> (status: Int32, output: String, errors: String) {
        process.waitUntilExit()
        func text(_ pipe: Pipe) -> String {
            String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        }
        return (process.terminationStatus, text(output), text(errors))
    }
}
