import Foundation
import Pippin
import TestSupport
import Testing

private enum Former {
    @CoreModel
    struct Note {
        let id: Int
        var text: String
    }
}

private enum Mood: String, Codable { case calm, glad }

private struct Frame: Codable, Equatable {
    var width: Int
    var height: Int
}

@propertyWrapper
private struct Clamped: Codable, Hashable, Sendable {
    var wrappedValue: Int { didSet { wrappedValue = min(max(wrappedValue, 0), 10) } }
    init(wrappedValue: Int) { self.wrappedValue = min(max(wrappedValue, 0), 10) }
    init(from decoder: any Decoder) throws { self.init(wrappedValue: try Int(from: decoder)) }
    func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

@CoreModel
private struct Note: Equatable {
    let id: Int
    var text: String
    var tag: String = "none"
    var stars = 3
    var weight = -1.5
    var mood = Mood.glad
    var frame = Frame(width: 2, height: 1)
    var tags: [String] = []
    var noted = Date()
    var isDone = false
    var rest: String? = "left out"
}

@CoreModel
private struct Player {
    let id: Int
    @Clamped var level: Int
}

@Suite("An initial value is the default")
struct InitialValueTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("Stored objects without the property get it when the store is opened")
    func stored() async throws {
        let former = PersistenceManager(models: Former.Note.self, store: .file(folder.store))
        try await former.save([Former.Note(id: 1, text: "A"), Former.Note(id: 2, text: "B")])
        await former.close()
        let before = Date()
        let manager = PersistenceManager(models: Note.self, store: .file(folder.store))
        let notes = try await manager.fetch(Note.self, sortedBy: .ascending(\.id))
        #expect(notes.map(\.tag) == ["none", "none"] && notes.map(\.stars) == [3, 3])
        #expect(notes.map(\.weight) == [-1.5, -1.5] && notes.map(\.mood) == [.glad, .glad])
        #expect(notes.map(\.frame) == [Frame(width: 2, height: 1), Frame(width: 2, height: 1)])
        #expect(notes.map(\.tags) == [[], []] && notes.map(\.isDone) == [false, false])
        #expect(notes.map(\.rest) == [nil, nil])
        let noted = try #require(notes.first?.noted)
        #expect(notes.allSatisfy { $0.noted == noted } && noted > before.addingTimeInterval(-60) && noted < Date())
    }

    @Test("A new object of an import gets it, and a stored one keeps its own value")
    func imports() async throws {
        let manager = PersistenceManager(models: Note.self, store: .memory)
        try await manager.save(Note(id: 1, text: "A", stars: 5))
        let file = folder.file("notes.csv")
        try "id,text\n1,A2\n2,B\n".write(to: file, atomically: true, encoding: .utf8)
        let report = try await manager.importCSV(Note.self, from: file)
        #expect(report.refused.isEmpty && report.inserted == 1 && report.updated == 1)
        let notes = try await manager.fetch(Note.self, sortedBy: .ascending(\.id))
        #expect(notes.map(\.text) == ["A2", "B"] && notes.map(\.stars) == [5, 3] && notes[1].tag == "none")
    }

    @Test("A property that JSON lacks gets it, and a wrong one is still an error")
    func json() throws {
        let note = try JSONDecoder().decode(Note.self, from: Data(#"{"id": 1, "text": "A", "stars": 4}"#.utf8))
        #expect(note.stars == 4 && note.tag == "none" && note.frame == Frame(width: 2, height: 1))
        for wrong in [
            #"{"text": "A"}"#, #"{"id": 1, "text": "A", "stars": "x"}"#,
            #"{"id": 1, "text": "A", "frame": {"width": 1}}"#,
        ] {
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(Note.self, from: Data(wrong.utf8)) }
        }
    }

    @Test("A wrapped property is filtered and sorted by its own name")
    func wrapped() async throws {
        let manager = PersistenceManager(models: Player.self, store: .memory)
        try await manager.save([Player(id: 1, level: 99), Player(id: 2, level: 3), Player(id: 3, level: 7)])
        let found = try await manager.fetch(Player.self, where: \.level > 5, sortedBy: .descending(\.level))
        #expect(found.map(\.id) == [1, 3])
        #expect(try await manager.fetch(Player.self, where: .format("level == 3")).map(\.id) == [2])
    }
}
