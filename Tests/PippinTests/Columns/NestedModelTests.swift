import Pippin
import SQLiteConnection
import Testing

/// Versions of a model, each with types of its own beside it.
private enum V1 {
    enum Mood: String, Codable { case calm, wild }
    typealias Weight = Double

    @CoreModel
    struct Owner: Equatable {
        let id: Int
        var name: String
    }

    @CoreModel
    struct Horse: Equatable {
        let id: Int
        var name: String
        var mood: Mood
        var lastMood: Mood?
        var weight: Weight?
        var height: Int16
        var age = 3
        var owner: Owner?
        var stable: [Owner]
        var note: [Mood] = [.calm]
    }
}

extension V1 {
    @CoreModel
    struct Race: Equatable {
        let id: Int
        var winner: Horse?
        var moods: [Mood]
    }
}

@Suite("Models in a type, with types beside them")
struct NestedModelTests {
    private let owner = V1.Owner(id: 1, name: "Ann")
    private var horse: V1.Horse {
        V1.Horse(
            id: 7, name: "Bay", mood: .wild, lastMood: nil, weight: 512.5, height: 170, age: 9, owner: owner,
            stable: [owner])
    }

    @Test("are read and written by columns")
    func roundTrip() async throws {
        let race = V1.Race(id: 3, winner: horse, moods: [.wild, .calm])
        let counter = try Counter(V1.Race.self, V1.Horse.self)
        try await counter.manager.save(race)
        #expect(V1.Horse.compiledColumns != nil && V1.Race.compiledColumns != nil)
        #expect(try await counter.manager.fetch(V1.Race.self) == [race])
        #expect(try await counter.manager.fetch(V1.Horse.self, where: \.mood == .wild && \.lastMood == nil) == [horse])
    }

    @Test("name the property that cannot be read")
    func unreadable() async throws {
        let counter = try Counter(V1.Horse.self)
        try await counter.manager.save(horse)
        try Connection(path: counter.file.path, mode: .readWrite).execute("UPDATE ZHORSE SET ZHEIGHT = NULL")
        await #expect {
            try await counter.manager.fetch(V1.Horse.self)
        } throws: { error in (error as? PersistenceError)?.property == "height" }
    }
}
