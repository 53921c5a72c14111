import Foundation
import Pippin
import TestSupport
import Testing

/// What the standard library and Foundation do not decode from just anything.
private struct Particle: CoreModel, Equatable {
    /// Coded as a list that begins with a record.
    struct Track: Codable, Equatable {
        enum CodingKeys: CodingKey { case start }
        var start: Int
        var end: String

        init(start: Int, end: String) { (self.start, self.end) = (start, end) }

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            start = try list.nestedContainer(keyedBy: CodingKeys.self).decode(Int.self, forKey: .start)
            end = try String(from: list.superDecoder())
        }

        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            var record = list.nestedContainer(keyedBy: CodingKeys.self)
            try record.encode(start, forKey: .start)
            try end.encode(to: list.superEncoder())
        }
    }

    let id: Int
    var place: SIMD3<Float>
    var spin: SIMD2<Int>?
    var calendar: Calendar
    var track: Track
}

@Suite("Values of types that decode from few values only")
struct RareValueTests {
    @Test("are vectors, calendars, and lists of records")
    func rareValues() async throws {
        let manager = PersistenceManager(models: Particle.self, store: .memory)
        let particles = [
            Particle(
                id: 1, place: SIMD3(1.5, 2, 3), spin: SIMD2(1, -1), calendar: Calendar(identifier: .hebrew),
                track: Particle.Track(start: 1, end: "x")),
            Particle(
                id: 2, place: .zero, spin: nil, calendar: Calendar(identifier: .gregorian),
                track: Particle.Track(start: 2, end: "")),
        ]
        try await manager.save(particles)
        #expect(try await manager.fetch(Particle.self, sortedBy: .ascending(\.id)) == particles)
        #expect(try await manager.fetch(Particle.self, where: \.place == SIMD3(1.5, 2, 3)) == [particles[0]])
        #expect(try await manager.fetch(Particle.self, where: \.spin == nil) == [particles[1]])
    }

    @Test("are sets of characters and parts of URLs, which Foundation makes of few values without a check")
    func unchecked() async throws {
        struct Rule: CoreModel, Equatable {
            struct Letters: Codable, Equatable {
                var characters: CharacterSet
                init(_ characters: CharacterSet) { self.characters = characters }
                init(from decoder: any Decoder) throws {
                    characters = try decoder.singleValueContainer().decode(CharacterSet.self)
                }
                func encode(to encoder: any Encoder) throws {
                    var container = encoder.singleValueContainer()
                    try container.encode(characters)
                }
            }
            let id: Int
            var allowed: CharacterSet
            var letters: Letters?
            var place: URLComponents
            var others: [URLComponents]
        }
        let manager = PersistenceManager(models: Rule.self, store: .memory)
        let place = try #require(URLComponents(string: "https://example.com:81/a?b=c#d"))
        let rules = [
            Rule(
                id: 1, allowed: CharacterSet(charactersIn: "ab"), letters: Rule.Letters(.decimalDigits), place: place,
                others: [place, URLComponents()]),
            Rule(id: 2, allowed: CharacterSet(), place: URLComponents(), others: []),
        ]
        try await manager.save(rules)
        #expect(try await manager.fetch(Rule.self, sortedBy: .ascending(\.id)) == rules)
    }
}
