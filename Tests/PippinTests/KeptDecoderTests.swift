import Foundation
import Pippin
import Testing

private struct Hoarder: CoreModel, Codable, Sendable {
    let uid: String
    let name: String

    enum CodingKeys: String, CodingKey { case uid, name }

    // Written and read by one test, on its thread.
    nonisolated(unsafe) static var container: KeyedDecodingContainer<CodingKeys>?
    nonisolated(unsafe) static var decoder: (any Decoder)?

    init(_ uid: String, _ name: String) { (self.uid, self.name) = (uid, name) }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        uid = try values.decode(String.self, forKey: .uid)
        name = try values.decode(String.self, forKey: .name)
        Self.container = values
        Self.decoder = decoder
    }
}

@Suite("A model that keeps what it was decoded from")
struct KeptDecoderTests {
    @Test("finds nothing there when it has been decoded, in the container as in the decoder")
    func kept() throws {
        let manager = PersistenceManager(models: Hoarder.self, store: .memory)
        try manager.load()
        try manager.save([Hoarder("1", "Ann"), Hoarder("2", "Bob")])
        #expect(Set(try manager.fetch(Hoarder.self).map(\.name)) == ["Ann", "Bob"])
        let decoder = try #require(Hoarder.decoder)
        #expect(throws: PersistenceError.self) { try decoder.container(keyedBy: Hoarder.CodingKeys.self) }
        Hoarder.decoder = nil
        let container = try #require(Hoarder.container)
        #expect(throws: PersistenceError.self) { try container.decode(String.self, forKey: .name) }
        Hoarder.container = nil
    }
}
