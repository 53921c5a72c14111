import Foundation
import PippinPostgres
import PostgresServer
import TestSupport
import Testing

private struct Leaf: CoreModel, Equatable {
    let id: Int
    var title: String
    var text: String?
    var price = 0.0

    static var schema: Schema<Leaf> { Schema(.searchable(\.title, weight: 4), .searchable(\.text)) }
}

@Suite("The full-text index in PostgreSQL", .needsPostgres)
struct SearchIndexTests {
    private let database: TestDatabase
    private let manager: PersistenceManager

    init() async throws {
        database = try TestDatabase()
        manager = PersistenceManager(models: Leaf.self, store: .postgres(database.uri()))
        try await manager.save([
            Leaf(id: 1, title: "Moby-Dick", text: "A white sea, and a whale", price: 10),
            Leaf(id: 2, title: "Élèves", text: "The whales swim in a white, white sea", price: 30),
            Leaf(id: 3, title: "白鯨", text: "鯨は東京都にいない", price: 5),
        ])
    }

    private func other() -> PersistenceManager {
        PersistenceManager(models: Leaf.self, store: .postgres(database.uri()))
    }

    private func ids(_ text: String, in manager: PersistenceManager? = nil) async throws -> Set<Int> {
        Set(try await (manager ?? self.manager).fetch(Leaf.self, searching: text).map(\.id))
    }

