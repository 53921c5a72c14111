import Foundation
import Testing

@testable import Pippin

/// Which accepts its values in one order only.
private struct Span: CoreModel, Equatable {
    let id: UUID
    var start: Int
    var end: Int
    var first: String
    var last: String
    var opens: Date
    var closes: Date

    struct OutOfOrder: Error {}

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(UUID.self, forKey: .id)
        start = try values.decode(Int.self, forKey: .start)
        end = try values.decode(Int.self, forKey: .end)
        first = try values.decode(String.self, forKey: .first)
        last = try values.decode(String.self, forKey: .last)
        opens = try values.decode(Date.self, forKey: .opens)
        closes = try values.decode(Date.self, forKey: .closes)
        guard start <= end, first < last, opens < closes else { throw OutOfOrder() }
    }
}

@Suite("The values that a model is derived from")
struct MadeUpValueTests {
    @Test("are in ascending order, however many managers there were before")
    func order() throws {
        for _ in 0..<150 { _ = try ModelRegistry([Span.self]) }
    }

    @Test("are the same each time")
    func same() throws {
        #expect(try Span(from: TypeProbe(Span.self)) == Span(from: TypeProbe(Span.self)))
    }

    @Test("are in order as texts, too, when their numbers have another digit")
    func texts() {
        let values = MadeUp()
        let texts = (0..<120).map { _ in values.string }
        #expect(texts == texts.sorted())
        #expect(Set(texts).count == 120)
    }
}
