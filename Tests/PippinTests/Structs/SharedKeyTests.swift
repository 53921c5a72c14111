import Pippin
import Testing

/// Encodes two properties under one key.
private struct TwoSided: CoreModel {
    let id: Int
    var front: String
    var back: String

    enum CodingKeys: CodingKey { case id, text }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(Int.self, forKey: .id)
        front = try values.decode(String.self, forKey: .text)
        back = try values.decode(String.self, forKey: .text)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(front, forKey: .text)
        try values.encode(back, forKey: .text)
    }
}

/// Decodes a key twice by mistake, and the other one never.
private struct Mistyped: CoreModel {
    let id: Int
    var front: String
    var back: String

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(Int.self, forKey: .id)
        front = try values.decode(String.self, forKey: .front)
        back = try values.decode(String.self, forKey: .front)
    }
}

@Suite("Coding by hand that uses one key for two properties")
struct SharedKeyTests {
    @Test("is refused where one of their values would be lost")
    func encoded() async {
        let manager = PersistenceManager(models: TwoSided.self, store: .memory)
        let error = await #expect(throws: PersistenceError.self) { try await manager.load() }
        #expect(error?.code == .notDerivable && error?.property == "text")
        #expect(error?.description.contains("Give each a coding key of its own") == true)
    }

    @Test("is told that each key that is encoded has to be decoded")
    func decoded() async {
        let manager = PersistenceManager(models: Mistyped.self, store: .memory)
        let error = await #expect(throws: PersistenceError.self) { try await manager.load() }
        #expect(error?.code == .notDerivable && error?.property == "back")
        #expect(error?.description.contains("has to decode every key") == true)
    }
}
