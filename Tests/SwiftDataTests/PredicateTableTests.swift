import Foundation
import SwiftData
import Testing

/// Predicates as programs write them, over books, authors and reviews.
@Suite("A predicate of the table")
struct PredicateTableTests {
    private static let title = "Emma"
    private static let titles = ["Emma", "Poems", "Nothing"]
    private static let isbns: Set<String> = ["1", "3"]
    private static let nothing: String? = nil
    private static let start = Date(timeIntervalSinceReferenceDate: 100)
    private static let end = Date(timeIntervalSinceReferenceDate: 300)
    private static let search = "em"
    private static let minimum = 2
    private static let price: Decimal = 5
    private static let poem = Book.Kind.poem
    private static let kinds: [Book.Kind] = [.poem, .play]
    private static let size = Book.Size(width: 10, height: 20)

    /// Books whose ISBNs are single digits.
    private static func library() throws -> Library {
        let library = try Library()
        let (austen, shelley) = (Author(name: "Austen"), Author(name: "Shelley"))
        let titles = ["Emma", "émigré", "Frankenstein", "Poems", "Nothing", ""]
        for (index, title) in titles.enumerated() {
            let book = Book(
                isbn: "\(index)", title: title, author: [austen, nil, shelley, shelley, nil, austen][index])
            book.year = 1810 + index
            book.kind = [.novel, .novel, .novel, .poem, .play, .novel][index]
            book.price = [9, 5, nil, 3, nil, 5][index]
            book.size = index % 3 == 0 ? Book.Size(width: 10 * (index + 1), height: 20) : nil
            book.added = Date(timeIntervalSinceReferenceDate: Double(index * 100))
            library.context.insert(book)
            for stars in 0..<index {
                let review = Review(stars, of: book)
                review.text = stars % 2 == 0 ? nil : "fine \(stars)"
                library.context.insert(review)
            }
        }
        try library.context.save()
        return library
    }

    /// Names of predicates, and what they find.
    private static let table: [(String, Predicate<Book>)] = comparisons + texts + optionals + toMany + values

