import Pippin
import Foundation
import Testing

private struct Reader: CoreModel {
    let id: Int
    var name: String
}

private struct Loan: CoreModel {
    let id: Int
    var reader: Reference<Reader>?
    var weight = 1.0
    var count: UInt64 = 1
    var price: Decimal = 1
    var title = "" { didSet { count += 1 } }
}

@CoreModel
private struct Film: Equatable {
    let id: Int
    var watched = 0 { didSet { watched = max(watched, 0) } }
    var place: String? { willSet {} }

    private enum CodingKeys: String, CodingKey {
        case id
        case watched = "times_watched"
        case place
    }
}

@CoreModel
private struct Series: Equatable {
    let id: Int
    var season = 1 { didSet {} }

    static var schema: Schema<Series> { Schema(.index(\.season)) }
}

@Suite("Filters that a store refuses")
struct MatchingErrorTests {
    @Test(
        "are refused in memory as well, with an error",
        arguments: [
            "reviews.stars > 3", "pages == $limit", "colour == nil", "author.colour == 'red'",
            "ANY reviews.colour == 1", "SUBQUERY(reviews, $r, $r.colour == 1).@count > 0",
            "title MATCHES '(x+x+)+y'",
        ])
    func refused(format: String) async throws {
        let filter = Filter<Edition>.format(format)
        var edition = Bookcase.emma
        edition.title = String(repeating: "x", count: 60)
        let changed = edition
        #expect(throws: (any Error).self) { try filter.matches(changed) }
        let bookcase = try Bookcase(isFilled: false)
        try await bookcase.manager.save(edition)
        await #expect(throws: (any Error).self) { try await bookcase.manager.count(Edition.self, where: filter) }
    }

    @Test("In memory, what depends on a model behind a reference is an error, and what its identifier decides is not")
    func references() throws {
        let loan = Loan(id: 1, reader: Reference(id: 7))
        for format in ["reader.name == 'Ann'", "reader.name != 'Ann'", "reader.id == 8 OR reader.name == nil"] {
            let error = #expect(throws: PersistenceError.self) { try Filter<Loan>.format(format).matches(loan) }
            #expect(error?.code == .notComparable && error?.property == "name" && error?.entity == "Reader")
        }
        for format in ["reader.id == 7", "reader != nil", "reader.id == 7 OR reader.name == 'Ann'"] {
            #expect(try Filter<Loan>.format(format).matches(loan))
        }
        #expect(try !Filter<Loan>.format("reader.name == 'Ann'").matches(Loan(id: 2)))
    }

    @Test("A number that no store keeps is refused with the reason")
    func numbers() throws {
        let long = try #require(Decimal(string: "12345678901234567890"))
        let filters: [(Filter<Loan>, String)] = [
            (\.weight < .nan, "NaN"), (\.count == .max, "18446744073709551615"),
            (\.price == long, "12345678901234567890"), ([1, .max].contains(\.count), "18446744073709551615"),
        ]
        for (filter, value) in filters {
            let error = #expect(throws: PersistenceError.self) { try filter.matches(Loan(id: 1)) }
            #expect(error?.code == .notComparable && error?.reason?.contains(value) == true)
        }
    }

    @Test("A property with didSet looks computed, and the error says how to name it")
    func observed() throws {
        let error = #expect(throws: PersistenceError.self) { try (\Loan.title == "a").matches(Loan(id: 1)) }
        #expect(error?.code == .unknownProperty && error?.description.contains("didSet") == true)
        #expect(try Filter<Loan>.format("title == 'a'").matches(Loan(id: 1, title: "a")))
    }

    @Test("A property whose type has no size is not taken for its neighbour, and the error says how to name it")
    func withoutSize() throws {
        enum Size: String, Codable { case small }
        struct Parcel: CoreModel {
            let id: String
            var size = Size.small
        }
        let parcel = Parcel(id: "a")
        let error = #expect(throws: PersistenceError.self) { try (\Parcel.size == .small).matches(parcel) }
        #expect(error?.code == .unknownProperty && error?.description.contains("without a size") == true)
        #expect(try Filter<Parcel>.format("size == 'small'").matches(parcel))
    }

    @Test("A property with didSet is known in a model with @CoreModel, with or without coding of its own")
    func observedByMacro() async throws {
        let manager = PersistenceManager(models: Film.self, Series.self, store: .memory)
        try await manager.load()
        try await manager.save([Film(id: 1, watched: 3), Film(id: 2, watched: 5, place: "home")])
        try await manager.save([Series(id: 1, season: 2), Series(id: 2)])
        #expect(try await manager.fetch(Film.self, where: \.watched == 3).map(\.id) == [1])
        #expect(try await manager.fetch(Film.self, where: \.place == "home").map(\.id) == [2])
        #expect(try await manager.fetch(Series.self, sortedBy: .ascending(\.season)).map(\.id) == [2, 1])
        #expect(try (\Film.watched > 4).matches(Film(id: 3, watched: 5)))
    }

    @Test("are told from those that it answers")
    func answered() throws {
        let filters: [Filter<Edition>] = [
            .format("ANY reviews.stars > 3"), .format("reviews.@count == 2"), .format("author.name BEGINSWITH 'Jane'"),
            .format("title MATCHES 'E.*'"), .format("pages BETWEEN {200, 400}"), .format("price == 10"),
            .format("SUBQUERY(reviews, $r, $r.stars > 3).@count == 1"), .format("rivals == nil OR rivals.@count == 0"),
        ]
        for filter in filters { #expect(try filter.matches(Bookcase.emma)) }
    }
}
