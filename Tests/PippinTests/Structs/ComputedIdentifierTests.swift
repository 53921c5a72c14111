import Foundation
import Pippin
import TestSupport
import Testing

/// Whose identifier is its number's text for small numbers only: what is made up does not show that.
private struct Locker: CoreModel, Equatable {
    let name: String
    var number = 1
    var id: String { number > 1_000 ? "\(name)-\(number)" : name }
}

private struct Hall: CoreModel {
    let id: Int
    var lockers: [Locker]
}

@CoreModel
private struct Shelf: Equatable {
    let name: String
    var number: Int
    var id: String { number > 1_000 ? "\(name)-\(number)" : name }
}

@Suite("An identifier that is computed")
struct ComputedIdentifierTests {
    private func refusal(_ type: any CoreModel.Type) -> PersistenceError? {
        #expect(throws: PersistenceError.self) {
            try PersistenceManager(models: [type], store: .memory).loadAndWait()
        }
    }

    @Test("is refused if it is made from a property and one that may be missing")
    func withOptional() {
        struct Shirt: CoreModel {
            enum Size: String, Codable { case small = "S", large = "L" }
            var sku: String
            var size: Size?
            var id: String { size.map { "\(sku)-\($0.rawValue)" } ?? sku }
        }
        let error = refusal(Shirt.self)
        #expect(error?.code == .notDerivable)
        #expect(error?.property == "id")
        #expect(error?.description.contains("'sku' in some models only") == true)
    }

    @Test("is refused if it is a property in small letters, or depends on a condition")
    func changed() {
        struct Tome: CoreModel {
            var isbn: String
            var id: String { isbn.lowercased() }
        }
        struct Draft: CoreModel {
            var name: String
            var isFinal: Bool
            var id: String { isFinal ? "final " + name : name }
        }
        #expect(refusal(Tome.self)?.description.contains("'isbn' in some models only") == true)
        #expect(refusal(Draft.self)?.description.contains("'name' in some models only") == true)
    }

    @Test("is refused as the text of a number or a UUID, since stores find these by themselves")
    func text() {
        struct Bus: CoreModel {
            var number: Int
            var id: String { String(number) }
        }
        struct Device: CoreModel {
            var code: UUID
            var id: String { code.uuidString }
        }
        #expect(refusal(Bus.self)?.description.contains("none of the values that are coded") == true)
        #expect(refusal(Device.self)?.description.contains("none of the values that are coded") == true)
    }

    @Test("is what generic code names by the protocol, and with a macro in key paths of the model, too")
    func named() async throws {
        func identifiers<Model: CoreModel>(of type: Model.Type) async throws -> [Model.ID] {
            try await manager.fetch(type, sortedBy: .descending(\.id)).map(\.id)
        }
        let manager = PersistenceManager(models: Locker.self, Shelf.self, Hall.self, store: .memory)
        try await manager.save([Locker(name: "a"), Locker(name: "b")])
        try await manager.save([Shelf(name: "a", number: 2), Shelf(name: "b", number: 1)])
        try await manager.save([Hall(id: 1, lockers: []), Hall(id: 2, lockers: [])])
        #expect(try await identifiers(of: Locker.self) == ["b", "a"])
        #expect(try await identifiers(of: Shelf.self) == ["b", "a"])
        #expect(try await identifiers(of: Hall.self) == [2, 1])
        #expect(try await manager.fetch(Shelf.self, where: \.id == "b").map(\.number) == [1])
        let error = await #expect(throws: PersistenceError.self) {
            try await manager.fetch(Locker.self, where: \.id == "b")
        }
        #expect(error?.description.contains("For the identifier, write \\.name.") == true)
    }

    @Test("is found among properties with the same made-up value")
    func amongEqual() async throws {
        struct Sample: CoreModel, Equatable {
            var x: Double
            var y: Double
            var id: Double { y }
        }
        struct Seat: CoreModel, Equatable {
            enum Row: String, Codable, CaseIterable { case a, b, c }
            var side: Row
            var row: Row
            var id: Row { row }
        }
        let counter = try Counter(Sample.self, Seat.self)
        let samples = [Sample(x: 1, y: 2), Sample(x: 1, y: 3)]
        try await counter.manager.save(samples)
        #expect(try await counter.manager.fetch(Sample.self, sortedBy: .ascending(\.y)) == samples)
        let seats = [Seat(side: .a, row: .b), Seat(side: .a, row: .c)]
        try await counter.manager.save(seats)
        #expect(try await counter.manager.find(Seat.self, id: .c) == seats[1])
    }

    @Test("is refused if it keeps the value it is declared with, with what to write")
    func constant() {
        struct Pebble: CoreModel {
            let id = UUID()
            var name: String
            // As if it were synthesized, without the compiler's warning.
            init(from decoder: any Decoder) throws {
                name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
            }
        }
        let error = refusal(Pebble.self)
        #expect(error?.code == .notDerivable && error?.property == "id")
        #expect(error?.description.contains("Write `let id: UUID`, or `var id` with the value.") == true)
    }

    @Test("may be a property that the model changes while it is read")
    func normalized() async throws {
        struct Account: CoreModel, Equatable {
            let email: String
            var name: String?
            var id: String { email }
            init(email: String) { self.email = email.lowercased() }
            init(from decoder: any Decoder) throws {
                let values = try decoder.container(keyedBy: CodingKeys.self)
                email = try values.decode(String.self, forKey: .email).lowercased()
                name = try values.decodeIfPresent(String.self, forKey: .name)
            }
        }
        let counter = try Counter(Account.self)
        try await counter.manager.save(Account(email: "Emma@Highbury.example"))
        #expect(try await counter.manager.find(Account.self, id: "emma@highbury.example") != nil)
    }

    @Test("may be a property of the model's own type, and one called uid")
    func ownType() async throws {
        struct Code: Codable, Hashable, Sendable, RawRepresentable { var rawValue: String }
        struct Country: CoreModel, Equatable {
            let code: Code
            var name: String?
            var id: Code { code }
        }
        struct Town: CoreModel, Equatable {
            let uid: Double
            var name: String?
        }
        let counter = try Counter(Country.self, Town.self)
        let (country, town) = (Country(code: Code(rawValue: "GB"), name: "Britain"), Town(uid: 1.5, name: "Bath"))
        try await counter.manager.save(country)
        try await counter.manager.save(town)
        #expect(try await counter.manager.find(Country.self, id: country.id) == country)
        #expect(try await counter.manager.find(Town.self, id: 1.5) == town)
    }

    @Test("is refused at a save of a model that is not stored under it, and nothing is overwritten")
    func notStored() async throws {
        let counter = try Counter(Locker.self)
        try await counter.manager.save(Locker(name: "A", number: 7))
        for number in [2_000, 3_000] {
            let error = await #expect(throws: PersistenceError.self) {
                try await counter.manager.save(Locker(name: "A", number: number))
            }
            #expect(error?.code == .unwritable)
            #expect(error?.identifier == "A-\(number)")
            #expect(error?.property == "id")
            #expect(error?.reason?.contains("finds it by 'name', which is 'A'") == true)
        }
        #expect(try counter.strings("SELECT ZNAME || ZNUMBER FROM ZLOCKER") == ["A7"])
    }

    @Test("is compared in models within others, and in those that are written by columns")
    func elsewhere() async throws {
        let counter = try Counter(Hall.self, Shelf.self)
        let hall = Hall(id: 1, lockers: [Locker(name: "A", number: 1), Locker(name: "B", number: 2_000)])
        let inHall = await #expect(throws: PersistenceError.self) { try await counter.manager.save(hall) }
        #expect(inHall?.identifier == "B-2000")
        let shelf = await #expect(throws: PersistenceError.self) {
            try await counter.manager.insert(Shelf(name: "C", number: 4_000))
        }
        #expect(shelf?.identifier == "C-4000")
        try await counter.manager.insert(Shelf(name: "C", number: 4))
        #expect(try counter.strings("SELECT count(*) FROM ZHALL") == ["0"])
        #expect(try counter.strings("SELECT ZNAME || ZNUMBER FROM ZSHELF") == ["C4"])
    }
}
