import Foundation
import TestSupport
import Testing

@testable import Pippin

/// Coded by hand, with the case's name among the keys; it refuses what it does not know.
private enum Payment: Codable, Equatable, Sendable, Prototyped {
    case card(String)
    case cash(Decimal)
    struct Unknown: Error {}
    static let prototype = Payment.card("")
    enum Key: String, CodingKey { case type, number, amount }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        switch try values.decode(String.self, forKey: .type) {
        case "card": self = .card(try values.decode(String.self, forKey: .number))
        case "cash": self = .cash(try values.decode(Decimal.self, forKey: .amount))
        default: throw Unknown()
        }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        switch self {
        case .card(let number):
            try values.encode("card", forKey: .type)
            try values.encode(number, forKey: .number)
        case .cash(let amount):
            try values.encode("cash", forKey: .type)
            try values.encode(amount, forKey: .amount)
        }
    }
}

/// Which takes what it does not know for a case of its own.
private enum Delivery: Codable, Equatable, Sendable {
    case post(days: Int)
    case unknown
    enum Key: String, CodingKey { case type, days }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        if try values.decode(String.self, forKey: .type) == "post" {
            self = .post(days: try values.decode(Int.self, forKey: .days))
        } else {
            self = .unknown
        }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        if case .post(let days) = self {
            try values.encode("post", forKey: .type)
            try values.encode(days, forKey: .days)
        } else {
            try values.encode("unknown", forKey: .type)
        }
    }
}

/// A struct whose keys depend on one of them.
private struct Figure: Codable, Equatable, Sendable {
    var radius: Double?
    var side: Double?
    enum Key: String, CodingKey { case type, radius, side }

    init(radius: Double? = nil, side: Double? = nil) { (self.radius, self.side) = (radius, side) }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        switch try values.decode(String.self, forKey: .type) {
        case "circle": radius = try values.decode(Double.self, forKey: .radius)
        default: side = try values.decodeIfPresent(Double.self, forKey: .side)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(radius == nil ? "square" : "circle", forKey: .type)
        try values.encodeIfPresent(radius, forKey: .radius)
        try values.encodeIfPresent(side, forKey: .side)
    }
}

private struct Order: CoreModel, Equatable {
    let id: Int
    var payment: Payment
    var refund: Payment?
    var delivery: Delivery
}

private struct Frame: Codable, Equatable, Sendable {
    var figure: Figure
    var color: String
}

private struct Picture: CoreModel, Equatable {
    let id: Int
    var figure: Figure
    var shadow: Figure?
    var frame: Frame
    static var schema: Schema<Picture> { Schema(.json(\.figure), .json(\.shadow), .json(\.frame.figure)) }
}

@CoreModel
private struct Drawing: Equatable {
    let id: Int
    var figure: Figure
    static var schema: Schema<Drawing> { Schema(.json(\.figure)) }
}

/// Which refuses the values that it is tried with after it has read them all.
private struct Hours: Codable, Equatable, Sendable, Prototyped {
    var from: Int
    var to: Int
    struct Refused: Error {}
    static let prototype = Hours(from: 1_000, to: 2_000)
    init(from: Int, to: Int) { (self.from, self.to) = (from, to) }
    enum CodingKeys: CodingKey { case from, to }
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        from = try values.decode(Int.self, forKey: .from)
        to = try values.decode(Int.self, forKey: .to)
        guard from >= 1_000 else { throw Refused() }
    }
}

private struct Museum: CoreModel, Equatable {
    let id: Int
    var hours: Hours
}

/// What earlier builds made of a hand-coded enumeration: the keys of one case.
private struct FormerPurchase: CoreModel {
    struct Payment: Codable, Sendable { var type: String }
    let id: Int
    var payment: Payment?
    static var schema: Schema<FormerPurchase> { Schema(name: "Purchase") }
}

private struct Purchase: CoreModel, Equatable {
    let id: Int
    var payment: Payment?
    static var schema: Schema<Purchase> { Schema() }
}

