import Foundation
import SwiftData
import TestSupport
import Testing

/// A container in memory, and contexts of it.
struct Library {
    let container: ModelContainer
    let context: ModelContext

    init(_ types: any PersistentModel.Type...) throws {
        let schema = Schema(types.isEmpty ? [Book.self, Item.self] : types)
        container = try ModelContainer(
            for: schema, configurations: ModelConfiguration(schema: schema, isStoredInMemoryOnly: true))
        context = ModelContext(container)
    }

    /// What another context reads.
    func fetched<T: PersistentModel>(_ type: T.Type = T.self, by order: SortDescriptor<T>) throws -> [T] {
        try ModelContext(container).fetch(FetchDescriptor<T>(sortBy: [order]))
    }
}

@Suite("A saved model")
struct SavingTests {
    @Test("is fetched by another context, as Xcode's template has it")
    func template() throws {
        let library = try Library()
        let item = Item(timestamp: Date(timeIntervalSinceReferenceDate: 5))
        library.context.insert(item)
        try library.context.save()
        let context = ModelContext(library.container)
        let found = try context.fetch(FetchDescriptor<Item>())
        #expect(found.map(\.timestamp) == [Date(timeIntervalSinceReferenceDate: 5)])
        #expect(found.first !== item)
    }

    @Test("has the values of all kinds of properties")
    func values() throws {
        let library = try Library()
        let book = Book(isbn: "1", title: "Emma", author: Author(name: "Austen"))
        book.price = Decimal(string: "9.90")
        book.kind = .poem
        book.tags = ["b", "a"]
        book.size = Book.Size(width: 10, height: 20)
        library.context.insert(book)
        try library.context.save()
        let found = try #require(try library.fetched(by: SortDescriptor(\Book.isbn)).first)
        #expect(found.price == Decimal(string: "9.90"))
        #expect(found.kind == .poem)
        #expect(found.tags == ["b", "a"])
        #expect(found.size == Book.Size(width: 10, height: 20))
        #expect(found.year == 1800)
        #expect(found.author?.name == "Austen")
    }

    @Test("is the same object in a context as long as the program holds it")
    func identity() throws {
        let library = try Library()
        let item = Item(timestamp: .now)
        library.context.insert(item)
        #expect(try library.context.fetch(FetchDescriptor<Item>()).first === item)
        try library.context.save()
        #expect(try library.context.fetch(FetchDescriptor<Item>()).first === item)
        #expect(library.context.model(for: item.persistentModelID) as? Item === item)
    }

    @Test("returns to the initial value of a transient variable at each fetch")
    func transient() throws {
        let library = try Library()
        let book = Book(isbn: "1", title: "Emma")
        book.isOpen = true
        library.context.insert(book)
        try library.context.save()
        #expect(try library.fetched(by: SortDescriptor(\Book.isbn)).map(\.isOpen) == [false])
        #expect(try library.context.fetch(FetchDescriptor<Book>()).map(\.isOpen) == [true])
    }

    @Test("has a temporary identifier before the save, and a permanent one after it")
    func identifiers() throws {
        let library = try Library()
        let item = Item(timestamp: .now)
        let unattached = item.persistentModelID
        library.context.insert(item)
        #expect(item.persistentModelID == unattached)
        #expect(unattached.storeIdentifier == nil)
        try library.context.save()
        #expect(item.persistentModelID != unattached)
        #expect(item.persistentModelID.storeIdentifier != nil)
        #expect(item.persistentModelID.entityName == "Item")
        #expect(library.context.registeredModel(for: unattached) as Item? === item)
    }

    @Test("keeps its changes until they are saved, and loses them by a rollback")
    func rollback() throws {
        let library = try Library()
        let book = Book(isbn: "1", title: "Emma")
        library.context.insert(book)
        try library.context.save()
        book.title = "Persuasion"
        #expect(book.hasChanges && library.context.hasChanges)
        #expect(library.context.changedModelsArray.count == 1)
        library.context.rollback()
        #expect(book.title == "Emma")
        #expect(!library.context.hasChanges)
    }

    @Test("can be inserted again after a rollback has withdrawn its insertion")
    func insertedAgain() throws {
        let library = try Library()
        let book = Book(isbn: "1", title: "Emma")
        library.context.insert(book)
        library.context.rollback()
        #expect(book.modelContext == nil)
        #expect(book.title == "Emma")
        library.context.insert(book)
        try library.context.save()
        #expect(try library.fetched(by: SortDescriptor(\Book.isbn)).map(\.title) == ["Emma"])
    }

