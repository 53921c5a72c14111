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

/// A loop that reads the array for each element takes the time of the loop, not the square of it.
@Suite("The array of a relationship")
struct KeptArrayTests {
    /// Where the elements of an author's array are in memory: the same place for an array that was not made anew.
    private func place(_ author: Author) -> UnsafePointer<Book>? {
        author.books.withUnsafeBufferPointer { $0.baseAddress }
    }

    private func savedAuthor(_ library: Library, books: Int) throws -> Author {
        let author = Author(name: "Austen")
        author.books = (0..<books).map { Book(isbn: "\($0)", title: "Book \($0)") }
        library.context.insert(author)
        try library.context.save()
        return author
    }

    @Test("is made once while it is read, and is the same in each context")
    func once() throws {
        let library = try Library()
        let author = try savedAuthor(library, books: 100)
        let other = try #require(try library.fetched(by: SortDescriptor(\Author.name)).first)
        for author in [author, other] {
            let first = place(author)
            let places = (0..<100).map { index in
                _ = author.books[index].title
                return place(author)
            }
            #expect(places.allSatisfy { $0 == first })
        }
        #expect(author.books.map(\.isbn) == other.books.map(\.isbn))
    }

    @Test("is another one after each change of either side, a save, a rollback, and what others have saved")
    func changes() throws {
        let library = try Library()
        let author = try savedAuthor(library, books: 3)
        func isbns() -> [String] { author.books.map(\.isbn) }
        #expect(isbns() == ["0", "1", "2"])
        author.books.removeFirst()
        #expect(isbns() == ["1", "2"])
        let book = Book(isbn: "3", title: "new", author: author)
        #expect(isbns() == ["1", "2", "3"])
        try library.context.save()
        #expect(isbns() == ["1", "2", "3"])
        book.author = nil
        #expect(isbns() == ["1", "2"])
        library.context.rollback()
        #expect(isbns() == ["1", "2", "3"])
        library.context.delete(book)
        library.context.processPendingChanges()
        #expect(isbns() == ["1", "2"])
        try library.context.save()
        let other = ModelContext(library.container)
        other.insert(Book(isbn: "4", title: "other", author: try other.fetch(FetchDescriptor<Author>()).first))
        try other.save()
        try library.context.save()
        #expect(isbns() == ["1", "2", "4"])
        try library.container.erase()
        #expect(isbns() == [])
    }

    @Test("holds no model in a circle: the context goes with the last model that the program holds")
    func circle() throws {
        weak var context: ModelContext?
        do {
            let library = try Library(Cocktail.self)
            let lime = Garnish("lime")
            let cocktails = ["Daiquiri", "Gimlet"].map { name in
                let cocktail = Cocktail(name)
                cocktail.garnish = [lime]
                return cocktail
            }
            library.context.insert(lime)
            try library.context.save()
            for _ in 0..<2 {
                #expect(lime.cocktails.count == 2)
                for cocktail in cocktails { #expect(cocktail.garnish == [lime]) }
            }
            context = library.context
        }
        #expect(context == nil)
    }
}
