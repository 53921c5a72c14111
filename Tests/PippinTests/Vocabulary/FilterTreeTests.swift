import Pippin
import TestSupport
import Testing

@Suite("Filters without strings")
struct FilterTreeTests {
    private let bookcase: Bookcase

    init() throws { bookcase = try Bookcase() }

    /// What a filter finds in the store, which must be what it matches in memory.
    private func found(_ filter: Filter<Edition>) throws -> [String] {
        let stored = try bookcase.manager.readAndWait {
            try $0.fetch(Edition.self, where: filter, sortedBy: .ascending(\.id)).map(\.id)
        }
        let matched = try Bookcase.all.filter { try filter.matches($0) }.map(\.id).sorted()
        #expect(stored == matched, "\(filter)")
        return stored
    }

    @Test("say that a value lies in a range, with or without ends")
    func ranges() throws {
        #expect(try found((250...300).contains(\.pages)) == ["emma", "persuasion"])
        #expect(try found((250..<300).contains(\.pages)) == ["persuasion"])
        #expect(try found(300... ~= \.pages) == ["emma", "whale"])
        #expect(try found(..<300 ~= \.pages) == ["persuasion"])
        #expect(try found((...Decimal(8)).contains(\.price)) == ["persuasion"])
        #expect(try found(["Emma", "Moby-Dick"].contains(\.title)) == ["emma", "whale"])
    }

    @Test("ask for any, all or so many of the models in a list")
    func members() throws {
        #expect(try found(.any(\.reviews, \.stars < 3)) == ["emma"])
        #expect(try found(.all(\.reviews, \.stars > 3)) == ["persuasion", "whale"])
        #expect(try found(.count(\.reviews, in: 1...)) == ["emma", "persuasion"])
        #expect(try found(.count(\.reviews, in: 1...1, where: \.stars == 5)) == ["emma", "persuasion"])
        #expect(try found(.count(\.reviews, in: ..<1)) == ["whale"])
        #expect(try found(.any(\.reviews, \.text != nil && .contains(\.text, "LOVE", .caseInsensitive))) == ["emma"])
    }

    @Test("ask for the models that a list refers to")
    func references() throws {
        #expect(try found(.any(\.rivals, \.id == "emma")) == ["persuasion"])
        #expect(try found(.count(\.rivals, in: 0...0)) == ["emma", "whale"])
    }

    @Test("compare dates, decimals, enumerations and values through other models")
    func values() throws {
        #expect(try found(\.published == Date(timeIntervalSinceReferenceDate: 0)) == ["emma", "persuasion", "whale"])
        #expect(try found(\.price > 8 && \.binding == .paper) == ["emma"])
        #expect(try found(\.price == nil || \.author?.name == "Jane Austen") == ["emma", "persuasion", "whale"])
        #expect(try found(!(\.author?.id == "austen")) == ["whale"])
    }

    @Test("print as the predicate language writes them")
    func printing() {
        let filter: Filter<Edition> =
            (\.price > 8 || \.price == nil) && !(\.binding == .cloth) && .any(\.reviews, \.stars < 3)
        #expect(
            "\(filter)" == #"(price > 8 OR price == nil) AND NOT binding == "cloth" AND ANY reviews[stars < 3]"#)
    }

    @Test("A printed filter can be parsed: keywords are marked, and quotes within texts escaped")
    func parses() throws {
        struct Word: CoreModel {
            let id: String
            let any: Int?
            let null: String
        }
        let filter: Filter<Word> = \.any == 3 && \.null == #"a "b""#
        #expect("\(filter)" == #"#any == 3 AND #null == "a \"b\"""#)
        #expect(NSPredicate(format: "\(filter)") == NSPredicate(format: #"#any == 3 AND #null == "a \"b\"""#))
    }

    @Test("A printed filter has values as the store compares them, and can be parsed")
    func printedValues() throws {
        enum Size: String, Codable { case small = "very small", large }
        struct Parcel: CoreModel {
            let id: UUID
            var size: Size
            var sent: Date
        }
        let id = try #require(UUID(uuidString: "CF843D1C-2403-49D0-A15B-3C16FBC2FA33"))
        let date = Date(timeIntervalSinceReferenceDate: 3.5)
        let filter: Filter<Parcel> = \.size == .small && \.sent > date && \.id != id
        #expect(
            "\(filter)" == ##"#size == "very small" AND sent > CAST(3.500000, "NSDate") AND id != \##(id.uuidString)"##)
        #expect(try Filter.format("\(filter)").matches(Parcel(id: UUID(), size: .small, sent: Date())))
    }

    @Test("say what they cannot compare, in memory as in a store")
    func refused() {
        let filter: Filter<Edition> = \.title.count > 3
        #expect(throws: PersistenceError.self) { try filter.matches(Bookcase.emma) }
    }
}
