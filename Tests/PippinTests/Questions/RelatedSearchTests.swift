import Foundation
import Pippin
import TestSupport
import Testing

private struct Home: Codable, Equatable, Sendable {
    var city: String
}

private struct Scribe: CoreModel, Equatable {
    let id: Int
    var name: String?
    var born = 0
    var home: Home?
}

private struct Chapter: CoreModel, Equatable {
    let id: Int
    var heading: String?
    var pages = 0
}

private struct Motif: CoreModel, Equatable {
    let id: Int
    var word: String
}

private struct Novel: CoreModel, Equatable {
    let id: Int
    var title: String
    var writer: Scribe?
    var chapters: [Chapter] = []
    var labels: Set<Motif> = []

    static var schema: Schema<Novel> {
        Schema(
            .owns(\.chapters), .searchable(\.title), .searchable(\.writer?.name, weight: 2),
            .searchable(\.writer?.home?.city), .searchable(\.chapters, \.heading), .searchable(\.labels, \.word))
    }
}

extension Motif: Hashable {}

private struct Wrong: CoreModel {
    let id: Int
    var novel: Novel?

    static var schema: Schema<Wrong> { Schema(.searchable(\.novel?.writer?.name)) }
}

@Suite("Full-text search in texts of related models")
struct RelatedSearchTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }
    private let melville = Scribe(id: 1, name: "Herman Melville", home: Home(city: "New York"))
    private let verne = Scribe(id: 2, name: "Jules Verne", home: Home(city: "Nantes"))

    init() async throws {
        counter = try Counter(Novel.self, Scribe.self, Chapter.self, Motif.self)
        try await manager.save([
            Novel(
                id: 1, title: "Moby-Dick", writer: melville,
                chapters: [Chapter(id: 1, heading: "Loomings"), Chapter(id: 2, heading: "The Spouter Inn")],
                labels: [Motif(id: 1, word: "sea"), Motif(id: 2, word: "classic")]),
            Novel(id: 2, title: "Typee", writer: melville, labels: [Motif(id: 1, word: "sea")]),
            Novel(id: 3, title: "Around the World", writer: verne, chapters: [Chapter(id: 3, heading: "In which…")]),
            Novel(id: 4, title: "Beowulf"),
        ])
    }

    private func ids(_ text: String, in manager: PersistenceManager? = nil) async throws -> Set<Int> {
        Set(try await (manager ?? self.manager).fetch(Novel.self, searching: text).map(\.id))
    }

    private func other() -> PersistenceManager {
        PersistenceManager(
            models: Novel.self, Scribe.self, Chapter.self, Motif.self, store: .file(counter.file))
    }

    @Test("Words are found in the texts of the author, of a nested struct in it, of an owned list and of a shared set")
    func finding() async throws {
        #expect(try await ids("melville") == [1, 2])
        #expect(try await ids("melville typee") == [2])
        #expect(try await ids("nantes") == [3])
        #expect(try await ids("\"spouter inn\"") == [1])
        #expect(try await ids("sea") == [1, 2])
        #expect(try await ids("sea -loomings") == [2])
        let hits = try await manager.search(Novel.self, for: "verne")
        #expect(hits.map(\.model.id) == [3])
    }

    @Test("A phrase does not reach from one text of a list into the next")
    func phrases() async throws {
        #expect(try await ids("\"loomings the\"") == [])
        #expect(try await ids("\"loomings\u{10FFFF}the\"") == [])
        #expect(try await ids("loomings the") == [1])
    }

    @Test("A change of a related model is a change of what is found, however it is made")
    func changes() async throws {
        #expect(try await ids("melville") == [1, 2])
        var writer = melville
        writer.name = "Hermann Broch"
        try await manager.save(writer)
        #expect(try await ids("melville") == [])
        #expect(try await ids("broch") == [1, 2])
        try await manager.update(Scribe.self, where: \.id == 1) { $0.set(\.name, to: "Melville") }
        #expect(try await ids("broch") == [])
        #expect(try await ids("melville") == [1, 2])
        try await manager.update(Chapter.self, where: \.id == 1) { $0.set(\.heading, to: "Whales") }
        #expect(try await ids("whales") == [1])
        try await manager.delete(Chapter.self, where: .all)
        #expect(try await ids("whales OR which") == [])
        try await manager.delete(Motif.self, where: \.word == "sea")
        #expect(try await ids("sea") == [])
        try await manager.delete(Scribe.self, where: \.id == 1)
        #expect(try await ids("melville") == [])
        #expect(try await ids("verne") == [3])
    }

    @Test("A model that moves to another one is found there")
    func moving() async throws {
        var novel = try #require(try await manager.find(Novel.self, id: 3))
        novel.writer = melville
        novel.chapters = []
        novel.labels = [Motif(id: 2, word: "classic")]
        try await manager.save(novel)
        #expect(try await ids("melville") == [1, 2, 3])
        #expect(try await ids("which") == [])
        #expect(try await ids("classic") == [1, 3])
        #expect(try await ids("verne") == [])
    }

    @Test("Memory finds the same with the same ranks, and so does a block that has changed something")
    func sameAsComparing() async throws {
        let memory = PersistenceManager(
            models: Novel.self, Scribe.self, Chapter.self, Motif.self, store: .memory)
        try await memory.save(try await manager.fetch(Novel.self))
        for text in ["melville", "sea", "nantes", "the", "spouter", "\"loomings the\"", "sea OR verne", "new -inn"] {
            let hits = try await manager.search(Novel.self, for: text)
            let compared = try await memory.search(Novel.self, for: text)
            #expect(Set(hits.map(\.model.id)) == Set(compared.map(\.model.id)), "\(text)")
            let changed = try await manager.write { store in
                try store.save(Motif(id: 77, word: ""))
                return try store.search(Novel.self, for: text).map(\.model.id)
            }
            #expect(changed == compared.map(\.model.id), "\(text)")
        }
    }

    @Test("The index knows what its documents are of, and other programs' changes are found")
    func otherPrograms() async throws {
        #expect(try await ids("melville") == [1, 2])
        #expect(try counter.number("SELECT count(*) FROM PIPPIN_PAIRS_NOVEL") == 9)
        try counter.execute("UPDATE ZSCRIBE SET ZNAME = 'Broch', Z_OPT = Z_OPT + 1 WHERE ZNAME = 'Jules Verne'")
        #expect(try await ids("broch") == [3])
        try counter.execute("DELETE FROM ZCHAPTER WHERE ZHEADING = 'Loomings'")
        #expect(try await ids("loomings", in: other()) == [])
        #expect(try await ids("spouter") == [1])
        let documents = try counter.number("SELECT max(id) FROM PIPPIN_SEARCH_NOVEL_docsize")
        #expect(try await ids("broch", in: other()) == [3])
        try await manager.update(Scribe.self, where: .all) { $0.set(\.born, to: 1819) }
        try await manager.update(Chapter.self, where: .all) { $0.set(\.pages, to: 7) }
        #expect(try await ids("broch", in: other()) == [3])
        #expect(try counter.number("SELECT max(id) FROM PIPPIN_SEARCH_NOVEL_docsize") == documents)
        try counter.execute("DROP TABLE PIPPIN_PAIRS_NOVEL")
        try await manager.update(Scribe.self, where: \.name == "Broch") { $0.set(\.name, to: "Verne") }
        #expect(try await ids("verne") == [3])
        #expect(try await ids("verne", in: other()) == [3])
        #expect(try counter.number("SELECT count(*) FROM PIPPIN_PAIRS_NOVEL") == 8)
    }

    @Test("After random saves the index finds what comparing all texts finds")
    func random() async throws {
        var random = SplitMix(state: 5)
        let words = ["whale", "sea", "white", "inn", "鯨", "eleve"]
        func text() -> String { (0..<2).map { _ in words.randomElement(using: &random) ?? "" }.joined(separator: " ") }
        func writer() -> Scribe { Scribe(id: Int.random(in: 1..<5, using: &random), name: text()) }
        func label() -> Motif { Motif(id: Int.random(in: 1..<6, using: &random), word: text()) }
        for round in 0..<60 {
            switch Int.random(in: 0..<7, using: &random) {
            case 0: try await manager.save(writer())
            case 1: try await manager.save(label())
            case 2:
                let id = Int.random(in: 1..<5, using: &random)
                try await manager.delete(Scribe.self, where: \.id == id)
            case 3:
                let id = Int.random(in: 1..<6, using: &random)
                try await manager.delete(Motif.self, where: \.id == id)
            case 4:
                let heading = text()
                try await manager.update(Chapter.self, where: \.id > 100) { $0.set(\.heading, to: heading) }
            default:
                let id = Int.random(in: 1..<12, using: &random)
                let chapters = (0..<Int.random(in: 0..<3, using: &random)).map {
                    Chapter(id: id * 100 + $0, heading: text())
                }
                let labels = Dictionary(
                    (0..<Int.random(in: 0..<3, using: &random)).map { _ in label() }.map { ($0.id, $0) }
                ) { first, _ in first }
                try await manager.save(
                    Novel(
                        id: id, title: text(), writer: Bool.random(using: &random) ? writer() : nil,
                        chapters: chapters, labels: Set(labels.values)))
            }
            let query = round % 2 == 0 ? words.randomElement(using: &random) ?? "" : "\"\(text())\""
            let found = try await ids(query)
            let compared = try await manager.write { store in
                try store.save(Chapter(id: 9_999, pages: round))
                return try store.fetch(Novel.self, searching: query).map(\.id)
            }
            #expect(found == Set(compared), "\(round): \(query)")
        }
    }

    @Test("A text beyond a related model's own is refused, with a reason")
    func tooFar() throws {
        let manager = PersistenceManager(models: Wrong.self, Novel.self, store: .memory)
        let error = #expect(throws: PersistenceError.self) { try manager.loadAndWait() }
        #expect(error?.description.contains("directly related") == true)
    }
}
