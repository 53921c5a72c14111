import Pippin
import TestSupport
import Testing

/// Whose keys are in another order than its properties.
private struct Lodger: CoreModel, Equatable {
    let id: Int
    var first: String
    var last: String
    enum CodingKeys: String, CodingKey { case id, last = "surname", first = "given_name" }
}

/// One of whose keys is the name of another property.
private struct NameTag: CoreModel, Equatable {
    let id: Int
    var name: String
    var title: String
    enum CodingKeys: String, CodingKey { case id, name = "title", title = "subtitle" }
}

private struct Voucher: CoreModel, Equatable {
    let id: String
    var reference: String
    enum CodingKeys: String, CodingKey { case reference = "ref", id = "_id" }
}

/// A value whose keys are in another order than its properties, in a model.
private struct Parcel: CoreModel, Equatable {
    struct Address: Codable, Sendable, Equatable {
        var street: String
        var town: String
        enum CodingKeys: String, CodingKey { case town = "t", street = "s" }
    }
    let id: Int
    var address: Address
}

/// Which reads itself, by keys that are none of its properties.
private struct Reader: CoreModel, Equatable {
    let id: Int
    var first: String
    var last: String
    enum Key: String, CodingKey { case number, surname, given }

    init(id: Int, first: String, last: String) { (self.id, self.first, self.last) = (id, first, last) }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        last = try values.decode(String.self, forKey: .surname)
        first = try values.decode(String.self, forKey: .given)
        id = try values.decode(Int.self, forKey: .number)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(last, forKey: .surname)
        try values.encode(first, forKey: .given)
        try values.encode(id, forKey: .number)
    }
}

/// Of whose keys nothing tells which property each belongs to.
private struct Switches: CoreModel {
    let id: Int
    var left: Bool
    var right: Bool
    enum Key: String, CodingKey { case id, one, two }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        right = try values.decode(Bool.self, forKey: .two)
        left = try values.decode(Bool.self, forKey: .one)
        id = try values.decode(Int.self, forKey: .id)
    }

    func encode(to encoder: any Encoder) throws {}
}

@Suite("Properties whose coding keys have other names")
struct RenamedKeyTests {
    @Test("are found and set by their key paths, in whatever order the keys are")
    func order() async throws {
        let counter = try Counter(Lodger.self)
        let jane = Lodger(id: 1, first: "Jane", last: "Austen")
        try await counter.manager.save(jane)
        #expect(try await counter.manager.fetch(Lodger.self, where: \.first == "Jane") == [jane])
        #expect(try await counter.manager.fetch(Lodger.self, where: \.first == "Austen") == [])
        try await counter.manager.update(Lodger.self, where: .all) { $0.set(\.first, to: "J.") }
        #expect(try await counter.manager.fetch(Lodger.self) == [Lodger(id: 1, first: "J.", last: "Austen")])
        #expect(try counter.strings("SELECT ZFIRST || ' ' || ZLAST FROM ZLODGER") == ["J. Austen"])
    }

    @Test("are not taken for those that are called like their keys")
    func crossed() async throws {
        let counter = try Counter(NameTag.self, Voucher.self)
        try await counter.manager.save(NameTag(id: 1, name: "A", title: "B"))
        #expect(try await counter.manager.count(NameTag.self, where: \.name == "A" && \.title == "B") == 1)
        #expect(try counter.strings("SELECT ZNAME || ZTITLE FROM ZNAMETAG") == ["AB"])
    }

    @Test("leave the identifier what it is")
    func identifier() async throws {
        let counter = try Counter(Voucher.self)
        try await counter.manager.save([Voucher(id: "a", reference: "x"), Voucher(id: "b", reference: "x")])
        #expect(try await counter.manager.find(Voucher.self, id: "b") == Voucher(id: "b", reference: "x"))
        #expect(try counter.strings("SELECT ZID FROM ZVOUCHER ORDER BY ZID") == ["a", "b"])
    }

    @Test("are found within values")
    func nested() async throws {
        let counter = try Counter(Parcel.self)
        try await counter.manager.save(Parcel(id: 1, address: .init(street: "High Street", town: "Bath")))
        #expect(try await counter.manager.count(Parcel.self, where: \.address.town == "Bath") == 1)
        #expect(try await counter.manager.count(Parcel.self, where: \.address.street == "High Street") == 1)
    }

    @Test("are known by their values where a model reads itself")
    func values() async throws {
        let counter = try Counter(Reader.self)
        try await counter.manager.save(Reader(id: 1, first: "Jane", last: "Austen"))
        #expect(try await counter.manager.count(Reader.self, where: \.first == "Jane" && \.last == "Austen") == 1)
        #expect(try await counter.manager.find(Reader.self, id: 1)?.first == "Jane")
    }

    @Test("are refused where nothing tells them apart")
    func refused() {
        let error = #expect(throws: PersistenceError.self) { try Counter(Switches.self) }
        #expect(error?.code == .notDerivable && error?.reason?.contains("CodingKeys") == true)
    }
}
