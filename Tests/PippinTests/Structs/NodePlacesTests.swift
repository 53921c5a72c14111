import Foundation
import Testing

@testable import Pippin

@Suite("The places of identifiers")
struct NodePlacesTests {
    /// Keys of a kind, some of them close to each other.
    private static let keys: [[RecordKey]] = [
        (-500...500).map { .integer(Int64($0)) } + [.integer(.min), .integer(.max)]
            + (0..<62).map { .integer(1 << $0) },
        (0..<1_000).map { .string("text number \($0)") } + (0..<40).map { .string(String(repeating: "a", count: $0)) }
            + (1..<20).map { .string(String(repeating: "\0", count: $0)) },
        (0..<100).map { .string("é\($0)") } + (0..<100).map { .string("日本\($0)") },
        (0..<100).map { .date(Date(timeIntervalSinceReferenceDate: Double($0) / 8)) },
        (0..<100).map { .bytes(Data([UInt8($0), 1])) },
    ]

    @Test("are those that they were given, once each", arguments: keys)
    func places(keys: [RecordKey]) {
        let keys = Set(keys).shuffled()
        var places = NodePlaces()
        for (index, key) in keys.enumerated() { #expect(places.place(of: key, orPut: index) == index) }
        for (index, key) in keys.enumerated() {
            #expect(places.place(of: key) == index)
            #expect(places.place(of: key, orPut: -5) == index)
        }
    }

    @Test("are missing for what was not put there")
    func missing() {
        var places = NodePlaces()
        for key in Self.keys.joined() { #expect(places.place(of: key) == nil) }
        _ = places.place(of: .integer(1), orPut: 0)
        _ = places.place(of: .string("1"), orPut: 1)
        #expect(places.place(of: .integer(2)) == nil && places.place(of: .string("2")) == nil)
    }

    @Test("are different for texts that Swift calls equal and that are different bytes")
    func equalTexts() {
        var places = NodePlaces()
        #expect(places.place(of: .string("e\u{301}"), orPut: 0) == 0)
        #expect(places.place(of: .string("\u{E9}"), orPut: 1) == 1)
        #expect(places.place(of: .string("e\u{301}")) == 0)
        #expect(Set([RecordKey.string("e\u{301}"), .string("\u{E9}"), .other("\u{E9}")]).count == 3)
    }

    @Test("have a note of two dates within one microsecond")
    func closeDates() {
        var places = NodePlaces()
        for (place, seconds) in [1, 1.000_002, 2].enumerated() {
            _ = places.place(of: .date(Date(timeIntervalSinceReferenceDate: seconds)), orPut: place)
        }
        #expect(places.closeDates == nil)
        let close = Date(timeIntervalSinceReferenceDate: 2.000_000_2)
        #expect(places.place(of: .date(close), orPut: 3) == 3)
        #expect(places.closeDates?.1 == close)
    }

    @Test("stay where they are when room is made")
    func room() {
        var places = NodePlaces()
        for number in 0..<10 { _ = places.place(of: .integer(Int64(number)), orPut: number) }
        for number in 0..<10 { _ = places.place(of: .string("\(number)"), orPut: number) }
        for kind in [AttributeKind.integer64, .string, .uuid, nil] { places.reserve(10_000, kind) }
        for number in 0..<10 {
            #expect(places.place(of: .integer(Int64(number))) == number)
            #expect(places.place(of: .string("\(number)")) == number)
        }
    }
}
