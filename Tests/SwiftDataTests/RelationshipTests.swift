import Foundation
import SwiftData
import Testing

@Suite("A relationship")
struct RelationshipTests {
    @Test("has its inverse before any of the models is inserted")
    func unattachedInverse() {
        let author = Author(name: "Austen")
        let book = Book(isbn: "1", title: "Emma", author: author)
        #expect(author.books == [book])
        book.author = nil
        #expect(author.books.isEmpty)
        author.books = [book]
        #expect(book.author == author)
    }

    @Test("takes thousands of models one by one before any of them is inserted", .timeLimit(.minutes(1)))
    func manyUnattached() {
        let author = Author(name: "Christie")
        for number in 0..<2000 { author.books.append(Book(isbn: "\(number)", title: "Mystery \(number)")) }
        #expect(author.books.count == 2000)
        #expect(author.books.allSatisfy { $0.author == author })
    }

    @Test("moves a model from one to another before any of them is inserted")
    func unattachedMove() {
        let (first, second) = (Author(name: "first"), Author(name: "second"))
        let book = Book(isbn: "1", title: "Emma", author: first)
        book.author = second
        #expect(first.books.isEmpty)
        #expect(second.books == [book])
    }

    @Test("inserts the models that a new one leads to, in either direction")
    func graph() throws {
        let library = try Library()
        let author = Author(name: "Austen")
        let book = Book(isbn: "1", title: "Emma", author: author)
        let review = Review(5, of: book)
        library.context.insert(author)
        #expect(book.modelContext == library.context)
        #expect(review.modelContext == library.context)
        try library.context.save()
        let found = try #require(try library.fetched(by: SortDescriptor(\Author.name)).first)
        #expect(found.books.map(\.title) == ["Emma"])
        #expect(found.books.first?.reviews.map(\.stars) == [5])
        #expect(found.books.first?.reviews.first?.book.title == "Emma")
    }

    @Test("has the order of an array that is inserted with its model, before and after the save")
    func order() throws {
        let library = try Library()
        let author = Author(name: "Austen")
        let titles = (0..<30).map { "Book \($0)" }
        author.books = titles.map { Book(isbn: $0, title: $0) }
        library.context.insert(author)
        #expect(author.books.map(\.title) == titles)
        try library.context.save()
        #expect(author.books.map(\.title) == titles)
        #expect(try library.fetched(by: SortDescriptor(\Author.name)).first?.books.map(\.title) == titles)
    }

    @Test("inserts a new model that is related to an inserted one")
    func joins() throws {
        let library = try Library()
        let author = Author(name: "Austen")
        library.context.insert(author)
        let book = Book(isbn: "1", title: "Emma", author: author)
        #expect(book.modelContext == library.context)
        #expect(author.books == [book])
        try library.context.save()
        author.books.append(Book(isbn: "2", title: "Persuasion"))
        try library.context.save()
        #expect(try library.fetched(by: SortDescriptor(\Book.isbn)).map(\.author?.name) == ["Austen", "Austen"])
    }

    @Test("keeps both sides of inserted models in step")
    func inverse() throws {
        let library = try Library()
        let (first, second) = (Author(name: "first"), Author(name: "second"))
        let book = Book(isbn: "1", title: "Emma", author: first)
        library.context.insert(book)
        library.context.insert(second)
        try library.context.save()
        second.books.append(book)
        #expect(book.author == second)
        #expect(first.books.isEmpty)
        try library.context.save()
        #expect(try library.fetched(by: SortDescriptor(\Author.name)).map { $0.books.count } == [0, 1])
    }

    @Test("is refused by the save if it must have a model and has none")
    func missing() throws {
        let library = try Library()
        let book = Book(isbn: "1", title: "Emma")
        let review = Review(5, of: book)
        library.context.insert(review)
        try library.context.save()
        book.reviews = []
        #expect(throws: SwiftDataError.modelValidationFailure) { try library.context.save() }
    }
}
