import Foundation
import PippinPostgres
import PostgresServer
import TestSupport
import Testing

private struct Home: Codable, Equatable, Sendable {
    var city: String
}

private struct Writer: CoreModel, Equatable {
    let id: Int
    var name: String?
    var born = 0
}

private struct Chapter: CoreModel, Equatable {
    let id: Int
    var heading: String?
}

private struct Label: CoreModel, Hashable {
    let id: Int
    var word: String
}

private struct Novel: CoreModel, Equatable {
    let id: Int
    var title: String
    var home: Home?
    var writer: Writer?
    var chapters: [Chapter] = []
    var labels: Set<Label> = []

    static var schema: Schema<Novel> {
        Schema(
            .owns(\.chapters), .searchable(\.title), .searchable(\.home?.city), .searchable(\.writer?.name),
            .searchable(\.chapters, \.heading), .searchable(\.labels, \.word))
    }
}

@Suite("The full-text index in PostgreSQL of nested and related texts", .needsPostgres)
struct RelatedSearchTests {
    private let database: TestDatabase
    private let manager: PersistenceManager
    private let melville = Writer(id: 1, name: "Herman Melville")

    init() async throws {
        database = try TestDatabase()
        manager = PersistenceManager(
            models: Novel.self, Writer.self, Chapter.self, Label.self, store: .postgres(database.uri()))
        try await manager.save([
            Novel(
                id: 1, title: "Moby-Dick", home: Home(city: "Nantucket"), writer: melville,
                chapters: [Chapter(id: 1, heading: "Loomings"), Chapter(id: 2, heading: "The Spouter Inn")],
                labels: [Label(id: 1, word: "sea"), Label(id: 2, word: "classic")]),
            Novel(id: 2, title: "Typee", writer: melville, labels: [Label(id: 1, word: "sea")]),
            Novel(id: 3, title: "Beowulf"),
        ])
    }

    private func other() -> PersistenceManager {
        PersistenceManager(
            models: Novel.self, Writer.self, Chapter.self, Label.self, store: .postgres(database.uri()))
    }

    private func ids(_ text: String, in manager: PersistenceManager? = nil) async throws -> Set<Int> {
        Set(try await (manager ?? self.manager).fetch(Novel.self, searching: text).map(\.id))
    }

    /// What the index has, without the number that its words begin with.
    private func content() throws -> [[String]] {
        try database.rows(
            "SELECT key, version, regexp_replace(words::text, '''[0-9]+\\.', '''', 'g') FROM pippin.search ORDER BY 1")
            + database.rows("SELECT place, key, version FROM pippin.search_related ORDER BY 1, 2")
            + database.rows("SELECT place, key, owner FROM pippin.search_pairs ORDER BY 1, 2, 3")
    }

    /// Compares the index with one that is made anew, at the next opening.
    private func checkAgainstRebuild(_ comment: Comment) async throws -> PersistenceManager {
        let kept = try content()
        try database.connect().execute("DELETE FROM pippin.searches")
        let next = other()
        _ = try await next.fetch(Novel.self, searching: "whale")
        #expect(try content() == kept, comment)
        return next
    }

    @Test("Each way of saving writes the texts of related models in its transaction")
    func writing() async throws {
        #expect(try await ids("melville") == [1, 2])
        #expect(try await ids("nantucket") == [1])
        #expect(try await ids("\"loomings the\"") == [])
        #expect(try await ids("\"spouter inn\" classic") == [1])
        var manager = try await checkAgainstRebuild("searched")
        var writer = melville
        writer.name = "Broch"
        try await manager.save(writer)
        #expect(try await ids("broch", in: manager) == [1, 2])
        manager = try await checkAgainstRebuild("an author is saved")
        writer.born = 1886
        try await manager.save(writer)
        manager = try await checkAgainstRebuild("beside the texts")
        try await manager.update(Writer.self, where: .all) { $0.set(\.name, to: "Melville") }
        #expect(try await ids("broch", in: manager) == [])
        manager = try await checkAgainstRebuild("a request")
        try await manager.update(Chapter.self, where: \.id == 1) { $0.set(\.heading, to: "Whales") }
        manager = try await checkAgainstRebuild("a request of chapters")
        var novel = try #require(try await manager.find(Novel.self, id: 3))
        (novel.writer, novel.labels, novel.home) = (writer, [Label(id: 2, word: "classic")], Home(city: "Lund"))
        try await manager.save(novel)
        #expect(try await ids("lund broch classic", in: manager) == [3])
        manager = try await checkAgainstRebuild("others' models are given to one")
        novel.labels = []
        novel.writer = nil
        try await manager.save(novel)
        #expect(try await ids("broch OR classic", in: manager) == [1, 2])
        manager = try await checkAgainstRebuild("and taken away")
        try await manager.delete(Label.self, where: \.id == 1)
        manager = try await checkAgainstRebuild("a label is deleted")
        try await manager.delete(Chapter.self, where: .all)
        #expect(try await ids("whales", in: manager) == [])
        manager = try await checkAgainstRebuild("chapters are deleted")
        try await manager.delete(Writer.self, where: \.id == 1)
        manager = try await checkAgainstRebuild("an author is deleted")
        try await manager.delete(Novel.self, where: \.id == 2)
        manager = try await checkAgainstRebuild("a novel is deleted")
        try await manager.importModels(
            (10..<400).map { Novel(id: $0, title: "x", writer: Writer(id: $0, name: "boat")) })
        #expect(try await ids("boat", in: manager).count == 390)
        manager = try await checkAgainstRebuild("imported")
        try await manager.write { store in
            try store.save(Writer(id: 12, name: "narwhal"))
            try store.delete(Novel.self, where: \.id == 13)
        }
        #expect(try await ids("narwhal", in: manager) == [12])
        _ = try await checkAgainstRebuild("a block")
    }

    @Test("Related rows that other programs changed by plain SQL are found after the next opening")
    func otherPrograms() async throws {
        #expect(try await ids("giraffe") == [])
        try database.connect().execute(
            "UPDATE writer SET name = 'Giraffe', _version = _version + 1; DELETE FROM chapter WHERE heading = 'Loomings'"
        )
        let next = other()
        #expect(try await ids("giraffe", in: next) == [1, 2])
        #expect(try await ids("loomings", in: next) == [])
        #expect(try database.rows("SELECT count(*) FROM pippin.search_pairs WHERE place = 1") == [["1"]])
        _ = try await checkAgainstRebuild("changed by plain SQL")
    }

    @Test("A store that is only searched in blocks that read gets its index")
    func blocksOnly() async throws {
        try database.connect().execute("DELETE FROM pippin.searches")
        let next = other()
        for _ in 0..<2 {
            #expect(try await next.read { try $0.fetch(Novel.self, searching: "typee").map(\.id) } == [2])
        }
        #expect(try database.rows("SELECT count(*) FROM pippin.search") == [["3"]])
    }

    @Test("A role that may not read the index of related rows saves and searches")
    func rights() async throws {
        try database.connect().execute("DROP TABLE pippin.search_pairs")
        try await manager.save(Writer(id: 1, name: "Broch"))
        #expect(try await ids("broch") == [1, 2])
        #expect(try await ids("broch", in: other()) == [1, 2])
        #expect(try database.rows("SELECT count(*) FROM pippin.search_pairs WHERE place = 0") == [["2"]])
    }
}
