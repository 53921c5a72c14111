import Foundation
import Observation
import SwiftData
import Synchronization
import Testing

@Model
private final class Society {
    @Relationship(inverse: \Fellow.club) var members: [Fellow] = []
    @Relationship(inverse: \Visitor.club) var guests: [Visitor] = []

    init() {}
}

@Model
private final class Fellow {
    @Transient var seen: Fellow?
    var club: Society?
    var name: String

    init(of club: Society) {
        self.club = club
        // Not all of its variables have values yet.
        let first = club.members.last
        name = "member"
        seen = first
    }
}

@Model
private final class Visitor {
    var club: Society?
    var name: String

    init(of club: Society, fails: Bool) throws {
        self.club = club
        let seen = club.guests
        if fails { throw CancellationError() }
        name = "\(seen.count)"
    }
}

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

    @Test("shows the model itself to the other side, before anything has used the model and after")
    func identity() throws {
        let author = Author(name: "Austen")
        let book = Book(isbn: "1", title: "Emma", author: author)
        #expect(author.books.first === book)
        let review = Review(5, of: book)
        #expect(book.reviews.first === review)
        let library = try Library()
        library.context.insert(author)
        let other = Book(isbn: "2", title: "Persuasion", author: author)
        #expect(author.books.contains { $0 === other })
        #expect(library.context.insertedModelsArray.contains { $0 === other })
    }

    @Test("tells the observers of a model that the other side has shown first")
    func observedIdentity() {
        let author = Author(name: "Austen")
        let book = Book(isbn: "1", title: "Emma", author: author)
        let shown = author.books[0]
        let heard = Mutex(0)
        withObservationTracking {
            _ = book.title
        } onChange: {
            heard.withLock { $0 += 1 }
        }
        shown.title = "Persuasion"
        #expect(heard.withLock { $0 } == 1)
    }

    @Test("shows a model whose initializer still runs, and one whose initializer fails to nobody who keeps it")
    func initializing() throws {
        let club = Society()
        let member = Fellow(of: club)
        #expect(member.seen === member)
        #expect(member.name == "member")
        #expect(club.members.first === member)
        #expect(throws: CancellationError.self) { try Visitor(of: club, fails: true) }
        let guest = try Visitor(of: club, fails: false)
        #expect(guest.club === club)
        #expect(club.guests.contains(guest))
    }

    @Test("shows a model of a subclass itself, whose superclass sets the relationship")
    func inheritedIdentity() {
        let traveller = Traveller(name: "Polo")
        let trip = BusinessTrip(name: "there", perdiem: 1, traveller: traveller)
        #expect(traveller.trips.first === trip)
        trip.perdiem = 2
        #expect((traveller.trips.first as? BusinessTrip)?.perdiem == 2)
        #expect(traveller.trips.first === trip)
    }
}