    /// A number that a variable of the environment raises.
    private static func count(_ variable: String, _ usual: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } ?? usual
    }

    /// The words of each row, without what they begin with.
    private func words() throws -> [[String]] {
        try database.rows(
            "SELECT key, version, regexp_replace(words::text, '''[0-9]+\\.', '''', 'g') FROM pippin.search ORDER BY 1")
    }

    /// Compares the index with one that is made anew, at the next opening.
    ///
    /// - Returns: the manager that has made it, and writes it from now on.
    @discardableResult
    private func checkAgainstRebuild(_ comment: Comment) async throws -> PersistenceManager {
        let kept = try words()
        try database.connect().execute("DELETE FROM pippin.searches")
        let next = other()
        _ = try await next.fetch(Leaf.self, searching: "whale")
        let made = try words()
        #expect(kept == made, comment)
        #expect(try await made.count == manager.count(Leaf.self), comment)
        return next
    }

    @Test("A query finds the same in memory, in a file and on a server, in twelve scripts")
    func sameInAll() async throws {
        var random = ScriptSamples.Generator(state: 59)
        let leaves = (0..<Self.count("PIPPIN_SEARCH_TEXTS", 200)).map {
            Leaf(id: $0 + 10, title: ScriptSamples.text(&random), text: ScriptSamples.text(&random))
        }
        let folder = try TestFolder()
        let file = PersistenceManager(models: Leaf.self, store: .file(folder.store))
        let memory = PersistenceManager(models: Leaf.self, store: .memory)
        try await manager.save(leaves)
        try await file.save(try await manager.fetch(Leaf.self))
        try await memory.save(try await manager.fetch(Leaf.self))
        var hits = 0
        for _ in 0..<Self.count("PIPPIN_SEARCH_QUERIES", 120) {
            let noise = Int.random(in: 0..<6, using: &random) == 0
            let query = noise ? ScriptSamples.noise(&random) : ScriptSamples.query(&random)
            let expected = try await ids(query, in: memory)
            #expect(try await ids(query, in: file) == expected, "\(query.debugDescription)")
            #expect(try await ids(query) == expected, "\(query.debugDescription)")
            hits += expected.count
        }
        #expect(hits > 200)
    }

    @Test("A search reads the index, and the best comes first by the weights of the texts")
    func usesIndex() async throws {
        try await manager.save(Leaf(id: 4, title: "Whale", text: "none"))
        #expect(try await manager.fetch(Leaf.self, searching: "whale").first?.id == 4)
        #expect(try await manager.fetch(Leaf.self, searching: "whale*", limit: 1).map(\.id) == [4])
        #expect(try await manager.fetch(Leaf.self, searching: "white", where: \.price > 20).map(\.id) == [2])
        try database.connect().execute(
            "UPDATE pippin.search s SET words = setweight('giraffe'::tsvector, 'A') FROM leaf l WHERE l._id = s.key AND l.title = 'Moby-Dick'"
        )
        #expect(try await ids("moby") == [])
    }

    @Test("Each way of saving writes the index in its transaction")
    func writing() async throws {
        var manager = manager
        #expect(try await ids("whale") == [1])
        try await manager.save(Leaf(id: 4, title: "Whale", text: "a"))
        manager = try await checkAgainstRebuild("saved")
        try await manager.update(Leaf.self, where: \.id == 1) { $0.set(\.title, to: "Typee") }
        #expect(try await ids("moby", in: other()) == [])
        manager = try await checkAgainstRebuild("updated by a request")
        try await manager.update(Leaf.self, where: .all) { $0.set(\.price, to: 1) }
        manager = try await checkAgainstRebuild("updated beside the texts")
        try await manager.delete(Leaf.self, where: \.id == 2)
        manager = try await checkAgainstRebuild("deleted by a request")
        var leaf = try #require(try await manager.find(Leaf.self, id: 3))
        leaf.text = "a giraffe"
        try await manager.save(leaf)
        leaf.price = 7
        try await manager.save(leaf)
        manager = try await checkAgainstRebuild("changed")
        try await manager.delete(leaf)
        manager = try await checkAgainstRebuild("deleted")
        try await manager.insert((100..<500).map { Leaf(id: $0, title: "whale \($0)", text: nil) })
        manager = try await checkAgainstRebuild("inserted")
        try await manager.importModels((400..<900).map { Leaf(id: $0, title: "boat \($0)", text: nil) })
        manager = try await checkAgainstRebuild("imported")
        try await manager.write { store in
            try store.save(Leaf(id: 5, title: "narwhal", text: nil))
            try store.delete(Leaf.self, where: \.id == 4)
            #expect(try store.fetch(Leaf.self, searching: "narwhal").map(\.id) == [5])
        }
        manager = try await checkAgainstRebuild("a block")
        _ = try? await manager.write { store in
            try store.save(Leaf(id: 6, title: "unicorn", text: nil))
            throw CancellationError()
        }
        #expect(try await ids("unicorn", in: other()) == [])
        #expect(try await ids("boat*", in: other()).count == 500)
    }

    @Test("Rows that other programs changed by plain SQL are found after the next opening")
    func otherPrograms() async throws {
        #expect(try await ids("giraffe") == [])
        try database.connect().execute(
            """
            UPDATE leaf SET title = 'Giraffe', _version = _version + 1 WHERE title = 'Moby-Dick';
            DELETE FROM leaf WHERE title = '白鯨'
            """)
        let next = other()
        #expect(try await ids("giraffe", in: next) == [1])
        #expect(try await ids("鯨", in: next) == [])
        try await checkAgainstRebuild("changed by plain SQL")
        // A change beside the texts does not make old words current.
        try database.connect().execute(
            "UPDATE leaf SET title = 'Zebra', _version = _version + 1 WHERE title = 'Giraffe'")
        try await next.update(Leaf.self, where: \.id == 1) { $0.set(\.price, to: 3) }
        #expect(try await ids("zebra", in: other()) == [1])
    }

    @Test("Another program's saves are found at once")
    func otherManagers() async throws {
        #expect(try await ids("walrus") == [])
        try await other().save(Leaf(id: 8, title: "Walrus", text: nil))
        #expect(try await ids("walrus") == [8])
        // One that knows no index, as an older version.
        try database.connect().execute(
            """
            INSERT INTO leaf (_id, _entity, _version, id, title, price) SELECT 900, _entity, 1, 9, 'Walrus', 0 FROM leaf LIMIT 1;
            UPDATE pippin.saves SET count = count + 1 WHERE slot = 3
            """)
        #expect(try await ids("walrus") == [8, 9])
        try await checkAgainstRebuild("saved by others")
    }

    @Test("An index may be dropped at any time, and refuses no save")
    func dropping() async throws {
        #expect(try await ids("whale") == [1])
        try database.connect().execute("DELETE FROM pippin.searches")
        try await manager.save(Leaf(id: 4, title: "Whale", text: nil))
        #expect(try await ids("whale") == [1, 4])
        let second = other()
        #expect(try await ids("whale", in: second) == [1, 4])
        try database.connect().execute("DROP TABLE pippin.search, pippin.searches")
        #expect(try await second.read { try $0.fetch(Leaf.self, searching: "whale").count } == 2)
        try await second.update(Leaf.self, where: \.id == 1) { $0.set(\.text, to: "walrus") }
        try await second.save(Leaf(id: 5, title: "Whale", text: nil))
        #expect(try await ids("whale", in: second) == [4, 5])
        #expect(try await ids("whale", in: other()) == [4, 5])
        try await checkAgainstRebuild("made again")
        #expect(try database.rows("SELECT number FROM pippin.searches").count == 1)
    }

    @Test("A role without rights to the index saves and searches, and others catch up")
    func rights() async throws {
        #expect(try await ids("whale") == [1])
        try database.connect().execute(
            """
            DROP ROLE IF EXISTS clerk_\(database.name); CREATE ROLE clerk_\(database.name) LOGIN;
            GRANT USAGE ON SCHEMA public, pippin TO clerk_\(database.name);
            GRANT ALL ON ALL TABLES IN SCHEMA public, pippin TO clerk_\(database.name);
            GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO clerk_\(database.name);
            REVOKE ALL ON pippin.search FROM clerk_\(database.name)
            """)
        let clerk = PersistenceManager(
            models: Leaf.self, store: .postgres(database.uri(user: "clerk_\(database.name)")))
        try await clerk.save(Leaf(id: 4, title: "Whale", text: nil))
        #expect(try await ids("whale", in: clerk) == [1, 4])
        #expect(try await ids("whale") == [1, 4])
        try await checkAgainstRebuild("saved without rights")
    }

    @Test("Long texts are found by their phrases, and very long ones by all of their words")
    func longTexts() async throws {
        let repeated = String(repeating: "sea water ", count: 400)
        let many = (0..<150_000).map { "w\($0)x" }.joined(separator: " ")
        try await manager.save([
            Leaf(id: 20, title: "long", text: repeated + "black swan"),
            Leaf(id: 21, title: "longer", text: repeated + "swan black"),
            Leaf(id: 22, title: "longest", text: many + " black swan"),
        ])
        #expect(try database.rows("SELECT key FROM pippin.search WHERE words IS NULL").count == 1)
        #expect(try await ids("\"black swan\"") == [20, 22])
        #expect(try await ids("\"swan black\"") == [21])
        #expect(try await ids("sea -\"black swan\"") == [1, 2, 21])
        #expect(try await ids("w149999x") == [22])
        #expect(try await ids("\"water sea\" swan") == [20, 21])
        #expect(try await manager.fetch(Leaf.self, searching: "black", limit: 2).count == 2)
    }
}