private struct NewPurchase: CoreModel, Equatable {
    let id: Int
    var payment: Payment?
    static var schema: Schema<NewPurchase> { Schema(.removed("payment"), name: "Purchase") }
}

private struct ConvertedPurchase: CoreModel, Equatable {
    let id: Int
    var payment: Payment?
    static var schema: Schema<ConvertedPurchase> { Schema(name: "Purchase") }
}

@Suite("Values that are coded by hand")
struct HandCodedValueTests {
    @Test("are kept as JSON if they are enumerations, whatever they ask for")
    func enumerations() async throws {
        let counter = try Counter(Order.self)
        let orders = [
            Order(id: 1, payment: .card("4711"), refund: nil, delivery: .post(days: 3)),
            Order(id: 2, payment: .cash(12), refund: .card("12"), delivery: .unknown),
        ]
        try await counter.manager.save(orders)
        #expect(try await counter.manager.fetch(Order.self, sortedBy: .ascending(\.id)) == orders)
        #expect(try await counter.manager.fetch(Order.self, where: \.payment == .cash(12)).map(\.id) == [2])
        #expect(
            try counter.strings("SELECT CAST(ZPAYMENT AS TEXT) FROM ZORDER ORDER BY ZID") == [
                #"{"number":"4711","type":"card"}"#, #"{"amount":12,"type":"cash"}"#,
            ])
    }

    @Test("are kept as JSON if the schema says so, those of a nested struct, too")
    func rule() async throws {
        let counter = try Counter(Picture.self, Drawing.self)
        let pictures = [
            Picture(
                id: 1, figure: Figure(radius: 1), shadow: nil,
                frame: Frame(figure: Figure(side: 2), color: "red")),
            Picture(
                id: 2, figure: Figure(side: 2), shadow: Figure(radius: 3),
                frame: Frame(figure: Figure(radius: 1), color: "blue")),
        ]
        try await counter.manager.save(pictures)
        #expect(try await counter.manager.fetch(Picture.self, sortedBy: .ascending(\.id)) == pictures)
        #expect(try await counter.manager.count(Picture.self, where: \.frame.color == "blue") == 1)
        #expect(
            try counter.strings("SELECT CAST(ZFIGURE AS TEXT) FROM ZPICTURE ORDER BY ZID") == [
                #"{"radius":1,"type":"circle"}"#, #"{"side":2,"type":"square"}"#,
            ])
        let drawing = Drawing(id: 1, figure: Figure(side: 4))
        try await counter.manager.save(drawing)
        #expect(try await counter.manager.find(Drawing.self, id: 1) == drawing)
    }

    @Test("keep their columns where a prototype shows that all keys were read before the values were refused")
    func columns() async throws {
        let counter = try Counter(Museum.self)
        let museum = Museum(id: 1, hours: Hours(from: 1_000, to: 1_700))
        try await counter.manager.save(museum)
        #expect(try await counter.manager.fetch(Museum.self, where: \.hours.to == 1_700) == [museum])
    }

    @Test("are an error that names them where a store has columns, until a rule removes these")
    func formerStores() async throws {
        let place = try StorePlace()
        try await place.loaded([FormerPurchase.self]).save(FormerPurchase(id: 1, payment: .init(type: "card")))
        let error = #expect(throws: PersistenceError.self) { try place.loaded([Purchase.self]) }
        #expect(error?.code == .wouldLose)
        #expect(error?.losses.map(\.property) == ["payment"])
        #expect(error?.losses.first?.advice.contains("Convert them by a MigrationPlan") == true)
        let manager = try place.loaded([NewPurchase.self])
        #expect(try await manager.fetch(NewPurchase.self) == [NewPurchase(id: 1, payment: nil)])
        try await manager.save(NewPurchase(id: 1, payment: .cash(3)))
        #expect(try await manager.fetch(NewPurchase.self) == [NewPurchase(id: 1, payment: .cash(3))])
    }

    @Test("are refused when the store is opened if they are encoded only, such as a constant with a value")
    func encodedOnly() {
        struct Document: CoreModel {
            let id: Int
            var text: String
            let version = 1
            // As if it were synthesized, without the compiler's warning.
            init(from decoder: any Decoder) throws {
                let values = try decoder.container(keyedBy: CodingKeys.self)
                id = try values.decode(Int.self, forKey: .id)
                text = try values.decode(String.self, forKey: .text)
            }
        }
        struct Sheet: CoreModel {
            struct Size: Codable {
                var width: Int
                let unit = "mm"
                init(from decoder: any Decoder) throws {
                    width = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .width)
                }
            }
            let id: Int
            var size: Size
        }
        struct Listing: CoreModel {
            let id: Int
            var sizes: [Sheet.Size]
            var sheet: Sheet?
            static var schema: Schema<Listing> { Schema() }
        }
        func refused(_ type: any CoreModel.Type) -> PersistenceError? {
            #expect(throws: PersistenceError.self) { try ModelRegistry([type]) }
        }
        #expect(refused(Document.self)?.code == .notDerivable)
        #expect(refused(Document.self)?.property == "version")
        #expect(refused(Sheet.self)?.property == "size.unit")
        #expect(refused(Document.self)?.description.contains("make it a `var`") == true)
        #expect(refused(Listing.self)?.entity == "Sheet", "values that are kept as JSON may have such keys")
    }

    @Test("are converted from columns in a store by a migration plan with the former struct")
    func convertedStores() async throws {
        let place = try StorePlace()
        try await place.loaded([FormerPurchase.self]).save(FormerPurchase(id: 1, payment: .init(type: "cash")))
        let plan = MigrationPlan(from: ModelVersion("1", models: FormerPurchase.self)).changing(
            to: ModelVersion("2", models: ConvertedPurchase.self),
            .model(FormerPurchase.self, to: ConvertedPurchase.self) { former in
                let payment = former.payment.map { $0.type == "cash" ? Payment.cash(1) : .card("") }
                return ConvertedPurchase(id: former.id, payment: payment)
            })
        let manager = PersistenceManager(models: ConvertedPurchase.self, store: .file(place.file))
        try await manager.load(migratingBy: plan)
        #expect(
            try await manager.fetch(ConvertedPurchase.self) == [ConvertedPurchase(id: 1, payment: .cash(1))])
    }

    @Test("cannot be looked into by the store; the error names entity and property")
    func filters() async throws {
        let counter = try Counter(Picture.self)
        let filters: [Filter<Picture>] = [\.figure.side == 2, .format("figure.side == 2")]
        for filter in filters {
            let error = await #expect(throws: PersistenceError.self) {
                try await counter.manager.count(Picture.self, where: filter)
            }
            #expect(error?.code == .keptAsJSON)
            #expect(error?.entity == "Picture")
            #expect(error?.property == "figure")
            #expect(error?.path == nil)
        }
    }

    @Test("are refused as JSON where they are a single value, a model, or nothing that is stored")
    func refused() {
        struct Text: CoreModel {
            let id: Int
            var text: String
            static var schema: Schema<Text> { Schema(.json(\.text)) }
        }
        struct Wall: CoreModel {
            let id: Int
            var museum: Museum?
            static var schema: Schema<Wall> { Schema(.json(\.museum)) }
        }
        struct Nothing: CoreModel {
            let id: Int
            var half: Int { id / 2 }
            static var schema: Schema<Nothing> { Schema(.json(\.half)) }
        }
        func refusal(_ type: any CoreModel.Type) -> String {
            let error = #expect(throws: PersistenceError.self) { try ModelRegistry([type]) }
            return error?.description ?? ""
        }
        #expect(refusal(Text.self).contains("because of 'text': it cannot be JSON: it is a single value"))
        #expect(refusal(Wall.self).contains("because of 'museum': it cannot be JSON: it has other models"))
        #expect(refusal(Nothing.self).contains("not a property that is stored"))
    }
}
