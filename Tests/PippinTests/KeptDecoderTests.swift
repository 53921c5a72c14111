import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Hoarder: CoreModel {
    let id: String
    let name: String

    enum CodingKeys: String, CodingKey { case id, name }

    // Written and read by one test, on its thread.
    nonisolated(unsafe) static var container: KeyedDecodingContainer<CodingKeys>?
    nonisolated(unsafe) static var decoder: (any Decoder)?

    init(_ id: String, _ name: String) { (self.id, self.name) = (id, name) }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(String.self, forKey: .id)
        name = try values.decode(String.self, forKey: .name)
        Self.container = values
        Self.decoder = decoder
    }
}

@Suite("A model that keeps what it was decoded from")
struct KeptDecoderTests {
    @Test("finds nothing there when it has been decoded, in the container as in the decoder")
    func kept() async throws {
        let manager = PersistenceManager(models: Hoarder.self, store: .memory)
        try manager.loadAndWait()
        try await manager.save([Hoarder("1", "Ann"), Hoarder("2", "Bob")])
        #expect(Set(try await manager.fetch(Hoarder.self).map(\.name)) == ["Ann", "Bob"])
        let decoder = try #require(Hoarder.decoder)
        #expect(throws: PersistenceError.self) { try decoder.container(keyedBy: Hoarder.CodingKeys.self) }
        Hoarder.decoder = nil
        let container = try #require(Hoarder.container)
        #expect(throws: PersistenceError.self) { try container.decode(String.self, forKey: .name) }
        Hoarder.container = nil
    }

    @Test("A container is known to be gone once nobody has it")
    func trace() throws {
        struct Spy: Decodable {
            enum CodingKeys: CodingKey { case a }
            let container: KeyedDecodingContainer<CodingKeys>

            init(from decoder: any Decoder) throws { container = try decoder.container(keyedBy: CodingKeys.self) }
        }
        typealias Kept = KeptContainerOf<KeyedDecodingContainer<Spy.CodingKeys>>
        func made() throws -> Kept {
            Kept(try JSONDecoder().decode(Spy.self, from: Data("{}".utf8)).container, key: Spy.CodingKeys.self)
        }
        var kept: Kept? = try made()
        let trace = try #require(kept?.trace)
        let copy = kept?.get()
        kept = nil
        withExtendedLifetime(copy) { #expect(trace.isThere) }
        let other = try made().trace
        #expect(!other.isThere)
    }

    @Test("Whoever keeps nothing lets the decoder go, and with the last fetch the store and its files")
    func notKept() async throws {
        func openFiles() async throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
                return target?.contains("kept-decoder.sqlite") ?? false
            }
        }
        let folder = try TestFolder()
        do {
            let store = StoreLocation.file(folder.file("kept-decoder.sqlite"))
            let manager = PersistenceManager(models: Modest.self, store: store)
            try manager.loadAndWait()
            try await manager.save([Modest(id: 1, next: nil), Modest(id: 2, next: Reference(id: 1))])
            for _ in 0..<3 { #expect(try await manager.fetch(Modest.self).count == 2) }
            #expect(try await openFiles() > 0)
        }
        // Whoever looks at the store for changes at that moment holds it a little longer.
        #expect(try await eventually { try await openFiles() == 0 })
    }
}

private struct Modest: CoreModel {
    let id: Int
    var next: Reference<Modest>?
}
