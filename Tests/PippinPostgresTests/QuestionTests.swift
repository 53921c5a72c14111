import Foundation
import PippinPostgres
import PostgresServer
import StoreReading
import TestSupport
import Testing

@testable import PippinPostgresCommand

private struct Chapter: CoreModel, Equatable {
    let id: Int
    var title: String
    var text: String?
    var price = 0.0
    var when: Date?
    var isDone = false
    var sum: Decimal = 0
    var code: UUID?

    static var schema: Schema<Chapter> { Schema(.searchable(\.title, weight: 4), .searchable(\.text)) }
}

private struct Row: Decodable, Equatable, Sendable {
    let title: String
    let count: Int
    let total: Decimal
    let latest: Date?
}

@Suite("Questions to PostgreSQL", .needsPostgres)
struct QuestionTests {
    private let database: TestDatabase
    private let manager: PersistenceManager
    private let chapters: [Chapter]

    init() async throws {
        database = try TestDatabase()
        manager = PersistenceManager(models: Chapter.self, store: .postgres(database.uri()))
        chapters = [
            Chapter(
                id: 1, title: "Loomings", text: "The white whale", price: 1.5,
                when: Date(timeIntervalSince1970: 86_400),
                isDone: true, sum: 1.25, code: UUID()),
            Chapter(id: 2, title: "Whale", text: "Élève, 東京都", price: 2),
            Chapter(id: 3, title: "Loomings", text: nil, price: 3, when: Date(timeIntervalSince1970: 172_800), sum: 2),
        ]
        try await manager.save(chapters)
    }

    @Test("A search finds what a file finds")
    func search() async throws {
        let folder = try TestFolder()
        let file = PersistenceManager(models: Chapter.self, store: .file(folder.store))
        try await file.save(chapters)
        for text in ["whale", "\"white whale\" OR eleve", "京都", "-white whale", "loom*", "'; DROP TABLE chapter"] {
            let found = try await manager.fetch(Chapter.self, searching: text)
            #expect(
                try await Set(file.fetch(Chapter.self, searching: text).map(\.id)) == Set(found.map(\.id)), "\(text)")
        }
        #expect(try await manager.search(Chapter.self, for: "whale", limit: 1).map(\.model.id) == [2])
    }

    @Test("Rows of SQL are read into a type, in the program's own types")
    func rows() async throws {
        let start = Date(timeIntervalSince1970: 0)
        let found = try await manager.rows(
            Row.self,
            """
            SELECT \(\Chapter.title), count(*) AS count, sum(\(\Chapter.sum)) AS total, max(\(\Chapter.when)) AS latest
            FROM \(Chapter.self) WHERE \(\Chapter.when) >= \(start) OR \(\Chapter.price) > \(100.5) GROUP BY 1
            """)
        #expect(
            found == [Row(title: "Loomings", count: 2, total: 3.25, latest: Date(timeIntervalSince1970: 172_800))])
        let code = try #require(chapters[0].code)
        let byCode = try await manager.rows(
            Int.self,
            """
            SELECT \(\Chapter.id) FROM \(Chapter.self) WHERE \(\Chapter.code) = \(code) AND \(\Chapter.isDone) = \(true)
            AND \(\Chapter.sum) = \(Decimal(1.25)) AND \(\Chapter.title) = \("Loomings")
            """)
        #expect(byCode == [1])
    }

    @Test("SQL that does more than read is refused, also within a block, whose work goes on")
    func refusals() async throws {
        let statements: [SQLText] = [
            "DELETE FROM \(Chapter.self)", "WITH a AS (DELETE FROM \(Chapter.self) RETURNING 1) SELECT * FROM a",
            "SELECT 1; SELECT 2",
            "DROP TABLE \(Chapter.self)", "COMMIT", "SET search_path = public",
            "SELECT set_config('a.b', 'c', false) FROM nothing",
            "TRUNCATE \(Chapter.self)", "COPY \(Chapter.self) TO STDOUT", "LOCK \(Chapter.self)", "SELECT nextval('s')",
            "SELECT * INTO x FROM \(Chapter.self)", "SELECT * FROM \(Chapter.self) FOR UPDATE", "DO 'BEGIN END'", "",
        ]
        for statement in statements {
            let error = await #expect(throws: PersistenceError.self) {
                _ = try await manager.rows(Int.self, statement)
            }
            #expect(error?.code == .readFailed, "\(error?.description ?? "")")
        }
        let counts = try await manager.read { store in
            _ = try? store.rows(Int.self, "DELETE FROM \(Chapter.self)")
            return try store.rows(Int.self, "SELECT count(*) FROM \(Chapter.self)")
        }
        #expect(counts == [3])
        let syntax = await #expect(throws: PersistenceError.self) {
            _ = try await manager.rows(Int.self, "SELECT 1 FORM \(Chapter.self)")
        }
        #expect(syntax?.description.contains("chapter") == true)
    }

    @Test("Several values of groups are computed by one statement")
    func groups() async throws {
        let rows = try await manager.values(
            Chapter.self, by: \.title, .count, .sum(\.price), .max(\.when), .sum(\.sum), having: .count > 1)
        #expect(rows.map(\.0) == ["Loomings"] && rows.map(\.1) == [2] && rows.map(\.2) == [4.5])
        #expect(rows.map(\.3) == [Date(timeIntervalSince1970: 172_800)] && rows.map(\.4) == [3.25])
    }

    @Test("The commands search and sql read a store on a server")
    func commands() async throws {
        var output = ""
        try PostgresCommand.run(["search", database.uri(), "white whale"]) { output += $0 }
        #expect(output.hasPrefix("Chapter/p1\n") && output.hasSuffix("1 object\n"))
        output = ""
        try PostgresCommand.run(
            ["sql", database.uri(), "SELECT title, isDone FROM Chapter ORDER BY price LIMIT 1", "--format", "csv"]
        ) { output += $0 }
        #expect(output == "title,isdone\r\nLoomings,1\r\n")
    }
}
