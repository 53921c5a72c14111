import PredicateFormat
import Testing

@Suite("A #Predicate of Swift")
struct SwiftPredicateTests {
    enum Genre: String, Codable, Comparable {
        case novel, essay

        static func < (first: Genre, second: Genre) -> Bool { first == .novel && second == .essay }
    }

    struct Author: Codable {
        var name: String
        var born: Int?
    }

    struct Review: Codable {
        var stars: Int
        var user: String
    }

    struct Book {
        var title: String
        var year: Int
        var price: Double
        var isLent: Bool
        var genre: String
        var author: Author?
        var publisher: Author
        var tags: [String]
        var reviews: [Review]
        var upper: String { title.uppercased() }
    }

    let book = Book(
        title: "Matter", year: 2008, price: 8.5, isLent: true, genre: "novel", author: Author(name: "Banks", born: nil),
        publisher: Author(name: "Orbit"),
        tags: ["sf"], reviews: [Review(stars: 5, user: "ann"), Review(stars: 2, user: "bob")])

    private func check(_ predicate: Predicate<Book>, _ format: String, of other: Book? = nil) throws {
        let book = other ?? book
        #expect(try predicateTree(of: predicate).format == format)
        let converted = try #require(NSPredicate(predicate))
        #expect(try converted.evaluate(with: book) == predicate.evaluate(book))
    }

