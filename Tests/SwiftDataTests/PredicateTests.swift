import Foundation
import SwiftData
import Testing

@Suite("A predicate")
struct PredicateTests {
    /// Books whose titles are single letters.
    private static func library() throws -> Library {
        let library = try Library()
        let austen = Author(name: "Austen")
        let shelley = Author(name: "Shelley")
        for (index, title) in ["Emma", "émigré", "Frankenstein", "Poems", "Nothing"].enumerated() {
            let book = Book(isbn: "\(index)", title: title, author: [austen, nil, shelley, shelley, nil][index])
            book.year = 1810 + index
            book.kind = [.novel, .novel, .novel, .poem, .play][index]
            book.price = [9, 5, nil, 3, nil][index]
            book.size = index == 0 ? Book.Size(width: 10, height: 20) : nil
            library.context.insert(book)
            for stars in 0..<index { library.context.insert(Review(stars, of: book)) }
        }
        try library.context.save()
        return library
    }

    /// What a store finds, by plain SQL's own order, and whether Swift finds the same in memory.
    private func isbns(_ predicate: Predicate<Book>) throws -> String {
        let library = try Self.library()
        let found = try library.context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.isbn)]))
        let all = try library.context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.isbn)]))
        let evaluated = try all.filter { try predicate.evaluate($0) }
        #expect(found.map(\.isbn) == evaluated.map(\.isbn))
        return found.map(\.isbn).joined()
    }

    @Test("compares numbers, texts and optional values")
    func comparisons() throws {
        #expect(try isbns(#Predicate { $0.year > 1812 }) == "34")
        #expect(try isbns(#Predicate { $0.year >= 1811 && $0.year != 1812 }) == "134")
        #expect(try isbns(#Predicate { $0.title == "Emma" || $0.isbn == "4" }) == "04")
        #expect(try isbns(#Predicate { $0.price == nil }) == "24")
        #expect(try isbns(#Predicate { ($0.price ?? 0) < 5 }) == "234")
        #expect(try isbns(#Predicate { !($0.year == 1810) }) == "1234")
        #expect(try isbns(#Predicate { (1811...1813).contains($0.year) }) == "123")
        #expect(try isbns(#Predicate { $0.year % 2 == 0 }) == "024")
    }

    @Test("searches texts, also by the rules of the locale")
    func texts() throws {
        #expect(try isbns(#Predicate { $0.title.contains("o") }) == "34")
        #expect(try isbns(#Predicate { $0.title.starts(with: "Em") }) == "0")
        #expect(try isbns(#Predicate { $0.title.localizedStandardContains("em") }) == "013")
        #expect(try isbns(#Predicate { $0.title.isEmpty }) == "")
    }

    @Test("follows relationships to one and to many")
    func relationships() throws {
        #expect(try isbns(#Predicate { $0.author?.name == "Shelley" }) == "23")
        #expect(try isbns(#Predicate { $0.author == nil }) == "14")
        #expect(try isbns(#Predicate { $0.reviews.isEmpty }) == "0")
        #expect(try isbns(#Predicate { $0.reviews.count > 2 }) == "34")
        #expect(try isbns(#Predicate { $0.reviews.contains { $0.stars == 2 } }) == "34")
        #expect(try isbns(#Predicate { $0.reviews.allSatisfy { $0.stars < 2 } }) == "012")
        #expect(try isbns(#Predicate { $0.reviews.filter { $0.stars > 0 }.count == 2 }) == "3")
    }

    @Test("takes values of the program")
    func captured() throws {
        let (years, title, nothing) = ([1810, 1813], "Emma", String?.none)
        #expect(try isbns(#Predicate { years.contains($0.year) }) == "03")
        #expect(try isbns(#Predicate { $0.title == title }) == "0")
        #expect(try isbns(#Predicate { $0.author?.name == nothing }) == "14")
    }

    @Test("compares enumerations with raw values, and these")
    func enumerations() throws {
        let kind = Book.Kind.poem
        let kinds = [Book.Kind.poem, .play]
        #expect(try isbns(#Predicate { $0.kind == kind }) == "3")
        #expect(try isbns(#Predicate { $0.kind != kind }) == "0124")
        #expect(try isbns(#Predicate { $0.kind.rawValue == "novel" }) == "012")
        #expect(try isbns(#Predicate { kinds.contains($0.kind) }) == "34")
    }

    @Test("compares members of structs")
    func members() throws {
        #expect(try isbns(#Predicate { $0.size?.width == 10 }) == "0")
        #expect(try isbns(#Predicate { ($0.size?.height ?? 0) > 15 }) == "0")
    }

    @Test("compares whole structs, and optional ones with nil")
    func structs() throws {
        let size = Book.Size(width: 10, height: 20)
        let sizes = [size, Book.Size(width: 1, height: 2)]
        let other = Book.Size(width: 10, height: 21)
        #expect(try isbns(#Predicate { $0.size == size }) == "0")
        #expect(try isbns(#Predicate { $0.size == other }) == "")
        #expect(try isbns(#Predicate { $0.size != size }) == "1234")
        #expect(try isbns(#Predicate { $0.size == nil }) == "1234")
        #expect(try isbns(#Predicate { $0.size != nil }) == "0")
        #expect(try isbns(#Predicate { $0.size.flatMap { sizes.contains($0) } ?? false }) == "0")
    }

    @Test("compares enumerations without raw values, and with associated ones")
    func cases() throws {
        let library = try Library(Parcel.self)
        for (index, state) in [Parcel.State.packed, .sent(by: "ship"), .sent(by: "train"), .lost].enumerated() {
            library.context.insert(Parcel("\(index)", state))
        }
        try library.context.save()
        func names(_ predicate: Predicate<Parcel>) throws -> String {
            let found = try library.context.fetch(
                FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)]))
            let all = try library.context.fetch(FetchDescriptor<Parcel>(sortBy: [SortDescriptor(\.name)]))
            #expect(try all.filter { try predicate.evaluate($0) } == found)
            return found.map(\.name).joined()
        }
        let (packed, ship) = (Parcel.State.packed, Parcel.State.sent(by: "ship"))
        let ended = [Parcel.State.lost, .sent(by: "train")]
        #expect(try names(#Predicate { $0.state == packed }) == "0")
        #expect(try names(#Predicate { $0.state != packed }) == "123")
        #expect(try names(#Predicate { $0.state == ship }) == "1")
        #expect(try names(#Predicate { ended.contains($0.state) }) == "23")
    }

    @Test("compares identifiers and captured models")
    func identifiers() throws {
        let library = try Self.library()
        let books = try library.context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.isbn)]))
        func isbns(_ predicate: Predicate<Book>) throws -> String {
            try library.context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.isbn)]))
                .map(\.isbn).joined()
        }
        let (identifier, identifiers) = (books[1].persistentModelID, books[2...].map(\.persistentModelID))
        let author = try #require(books[0].author?.persistentModelID)
        #expect(try isbns(#Predicate { $0.persistentModelID == identifier }) == "1")
        #expect(try isbns(#Predicate { identifiers.contains($0.persistentModelID) }) == "234")
        #expect(try isbns(#Predicate { $0.author?.persistentModelID == author }) == "0")
    }

    @Test("finds unsaved changes, unless they are left out")
    func pending() throws {
        let library = try Self.library()
        library.context.insert(Book(isbn: "9", title: "New"))
        var descriptor = FetchDescriptor<Book>(predicate: #Predicate { $0.title == "New" })
        #expect(try library.context.fetchCount(descriptor) == 1)
        descriptor.includePendingChanges = false
        #expect(try library.context.fetchCount(descriptor) == 0)
    }

    @Test("is refused where a store cannot evaluate it")
    func unsupported() throws {
        let library = try Self.library()
        #expect(throws: SwiftDataError.unsupportedPredicate) {
            try library.context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.shout == "EMMA" }))
        }
        let tags = ["a"]
        #expect(throws: SwiftDataError.unsupportedPredicate) {
            try library.context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.tags == tags }))
        }
    }
}

extension Book {
    /// A computed property, which no store knows.
    var shout: String { title.uppercased() }
}

@Model
final class Parcel {
    var name: String
    var state: State

    enum State: Codable, Equatable { case packed, sent(by: String), lost }

    init(_ name: String, _ state: State) {
        self.name = name
        self.state = state
    }
}
