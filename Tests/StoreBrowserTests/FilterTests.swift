import CoreData
import PredicateFormat
import StoreReading
import Testing

@Suite("Filters as they are typed")
struct FilterTests {
    private func problem(_ text: String) throws -> TextProblem {
        let shelf = try Shelf(count: 1)
        let entity = try #require(shelf.entity("Book"))
        return try #require(throws: TextProblem.self) { _ = try FilterText.predicate(text, of: entity) }
    }

    private func marked(_ text: String) throws -> String {
        let problem = try problem(text)
        return String(Array(problem.text)[problem.range.clamped(to: 0..<problem.text.count)])
    }

    @Test(
        "The word that is wrong is marked",
        arguments: [
            ("titel == 3", "titel"), ("pages > 1 and author.nam == \"x\"", "nam"),
            ("pages > 1 and and title == 3", "and"),
            ("title = = 3", "="), ("title == 'titel' or titel == 1", "titel"), ("ANY author.boks.title == 1", "boks"),
        ])
    func marks(_ text: String, _ word: String) throws { #expect(try marked(text) == word) }

    @Test(
        "A sign for which a program would give a value is marked, and it is said to write the value",
        arguments: ["%@", "%K", "%d", "$name"])
    func valueless(_ sign: String) throws {
        for text in ["pages > 1 and title == \(sign)", "\(sign) == \"Emma\""] {
            #expect(try marked(text) == sign)
            #expect(try problem(text).reason.hasPrefix("nothing gives “\(sign)” a value here; write the value itself"))
        }
    }

    @Test("Where something is missing, its place is marked")
    func missing() throws {
        let problem = try problem("title == ")
        #expect(problem.range.lowerBound == 9)
        #expect(problem.range.isEmpty)
        #expect(problem.description.hasSuffix("\n    title == \n             ^"))
    }

    @Test("A name that is nearly right is suggested")
    func suggestions() throws {
        #expect(try problem("titel == 3").suggestions == ["title"])
        #expect(try problem("author.nmae == 3").suggestions == ["name"])
        #expect(try problem("zzzzz == 3").suggestions == [])
    }

    @Test("Dates are typed as texts")
    func dates() throws {
        let entity = try #require(try Shelf(count: 1).entity("Book"))
        let predicate = try #require(try FilterText.predicate("published > \"2001-01-02\"", of: entity))
        #expect(
            try predicateTree(of: predicate)
                == .comparison(
                    ComparisonTree(
                        .keyPath(["published"]), .greaterThan,
                        .constant(.date(Date(timeIntervalSinceReferenceDate: 86_400))))))
        #expect(DateText.date("2001-01-01T01:00:00+01:00")?.timeIntervalSinceReferenceDate == 0)
        #expect(DateText.date("2001-01-01 00:00:01.5Z")?.timeIntervalSinceReferenceDate == 1.5)
        let ones = String(repeating: "1", count: 18)
        for text in [
            "2001-02-30", "2001-13-01", "yesterday", "2001-01-01 25:00", "01-01-2001", "2001-01-01 10:00:00.\(ones)e9",
            "2001-01-01 10:00:00.\(ones)e999", "2001-01-01 10:00:00.\(ones)x", "2001-01-01 10:00:00.",
        ] {
            #expect(DateText.date(text) == nil)
        }
    }

    @Test("A text that says nothing filters nothing")
    func empty() throws {
        let entity = try #require(try Shelf(count: 1).entity("Book"))
        #expect(try FilterText.predicate("  ", of: entity) == nil)
    }

    @Test(
        "Keys are completed, through relationships too, and operators after them",
        arguments: [
            ("ti", ["title"]), ("author.", ["name", "books", "idol"]), ("author.na", ["name"]),
            ("title beg", ["beginswith"]),
            ("title == \"x", []), ("title == 3 ", ["and", "or"]), ("pages > 1 and pri", ["price"]),
        ] as [(String, [String])])
    func completion(_ text: String, _ expected: [String]) throws {
        let entity = try #require(try Shelf(count: 1).entity("Book"))
        let completion = KeyCompletion(text, cursor: text.count, entity: entity)
        #expect(Set(completion.items.map(\.text)) == Set(expected))
        #expect(completion.range.upperBound == text.count)
    }
}

@Suite("Queries as they are typed")
struct QueryTextTests {
    @Test("A query is an entity, a condition, an order, a limit and an offset")
    func parts() throws {
        let query = try QueryText(
            "Book where price > 10 and author.name beginswith \"order by\" ORDER BY title desc, author.name limit 20 offset 40"
        )
        #expect(query.entity.text == "Book")
        #expect(query.filter?.text == "price > 10 and author.name beginswith \"order by\"")
        #expect(query.orders.map(\.key.text) == ["title", "author.name"])
        #expect(query.orders.map(\.isAscending) == [false, true])
        #expect(query.limit == 20)
        #expect(query.offset == 40)
    }

    @Test("Each part may be left out, and properties may be called like parts")
    func optional() throws {
        #expect(try QueryText("Book").filter == nil)
        #expect(try QueryText("Book limit 3").limit == 3)
        #expect(try QueryText("Book where limit > 3 and order == 1").filter?.text == "limit > 3 and order == 1")
    }

    @Test(
        "What is wrong is marked in the whole query",
        arguments: [
            ("", ""), ("Book wher price > 1", "wher"), ("Book where", "where"), ("Book order by", "order"),
            ("Book limit x", "x"),
            ("Book order by title downwards", "downwards"), ("Book where titel == 1 limit 2", "titel"), ("Bok", "Bok"),
            ("Book order by titel", "titel"),
        ])
    func problems(_ text: String, _ word: String) throws {
        let layout = try Shelf(count: 1).session.store.layout
        let problem = try #require(throws: TextProblem.self) {
            _ = try QueryText(text).plan(layout, sortsByKey: true)
        }
        #expect(problem.text == text)
        #expect(String(Array(text)[problem.range.clamped(to: 0..<text.count)]) == word)
    }
}
