import PippinRecords
import CoreData
import TestSupport
import Testing

private let identifier = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

/// Values of Foundation's types, read and written by columns.
@CoreModel
private struct Listing: Equatable {
    struct Offer: Codable, Equatable {
        var amount: Decimal
        var site: URL?
    }

    let id: UUID
    var page: URL?
    var price: Decimal = 0
    var owner: UUID?
    var offer: Offer?
}

/// The same, by the coding that the compiler synthesizes.
private struct CodedListing: CoreModel, Equatable {
    let id: UUID
    var page: URL?
    var price: Decimal = 0
    var owner: UUID?
    var offer: Listing.Offer?

    static var schema: Schema<CodedListing> { Schema(name: "Listing") }
}

@Suite("URLs, decimals and UUIDs of models")
struct FoundationValueTests {
    private let counter: Counter
    private let listing = Listing(
        id: identifier, page: URL(string: "https://example.com/a?b=%20c#d"), price: Decimal(string: "12.5")!,
        owner: identifier, offer: Listing.Offer(amount: 3, site: URL(string: "mailto:ann@example.com")))

    init() throws { counter = try Counter(Listing.self) }

    @Test("come back as they were saved, from a row and from within a block that has changed it")
    func roundTrip() throws {
        try counter.manager.writeAndWait { store in
            try store.save(listing)
            #expect(try store.find(Listing.self, id: identifier) == listing)
        }
        #expect(try counter.manager.readAndWait { try $0.fetch(Listing.self) } == [listing])
    }

    @Test("are not written again if they are equal, and each one that is not is")
    func changes() throws {
        func version(afterSaving listing: Listing) throws -> Int64? {
            try counter.manager.writeAndWait { try $0.save(listing) }
            return try counter.number("SELECT Z_OPT FROM ZLISTING")
        }
        var changed = listing
        #expect(try version(afterSaving: changed) == 1)
        #expect(try version(afterSaving: changed) == 1)
        changed.page = URL(string: "https://example.com/a?b=%20c#e")
        #expect(try version(afterSaving: changed) == 2)
        changed.price = Decimal(string: "12.25")!
        #expect(try version(afterSaving: changed) == 3)
        changed.owner = nil
        #expect(try version(afterSaving: changed) == 4)
        changed.offer?.amount = 4
        #expect(try version(afterSaving: changed) == 5)
        changed.offer?.site = nil
        #expect(try version(afterSaving: changed) == 6)
        changed.offer = nil
        #expect(try version(afterSaving: changed) == 7)
        #expect(try version(afterSaving: changed) == 7)
    }

    @Test(
        "are read as other programs may have written them",
        arguments: ["3", "3.0", "'3'", "'3.00'"], ["X'0102030405060708090A0B0C0D0E0F10'", "'\(identifier.uuidString)'"])
    func otherForms(price: String, owner: String) throws {
        try counter.manager.writeAndWait { try $0.save(listing) }
        try counter.execute("UPDATE ZLISTING SET ZPRICE = \(price), ZOWNER = \(owner)")
        let found = try #require(try counter.manager.readAndWait { try $0.fetch(Listing.self) }.first)
        #expect(found.price == 3)
        #expect(found.owner == identifier)
    }

    @Test("are an error that names the property if they are invalid, also without a macro")
    func unreadable() throws {
        try counter.manager.writeAndWait { try $0.save(listing) }
        try counter.execute("UPDATE ZLISTING SET ZOWNER = X'01'")
        #expect(throws: PersistenceError.self) { try counter.manager.readAndWait { try $0.fetch(Listing.self) } }
        let coded = PersistenceManager(models: CodedListing.self, store: .file(counter.file))
        let error = #expect(throws: PersistenceError.self) {
            try coded.readAndWait { try $0.fetch(CodedListing.self) }
        }
        #expect(error?.localizedDescription.contains("owner") == true)
        try counter.execute("UPDATE ZLISTING SET ZOWNER = NULL")
        #expect(try coded.readAndWait { try $0.fetch(CodedListing.self) }.first?.page == listing.page)
    }
}