    @Test("compares properties and constants")
    func comparisons() throws {
        let limit = 2000
        try check(#Predicate { $0.title == "Matter" }, #"title == "Matter""#)
        try check(
            #Predicate { $0.year > limit && $0.price <= 9.0 && $0.year != 1 },
            "year > 2000 AND price <= 9 AND year != 1")
        try check(#Predicate { $0.year < limit || !($0.price >= 9.0) }, "year < 2000 OR (NOT price >= 9)")
        try check(#Predicate { $0.isLent }, "isLent == 1")
        try check(#Predicate { $0.isLent == false }, "isLent == 0")
        try check(#Predicate { ($0.year + 1) * 2 > -$0.year }, "(year + 1) * 2 > -year")
        try check(
            #Predicate { $0.year / 2 == 1004 && $0.year % 2 == 0 }, "year / 2 == 1004 AND modulus:by:(year, 2) == 0")
    }

    struct Novel { var genre: Genre, former: Genre }

    @Test("has enumerations by their raw values, lists of them too")
    func enumerations() throws {
        let (essay, both) = (Genre.essay, [Genre.novel, .essay])
        func format(_ predicate: Predicate<Novel>) throws -> String { try predicateTree(of: predicate).format }
        #expect(try format(#Predicate { $0.genre == essay }) == #"genre == "essay""#)
        #expect(try format(#Predicate { both.contains($0.genre) }) == #"genre IN {"novel", "essay"}"#)
        #expect(try format(#Predicate { $0.genre < $0.former }) == "genre < former")
        for predicate in [
            #Predicate<Novel> { $0.genre < $0.former }, #Predicate { ($0.genre...$0.former).contains($0.former) },
        ] {
            #expect(throws: EnumerationOrderError.self) { try predicateTree(of: predicate, ordersRawValues: false) }
        }
    }

    @Test("reads optional values, and nil")
    func optionals() throws {
        try check(#Predicate { $0.author?.name == "Banks" }, #"author.name == "Banks""#)
        try check(#Predicate { $0.author?.born == nil }, "author.born == nil")
        try check(#Predicate { ($0.author?.born ?? 0) > 1900 }, "TERNARY(author.born != nil, author.born, 0) > 1900")
        try check(#Predicate { $0.author!.name == "x" }, #"author.name == "x""#)
    }

    @Test("is nil where an optional chain begins with nil, whatever it ends in")
    func optionalChains() throws {
        var anonymous = book
        anonymous.author = nil
        for book in [book, anonymous] {
            try check(
                #Predicate { $0.author?.name.isEmpty == false },
                #"TERNARY(author != nil, TERNARY(author.name == "", 1, 0), nil) == 0"#, of: book)
            try check(
                #Predicate { $0.author?.name.contains("x") ?? true },
                #"TERNARY(author != nil, TERNARY(author.name CONTAINS "x", 1, 0), 1) == 1"#, of: book)
            try check(
                #Predicate { $0.author?.name.contains("a") ?? false },
                #"author != nil AND author.name CONTAINS "a""#, of: book)
            try check(
                #Predicate { ($0.author?.name.count ?? 0) == 0 },
                "TERNARY(length:(author.name) != nil, length:(author.name), 0) == 0", of: book)
        }
    }

    @Test("searches strings for their parts")
    func strings() throws {
        try check(#Predicate { $0.title.contains("att") }, #"title CONTAINS "att""#)
        try check(#Predicate { $0.title.starts(with: "M") }, #"title BEGINSWITH "M""#)
        try check(#Predicate { $0.title.isEmpty }, #"title == """#)
        try check(#Predicate { $0.title.count == 6 }, "length:(title) == 6")
    }

    @Test("searches collections for their members")
    func collections() throws {
        let years = [2007, 2008]
        try check(#Predicate { years.contains($0.year) }, "year IN {2007, 2008}")
        try check(#Predicate { $0.tags.contains("sf") }, #""sf" IN tags"#)
        try check(#Predicate { $0.tags.count == 1 && !$0.tags.isEmpty }, "tags.@count == 1 AND (NOT tags.@count == 0)")
        try check(
            #Predicate { $0.reviews.contains { $0.stars > 3 } },
            "SUBQUERY(reviews, $element1, $element1.stars > 3).@count > 0")
        try check(
            #Predicate { $0.reviews.allSatisfy { $0.stars > 3 } },
            "SUBQUERY(reviews, $element1, NOT $element1.stars > 3).@count == 0")
        try check(
            #Predicate { $0.reviews.filter { $0.stars > 3 }.count == 1 },
            "SUBQUERY(reviews, $element1, $element1.stars > 3).@count == 1")
        try check(#Predicate { (2000...2010).contains($0.year) }, "year BETWEEN {2000, 2010}")
        try check(#Predicate { (2000..<2008).contains($0.year) }, "year >= 2000 AND year < 2008")
        let (from, through, below, cheap) = (2008..., ...2000, ..<2009, ...9.5)
        try check(#Predicate { from.contains($0.year) }, "year >= 2008")
        try check(#Predicate { through.contains($0.year) }, "year <= 2000")
        try check(#Predicate { below.contains($0.year) && cheap.contains($0.price) }, "year < 2009 AND price <= 9.5")
    }

    private struct Settings: Codable {
        var minimumYear = 2000
        var allowed = ["Matter", "Excession"]
        var author = Author(name: "Banks", born: nil)
    }

    @Test("takes the properties of values from outside as constants")
    func captured() throws {
        let settings = Settings()
        try check(#Predicate { $0.year > settings.minimumYear }, "year > 2000")
        try check(#Predicate { settings.allowed.contains($0.title) }, #"title IN {"Matter", "Excession"}"#)
        try check(#Predicate { $0.publisher.name != settings.author.name }, #"publisher.name != "Banks""#)
        try check(#Predicate { $0.author?.born == settings.author.born }, "author.born == nil")
    }

    @Test("searches as people do, without regard to case and diacritics")
    func localizedSearch() throws {
        try check(#Predicate { $0.title.localizedStandardContains("MÄT") }, #"title CONTAINS[cdl] "MÄT""#)
        try check(#Predicate { $0.title.localizedStandardContains("x") }, #"title CONTAINS[cdl] "x""#)
    }

    @Test("has no tree if it cannot be said in the predicate language")
    func unsayable() {
        let computed = #Predicate<Book> { $0.upper == "MATTER" }
        #expect(NSPredicate(computed) == nil)
        #expect(throws: PredicateWithoutTreeError.self) { try predicateTree(of: computed) }
    }

    @Test("names the keys of key paths, and so do sort descriptors")
    func keyPaths() throws {
        let descriptor = NSSortDescriptor(keyPath: \Book.publisher.name, ascending: true)
        #expect(try sortTerms(of: [descriptor]) == [SortTerm(keyPath: ["publisher", "name"], ascending: true)])
    }
}