    private static let comparisons: [(String, Predicate<Book>)] = {
        let (title, start, end, minimum) = (Self.title, Self.start, Self.end, Self.minimum)
        return [
            ("all", #Predicate { _ in true }),
            ("none", #Predicate { _ in false }),
            ("equal text", #Predicate { $0.title == title }),
            ("other text", #Predicate { $0.title != title }),
            ("text order", #Predicate { $0.isbn > "2" }),
            ("number order", #Predicate { $0.year < 1812 }),
            ("between", #Predicate { $0.year >= 1811 && $0.year <= 1813 }),
            ("range", #Predicate { (1811..<1813).contains($0.year) }),
            ("closed range", #Predicate { (1811...1813).contains($0.year) }),
            ("dates", #Predicate { $0.added > start && $0.added < end }),
            ("date range", #Predicate { (start...end).contains($0.added) }),
            ("either", #Predicate { $0.year == 1810 || $0.year == 1815 }),
            ("neither", #Predicate { !($0.year == 1810 || $0.year == 1815) }),
            ("sum", #Predicate { $0.year + 1 == 1812 }),
            ("product", #Predicate { $0.year * 2 > 3624 }),
            ("rest", #Predicate { $0.year % 2 == 1 }),
            ("negative", #Predicate { -$0.year < -1813 }),
            ("captured number", #Predicate { $0.year - 1810 > minimum }),
            ("choice", #Predicate { ($0.year > 1812 ? 1 : 0) == 1 }),
            ("double negation", #Predicate { !(!($0.year == 1811)) }),
        ]
    }()

    private static let texts: [(String, Predicate<Book>)] = {
        let (titles, isbns, search) = (Self.titles, Self.isbns, Self.search)
        return [
            ("contains", #Predicate { $0.title.contains("o") }),
            ("search", #Predicate { $0.title.localizedStandardContains(search) }),
            ("search in two", #Predicate { $0.title.localizedStandardContains(search) || $0.isbn == "4" }),
            ("search unless empty", #Predicate { search.isEmpty || $0.title.localizedStandardContains(search) }),
            ("start", #Predicate { $0.title.starts(with: "Em") }),
            ("empty", #Predicate { $0.title.isEmpty }),
            ("not empty", #Predicate { !$0.title.isEmpty }),
            ("empty is false", #Predicate { $0.title.isEmpty == false }),
            ("length", #Predicate { $0.title.count > 5 }),
            ("among an array", #Predicate { titles.contains($0.title) }),
            ("among a set", #Predicate { isbns.contains($0.isbn) }),
            ("not among", #Predicate { !isbns.contains($0.isbn) }),
            ("another text", #Predicate { $0.title != $0.isbn }),
        ]
    }()

    private static let optionals: [(String, Predicate<Book>)] = {
        let (nothing, price) = (Self.nothing, Self.price)
        return [
            ("nil", #Predicate { $0.price == nil }),
            ("not nil", #Predicate { $0.price != nil }),
            ("optional equal", #Predicate { $0.price == price }),
            ("optional or", #Predicate { ($0.price ?? 0) < 5 }),
            ("flat map", #Predicate { $0.price.flatMap { $0 > 4 } ?? false }),
            ("if let", #Predicate { if let price = $0.price { price > 4 } else { true } }),
            ("chain", #Predicate { $0.author?.name == "Shelley" }),
            ("chain or", #Predicate { ($0.author?.name ?? "") == "" }),
            ("chain to nil", #Predicate { $0.author?.name == nothing }),
            ("no author", #Predicate { $0.author == nil }),
            ("some author", #Predicate { $0.author != nil }),
            ("chain search", #Predicate { $0.author?.name.localizedStandardContains("aus") ?? false }),
            ("chain start", #Predicate { $0.author?.name.starts(with: "S") == true }),
            ("two optionals", #Predicate { $0.author != nil && $0.price != nil }),
        ]
    }()

    private static let toMany: [(String, Predicate<Book>)] = {
        let minimum = Self.minimum
        return [
            ("no reviews", #Predicate { $0.reviews.isEmpty }),
            ("count", #Predicate { $0.reviews.count > minimum }),
            ("some", #Predicate { $0.reviews.contains { $0.stars == 2 } }),
            ("none of them", #Predicate { !$0.reviews.contains { $0.stars == 2 } }),
            ("all of them", #Predicate { $0.reviews.allSatisfy { $0.stars < 3 } }),
            ("filtered", #Predicate { $0.reviews.filter { $0.stars > 1 }.count == 2 }),
            ("some with text", #Predicate { $0.reviews.contains { $0.text?.contains("3") ?? false } }),
            ("some without text", #Predicate { $0.reviews.contains { $0.text == nil && $0.stars > 1 } }),
            ("of a chain", #Predicate { ($0.author?.books.count ?? 0) == 2 }),
            ("somewhere else", #Predicate { $0.author?.books.contains { $0.year == 1815 } ?? false }),
            ("nested", #Predicate { book in book.reviews.contains { $0.stars + 1811 == book.year } }),
        ]
    }()

    private static let values: [(String, Predicate<Book>)] = {
        let (poem, kinds, size) = (Self.poem, Self.kinds, Self.size)
        return [
            ("enumeration", #Predicate { $0.kind == poem }),
            ("raw value", #Predicate { $0.kind.rawValue == "novel" }),
            ("among enumerations", #Predicate { kinds.contains($0.kind) }),
            ("member", #Predicate { $0.size?.width == 10 }),
            ("member order", #Predicate { ($0.size?.width ?? 0) > 10 }),
            ("struct", #Predicate { $0.size == size }),
            ("no struct", #Predicate { $0.size == nil }),
        ]
    }()

    @Test("finds in SQL what Swift finds in memory", arguments: table.map(\.0))
    func agrees(name: String) throws {
        let predicate = try #require(Self.table.first { $0.0 == name }).1
        let library = try Self.library()
        let order = [SortDescriptor(\Book.isbn)]
        let found = try library.context.fetch(FetchDescriptor(predicate: predicate, sortBy: order))
        let all = try library.context.fetch(FetchDescriptor<Book>(sortBy: order))
        #expect(found.map(\.isbn) == (try all.filter { try predicate.evaluate($0) }.map(\.isbn)))
        #expect(name == "none" || !found.isEmpty)
    }

    @Test("is one of at least sixty")
    func count() { #expect(Self.table.count >= 60) }

    // MARK: Refused

    private static let refused: [(String, Predicate<Book>)] = {
        let (tags, title) = (["a"], Self.title)
        return [
            ("a computed property", #Predicate { $0.shout == title }),
            ("a computed property's part", #Predicate { $0.shout.isEmpty }),
            ("a transient property", #Predicate { $0.isOpen }),
            ("an array of values", #Predicate { $0.tags == tags }),
            ("an array's element", #Predicate { $0.tags.contains("a") }),
            ("an array's count", #Predicate { $0.tags.count == 1 }),
            ("whether an array is empty", #Predicate { $0.tags.isEmpty }),
            ("a computed property of a related model", #Predicate { $0.author?.initial == "A" }),
            ("a computed property of models", #Predicate { $0.reviews.contains { $0.isGood } }),
            ("a computed property of a struct", #Predicate { $0.size?.area == 200 }),
            ("another model's type", #Predicate { ($0 as Any) is Cruise }),
            ("an array's last element", #Predicate { $0.tags.last == "a" }),
            ("a part of an array", #Predicate { $0.tags.filter { $0 == "a" }.count == 1 }),
            ("a computed property or nothing", #Predicate { $0.author?.initial.isEmpty ?? true }),
            ("an element of an array", #Predicate { $0.tags[0] == "a" }),
        ]
    }()

    @Test(
        "is refused where a store has no equivalent, and no table is read in memory instead",
        arguments: refused.map(\.0))
    func refuses(name: String) throws {
        let predicate = try #require(Self.refused.first { $0.0 == name }).1
        let library = try Self.library()
        #expect(throws: SwiftDataError.unsupportedPredicate) {
            try library.context.fetch(FetchDescriptor(predicate: predicate))
        }
    }
}

extension Author {
    fileprivate var initial: String { String(name.prefix(1)) }
}

extension Review {
    fileprivate var isGood: Bool { stars > 2 }
}

extension Book.Size {
    fileprivate var area: Int { width * height }
}