    @Test("is inserted once, however often it is inserted")
    func twice() throws {
        let library = try Library()
        let item = Item(timestamp: .now)
        library.context.insert(item)
        library.context.insert(item)
        try library.context.save()
        library.context.insert(item)
        try library.context.save()
        #expect(try library.context.fetchCount(FetchDescriptor<Item>()) == 1)
    }

    @Test("is refused by another context, whose save says why")
    func foreign() throws {
        let library = try Library()
        let item = Item(timestamp: .now)
        library.context.insert(item)
        let other = ModelContext(library.container)
        other.insert(item)
        #expect(throws: SwiftDataError.modelValidationFailure) { try other.save() }
    }

    @Test("is refused by the save if the container lacks its class")
    func unknownClass() throws {
        let library = try Library(Item.self)
        library.context.insert(Book(isbn: "1", title: "Emma"))
        #expect(throws: SwiftDataError.modelValidationFailure) { try library.context.save() }
        #expect(throws: SwiftDataError.unknownSchema) { try library.context.fetch(FetchDescriptor<Book>()) }
    }
}

@Suite("A deleted model")
struct DeletionTests {
    @Test("is gone from the store after the save, and shows its last values")
    func lastValues() throws {
        let library = try Library()
        let book = Book(isbn: "1", title: "Emma")
        library.context.insert(book)
        try library.context.save()
        library.context.delete(book)
        #expect(book.isDeleted)
        try library.context.save()
        #expect(try library.context.fetchCount(FetchDescriptor<Book>()) == 0)
        #expect(book.title == "Emma")
        #expect(book.isDeleted)
        #expect(book.modelContext == nil)
    }

    @Test("takes those along to which a relationship cascades")
    func cascade() throws {
        let library = try Library()
        let book = Book(isbn: "1", title: "Emma")
        library.context.insert(book)
        library.context.insert(Review(5, of: book))
        try library.context.save()
        library.context.delete(book)
        try library.context.save()
        #expect(try library.context.fetchCount(FetchDescriptor<Review>()) == 0)
    }

    @Test("leaves those behind whose relationship is nullified")
    func nullify() throws {
        let library = try Library()
        let author = Author(name: "Austen")
        let book = Book(isbn: "1", title: "Emma", author: author)
        library.context.insert(book)
        try library.context.save()
        library.context.delete(author)
        try library.context.save()
        #expect(book.author == nil)
        #expect(try library.fetched(by: SortDescriptor(\Book.isbn)).map(\.author) == [nil])
    }

    @Test("is deleted in the store by a condition, without being read")
    func batch() throws {
        let library = try Library()
        for number in 1...5 {
            let book = Book(isbn: "\(number)", title: "Book \(number)")
            book.year = 1800 + number
            library.context.insert(book)
            library.context.insert(Review(number, of: book))
        }
        try library.context.save()
        try library.context.delete(model: Book.self, where: #Predicate { $0.year > 1802 })
        #expect(try library.fetched(by: SortDescriptor(\Book.isbn)).map(\.isbn) == ["1", "2"])
        #expect(try library.context.fetchCount(FetchDescriptor<Book>()) == 2)
        #expect(try library.context.fetchCount(FetchDescriptor<Review>()) == 2)
    }
}

@Suite("A unique attribute")
struct UniqueTests {
    @Test("makes a new model with the value of a saved one an update of that one")
    func upsert() throws {
        let library = try Library()
        library.context.insert(Book(isbn: "1", title: "Emma"))
        try library.context.save()
        library.context.insert(Book(isbn: "1", title: "Emma, revised"))
        try library.context.save()
        #expect(try library.fetched(by: SortDescriptor(\Book.isbn)).map(\.title) == ["Emma, revised"])
        #expect(try library.context.fetchCount(FetchDescriptor<Book>()) == 1)
    }

    @Test("makes one of two new models with the same value")
    func both() throws {
        let library = try Library()
        library.context.insert(Book(isbn: "1", title: "first"))
        library.context.insert(Book(isbn: "1", title: "second"))
        try library.context.save()
        #expect(try library.context.fetchCount(FetchDescriptor<Book>()) == 1)
    }
}
