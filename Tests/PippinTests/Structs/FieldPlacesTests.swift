import Foundation
import Testing

@testable import Pippin

@Suite("Where a record's fields are, by key")
struct FieldPlacesTests {
    private enum Cases: String, CodingKey {
        case title, price
        case author = "writer"
    }

    /// Told apart by what it refers to.
    private struct Named: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Told apart by one byte, with more values than there are fields.
    private struct Numbered: CodingKey {
        let number: UInt8
        var stringValue: String { "field\(number)" }
        var intValue: Int? { nil }

        init(_ number: UInt8) { self.number = number }
        init?(stringValue: String) { nil }
        init?(intValue: Int) { nil }
    }

    /// The places of keys, one after the other, and the names that were looked up for them.
    private func places<Key: CodingKey>(_ keys: [Key], in fields: [String]) -> (places: [Int], lookedUp: [String]) {
        let kept = FieldPlaces(Key.self, count: fields.count)
        let place = FieldPlace(kept)
        var lookedUp: [String] = []
        return withExtendedLifetime(kept) {
            let places = keys.map { key in
                place(key) { name in
                    lookedUp.append(name)
                    return fields.firstIndex(of: name)
                }
            }
            return (places, lookedUp)
        }
    }

    @Test("An enumeration's case is asked for its name once")
    func cases() {
        let (places, lookedUp) = places(
            [Cases.author, .title, .price, .title, .author], in: ["title", "price", "writer"])
        #expect(places == [2, 0, 1, 0, 2])
        #expect(lookedUp == ["writer", "title", "price"])
    }

    @Test("A case without a field has no place, however often it is asked for")
    func missing() {
        let (places, lookedUp) = places([Cases.price, .price], in: ["title", "writer", "pages"])
        #expect(places == [-1, -1])
        #expect(lookedUp == ["price"])
    }

    @Test("Keys that are told apart by what they refer to are asked each time")
    func references() {
        let keys = ["a", "b", "a"].map(Named.init(stringValue:))
        let (places, lookedUp) = places(keys, in: ["b", "a"])
        #expect(places == [1, 0, 1])
        #expect(lookedUp == ["a", "b", "a"])
    }

    @Test("Keys of one byte with a value beyond the fields are found by name")
    func beyond() {
        let (places, _) = places([Numbered(200), Numbered(1), Numbered(200)], in: ["field1", "field200"])
        #expect(places == [1, 0, 1])
    }
}
