import Foundation
import Pippin
import Testing

@CoreModel
private struct Offer: Equatable {
    let id: Int
    var title: String
    var price: Decimal?
    var size: Size?
    var stars = 3
}

private struct Size: Codable, Equatable {
    var width: Double
    var unit: String
}

@Suite("Partial JSON")
struct MergingTests {
    private let offer = Offer(id: 1, title: "A", price: 12.30, size: Size(width: 1.5, unit: "m"), stars: 5)

    private func merged(_ json: String) throws -> Offer { try offer.merging(json: Data(json.utf8)) }

    @Test("replaces the values that it has, and leaves the others")
    func replaces() throws {
        #expect(
            try merged(#"{"title": "B", "price": 0.1}"#)
                == Offer(id: 1, title: "B", price: 0.1, size: offer.size, stars: 5))
        #expect(try merged("{}") == offer)
        #expect(try merged(#"{"id": 1, "size": {"width": 2}}"#).size == Size(width: 2, unit: "m"))
    }

    @Test("takes a value away with null")
    func null() throws {
        #expect(
            try merged(#"{"price": null, "size": null}"#) == Offer(id: 1, title: "A", price: nil, size: nil, stars: 5))
    }

    @Test(
        "is refused with the property and the reason",
        arguments: [
            (#"{"titel": "B"}"#, PersistenceError.Code.unknownProperty, "titel"),
            (#"{"id": 2}"#, .invalid, "keeps its identifier"),
            (#"{"title": 5}"#, .invalid, "title"), (#"{"title": null}"#, .invalid, "title"),
            ("[1]", .invalid, "not a JSON object"),
            ("{", .invalid, "not a JSON object"),
        ])
    func refused(json: String, code: PersistenceError.Code, text: String) {
        let error = #expect(throws: PersistenceError.self) { try merged(json) }
        #expect(error?.code == code && error?.description.contains(text) == true, "\(error?.description ?? "")")
    }
}
