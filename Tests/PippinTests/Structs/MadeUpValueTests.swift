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

/// Which accept numbers with a fraction in one order only, the second parts of a whole besides.
private struct Bounds: CoreModel {
    let id: Int
    var low: Double
    var high: Double
    var crop: Crop
    struct Crop: Codable, Sendable {
        var left: Float
        var right: Float
        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            left = try values.decode(Float.self, forKey: .left)
            right = try values.decode(Float.self, forKey: .right)
            guard left < right, right <= 1 else { throw Span.OutOfOrder() }
        }
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(Int.self, forKey: .id)
        low = try values.decode(Double.self, forKey: .low)
        high = try values.decode(Double.self, forKey: .high)
        crop = try values.decode(Crop.self, forKey: .crop)
        guard low < high else { throw Span.OutOfOrder() }
    }
}

private struct Zoom: CoreModel {
    let id: Int
    var least: Double
    var most: Double
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(Int.self, forKey: .id)
        least = try values.decode(Double.self, forKey: .least)
        most = try values.decode(Double.self, forKey: .most)
        guard 1 <= least, least < most else { throw Span.OutOfOrder() }
    }
}

@Suite("The values that a model is derived from")
struct MadeUpValueTests {
    @Test("are in ascending order, however many managers there were before")
    func order() throws {
        for _ in 0..<150 { _ = try ModelRegistry([Span.self]) }
    }

    @Test("ascend as numbers with a fraction, too, if the type refuses equal ones")
    func fractions() throws {
        let bounds = try #require(try ModelRegistry([Bounds.self]).plans.first)
        #expect(bounds.propertyNames == ["id", "low", "high", "crop"])
        guard case .composite(let crop) = bounds.fields[3].kind else {
            Issue.record("crop has no columns")
            return
        }
        #expect(crop.names == ["left", "right"])
        _ = try ModelRegistry([Zoom.self])
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
