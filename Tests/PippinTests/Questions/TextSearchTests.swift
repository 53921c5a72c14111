import Foundation
import Pippin
import TestSupport
import Testing

private struct Place: Codable, Equatable, Sendable {
    var city: String
    var note: String?
}

private struct Story: CoreModel, Equatable {
    let id: Int
    var title: String
    var text: String?
    var price = 0.0
    var place: Place?

    static var schema: Schema<Story> {
        Schema(.searchable(\.title, weight: 4), .searchable(\.text))
    }
}

private struct Note: CoreModel, Equatable {
    let id: Int
    var place: Place

    static var schema: Schema<Note> { Schema(.searchable(\.place.city, stemming: .english)) }
}

private struct Plain: CoreModel {
    let id: Int
    var title: String
}

@Suite("Full-text search of structs")
struct TextSearchTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() async throws {
        counter = try Counter(Story.self, Note.self, Plain.self)
        try await manager.save([
            Story(id: 1, title: "Moby-Dick; or, The Whale", text: "Call me Ishmael. A white sea.", price: 10),
            Story(id: 2, title: "Élèves", text: "The whales swim in a white, white sea", price: 30),
            Story(id: 3, title: "白鯨", text: "鯨は東京都にいない", price: 5),
            Story(id: 4, title: "Nothing", text: nil, price: 5),
        ])
    }

    private func ids(_ text: String, in manager: PersistenceManager? = nil) async throws -> [Int] {
        try await (manager ?? self.manager).fetch(Story.self, searching: text).map(\.id)
    }

    @Test("A search finds words, beginnings, phrases and pieces of Japanese, whatever is typed")
    func finding() async throws {
        #expect(try await ids("whale") == [1])
        #expect(try await Set(ids("whale*")) == [1, 2])
        #expect(try await Set(ids("\"white sea\"")) == [1, 2])
        #expect(try await ids("\"white sea\" -moby") == [2])
        #expect(try await ids("ELEVES") == [2])
        #expect(try await ids("京都") == [3])
        #expect(try await ids("東都") == [])
        #expect(try await Set(ids("nothing OR 鯨")) == [3, 4])
        for text in ["", "\"", "*", "NEAR(a", "title:x", "' OR 1=1 --", "-moby", "\0", "a\" AND \"b"] {
            #expect(try await ids(text).count <= 4)
        }
    }

    @Test("The best comes first, by the weights of the texts, and a hit has excerpts")
    func ranks() async throws {
        try await manager.save(Story(id: 5, title: "Sea", text: "A whale of a time"))
        let hits = try await manager.search(Story.self, for: "whale")
        #expect(hits.map(\.model.id) == [1, 5])
        #expect(hits[0].rank < hits[1].rank)
        #expect(hits[1].excerpt(\.text, words: 2)?.marked("[", "]") == "…[whale] of…")
        #expect(hits[0].excerpt(\.title).marked("[", "]") == "Moby-Dick; or, The [Whale]")
    }

    @Test("A filter and a limit narrow what is found, and keep its order")
    func filters() async throws {
        #expect(try await manager.fetch(Story.self, searching: "white", where: \.price > 20).map(\.id) == [2])
        let all = try await manager.fetch(Story.self, searching: "white sea")
        #expect(all.count == 2)
        #expect(try await manager.fetch(Story.self, searching: "white sea", limit: 1) == Array(all.prefix(1)))
        #expect(try await manager.fetch(Story.self, searching: "white sea", where: \.price > 0, limit: 1).count == 1)
        #expect(try await manager.fetch(Story.self, searching: "white sea", limit: 0).isEmpty)
    }

    @Test("What is changed and deleted is found as it is now")
    func changes() async throws {
        #expect(try await ids("whale") == [1])
        try await manager.update(Story.self, where: \.id == 1) { $0.set(\.title, to: "Typee") }
        #expect(try await ids("whale") == [])
        #expect(try await ids("typee") == [1])
        try await manager.delete(Story.self, where: \.id == 1)
        #expect(try await ids("typee") == [])
        var story = try #require(try await manager.find(Story.self, id: 4))
        story.text = "a giraffe"
        try await manager.save(story)
        #expect(try await ids("giraffe") == [4])
        let index = try counter.strings(
            "SELECT rowid FROM PIPPIN_SEARCH_STORY WHERE PIPPIN_SEARCH_STORY MATCH 'giraffe'")
        #expect(index.count == 1)
    }

    @Test("Deleting all models leaves nothing to be found, also with a limit")
    func deletingAll() async throws {
        #expect(try await ids("whale") == [1])
        try await manager.delete(Story.self, where: .all)
        #expect(try await ids("whale*") == [])
        try await manager.save(Story(id: 9, title: "Whale", text: nil))
        #expect(try await manager.fetch(Story.self, searching: "whale*", limit: 1).map(\.id) == [9])
    }

    @Test("The index has words, not texts, and none for a change that leaves the texts alone")
    func documents() async throws {
        _ = try await ids("whale")
        let before = try counter.number("SELECT max(id) FROM PIPPIN_SEARCH_STORY_docsize")
        try await manager.update(Story.self, where: .all) { $0.set(\.price, to: 1) }
        _ = try await ids("whale")
        #expect(try counter.number("SELECT max(id) FROM PIPPIN_SEARCH_STORY_docsize") == before)
        #expect(try counter.strings("SELECT ifnull(f0, '') FROM PIPPIN_SEARCH_STORY").allSatisfy { $0.isEmpty })
    }

    @Test("Another program's changes by plain SQL are found after the next opening and while the store is open")
    func otherPrograms() async throws {
        #expect(try await ids("giraffe") == [])
        try counter.execute("UPDATE ZSTORY SET ZTITLE = 'Giraffe', Z_OPT = Z_OPT + 1 WHERE ZTITLE = 'Nothing'")
        #expect(try await ids("giraffe") == [4])
        try counter.execute("DELETE FROM ZSTORY WHERE ZTITLE = 'Giraffe'")
        let other = PersistenceManager(models: Story.self, Note.self, Plain.self, store: .file(counter.file))
        #expect(try await ids("giraffe", in: other) == [])
        #expect(try await ids("giraffe") == [])
        #expect(try counter.number("SELECT count(*) FROM PIPPIN_SEARCHED_STORY") == 3)
    }

    @Test("An index that is deleted, or damaged, is made again, and never refuses a save")
    func healing() async throws {
        #expect(try await ids("whale") == [1])
        try counter.execute("DROP TABLE PIPPIN_SEARCH_STORY")
        try await manager.save(Story(id: 6, title: "Whale again", text: nil))
        #expect(try await Set(ids("whale")) == [1, 6])
        let other = PersistenceManager(models: Story.self, Note.self, Plain.self, store: .file(counter.file))
        #expect(try await Set(ids("whale", in: other)) == [1, 6])
        #expect(try counter.number("SELECT count(*) FROM PIPPIN_SEARCHED_STORY") == 5)
        try counter.execute("DELETE FROM PIPPIN_SEARCH_STORY_data")
        try await manager.save(Story(id: 7, title: "Whale once more", text: nil))
        #expect(try await Set(ids("whale")) == [1, 6, 7])
        let third = PersistenceManager(models: Story.self, Note.self, Plain.self, store: .file(counter.file))
        #expect(try await Set(ids("whale", in: third)) == [1, 6, 7])
    }

    @Test("A block that reads, and one that has changed something, find what they would read")
    func blocks() async throws {
        let found = try await manager.read { store in try store.fetch(Story.self, searching: "whale*").map(\.id) }
        #expect(Set(found) == [1, 2])
        let inside = try await manager.write { store in
            try store.save(Story(id: 8, title: "Narwhal", text: nil))
            return try store.fetch(Story.self, searching: "narwhal").map(\.id)
        }
        #expect(inside == [8])
        #expect(try await ids("narwhal") == [8])
    }

    @Test("A file that is only searched in blocks that read gets its index")
    func blocksOnly() async throws {
        let folder = try TestFolder()
        let first = PersistenceManager(models: Story.self, Note.self, Plain.self, store: .file(folder.store))
        try await first.save(Story(id: 1, title: "Whale", text: nil))
        try execute("DELETE FROM PIPPIN_SEARCHED_STORY", in: folder.store)
        let manager = PersistenceManager(models: Story.self, Note.self, Plain.self, store: .file(folder.store))
        for _ in 0..<2 {
            #expect(try await manager.read { try $0.fetch(Story.self, searching: "whale").map(\.id) } == [1])
        }
        #expect(try plainNumber("SELECT count(*) FROM PIPPIN_SEARCHED_STORY", in: folder.store) == 1)
    }

    @Test("A migration that changes texts leaves no old words in the index")
    func migration() async throws {
        enum Old {
            struct Saga: CoreModel {
                let id: Int
                var title: String
                static var schema: Schema<Saga> { Schema(.searchable(\.title)) }
            }
        }
        enum New {
            struct Saga: CoreModel {
                let id: Int
                var title: String
                var pages: Int?
                static var schema: Schema<Saga> { Schema(.searchable(\.title)) }
            }
        }
        enum Last {
            struct Saga: CoreModel {
                let id: Int
                var title: String
                var pages: Int?
                var note: String?
                static var schema: Schema<Saga> { Schema(.searchable(\.title)) }
            }
        }
        let location = StoreLocation.file(counter.folder.file("sagas.sqlite"))
        let old = PersistenceManager(models: Old.Saga.self, store: location)
        try await old.save([Old.Saga(id: 1, title: "whale"), Old.Saga(id: 2, title: "boat")])
        #expect(try await old.fetch(Old.Saga.self, searching: "whale").map(\.id) == [1])
        await old.close()
        let plan = MigrationPlan(from: ModelVersion("1", models: Old.Saga.self)).changing(
            to: ModelVersion("2", models: New.Saga.self),
            .model(Old.Saga.self, to: New.Saga.self) { New.Saga(id: $0.id, title: "\($0.title)s", pages: 7) })
        let new = PersistenceManager(models: New.Saga.self, store: location)
        try await new.load(migratingBy: plan)
        #expect(try await new.fetch(New.Saga.self, searching: "whale").isEmpty)
        #expect(try await new.fetch(New.Saga.self, searching: "whales").map(\.id) == [1])
        await new.close()
        // A migration in place, of texts that changed without another version of their rows.
        try execute("UPDATE ZSAGA SET ZTITLE = 'harpoon'", in: counter.folder.file("sagas.sqlite"))
        let last = PersistenceManager(models: Last.Saga.self, store: location)
        try await last.load()
        #expect(try await last.fetch(Last.Saga.self, searching: "whales").isEmpty)
        #expect(try await last.fetch(Last.Saga.self, searching: "harpoon").count == 2)
    }

    @Test("An observed search has its hits now and after each save, best first")
    func observing() async throws {
        var seen: [[Int]] = []
        for try await hits in manager.observe(Story.self, searching: "whale*", where: \.price < 50, limit: 2) {
            seen.append(hits.map(\.model.id))
            switch seen.count {
            case 1: try await manager.save(Story(id: 5, title: "Whale! Whale! Whale!", text: nil))
            case 2: try await manager.delete(Story.self, where: \.id == 5)
            default: break
            }
            if seen.count == 3 { break }
        }
        #expect(seen.map(Set.init) == [[1, 2], [1, 5], [1, 2]])
    }

    @Test("A text of a nested struct is searched, with English endings ignored")
    func nested() async throws {
        try await manager.save(Note(id: 1, place: Place(city: "Whaling stations", note: nil)))
        #expect(try await manager.fetch(Note.self, searching: "whale station").map(\.id) == [1])
        #expect(try await manager.fetch(Note.self, searching: "stat*").map(\.id) == [1])
    }

    @Test("A type without searched texts says what to add")
    func unsearched() async throws {
        let error = await #expect(throws: PersistenceError.self) {
            _ = try await manager.fetch(Plain.self, searching: "x")
        }
        #expect(error?.code == .unknownProperty && error?.description.contains(".searchable") == true)
    }

    @Test("The index finds what comparing all texts finds, after random saves")
    func sameAsComparing() async throws {
        let words = ["whale", "Wal", "白鯨", "鯨", "Élève", "eleve", "ким", "كتاب", "white sea", "sea-side", "ναύς", "학교"]
        var random = SplitMix(state: 42)
        for _ in 0..<60 {
            let story = Story(
                id: Int.random(in: 10..<60, using: &random),
                title: (0..<3).map { _ in words.randomElement(using: &random) ?? "" }.joined(separator: " "),
                text: Bool.random(using: &random) ? words.randomElement(using: &random) : nil)
            try await manager.save(story)
            if Int.random(in: 0..<8, using: &random) == 0 {
                try await manager.delete(Story.self, where: \.id == story.id)
            }
        }
        let memory = PersistenceManager(models: Story.self, Note.self, Plain.self, store: .memory)
        try await memory.save(try await manager.fetch(Story.self))
        for query in ["whale", "sea", "鯨", "el*", "\"white sea\"", "-wal white", "ким OR كتاب", "학", "ναυς whale"] {
            let found = try await ids(query)
            #expect(try await Set(ids(query, in: memory)) == Set(found), "\(query)")
            // A block with changes compares texts.
            let compared = try await manager.write { store in
                try store.save(Plain(id: 1, title: ""))
                return try store.fetch(Story.self, searching: query).map(\.id)
            }
            #expect(Set(compared) == Set(found), "\(query)")
        }
    }
}
