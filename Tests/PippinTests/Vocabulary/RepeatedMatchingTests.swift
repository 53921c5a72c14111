import Pippin
import Synchronization
import Testing

/// A text that counts how often it is encoded, if it is the one to count.
private struct Shade: Codable, Equatable {
    static let encoded = Mutex(0)

    let name: String

    init(_ name: String) { self.name = name }

    init(from decoder: any Decoder) throws { name = try decoder.singleValueContainer().decode(String.self) }

    func encode(to encoder: any Encoder) throws {
        if name == "counted" { Self.encoded.withLock { $0 += 1 } }
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

private struct Wall: CoreModel {
    let id: Int
    var shade: Shade
}

@Suite("A filter that is tried on many models")
struct RepeatedMatchingTests {
    @Test("makes its predicate for the first one only, also on several threads and in copies")
    func made() async throws {
        let filter = \Wall.shade == Shade("counted") || \Wall.id < 0
        let walls = (-5..<1_000).map { Wall(id: $0, shade: Shade("other")) }
        #expect(try walls.filter { try filter.matches($0) }.map(\.id) == [-5, -4, -3, -2, -1])
        let first = Shade.encoded.withLock { $0 }
        let found = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { try walls.filter { try filter.matches($0) }.count } }
            return try await group.reduce(0, +)
        }
        #expect(found == 20 && first > 0)
        #expect(Shade.encoded.withLock { $0 } == first)
    }
}
