import Pippin
import Testing

@Suite("The examples of StructCoreData")
struct StructCoreDataExamplesTests {
    struct Store: CoreModel, Equatable {
        let id: String
        var brand: String?
        var books: [Book]
        static var schema: Schema<Store> { Schema(.owns(\.books)) }
    }

    struct Book: CoreModel, Equatable {
        let id: String
        var title: String?
        var price: Double?
        var publisher: String?
        var author: Author?
    }

    struct Author: CoreModel, Equatable {
        let id: String
        var name: String?
    }

    struct Review: CoreModel, Equatable {
        let id: String
        var book: Reference<Book>
        var content: String?
        var createdAt: Date?
        var user: User?
    }

    struct User: CoreModel, Equatable {
        let id: String
        var name: String?
    }

    private let manager: PersistenceManager
    private let emma = Book(id: "emma", title: "Emma", price: 9, author: Author(id: "a", name: "Jane Austen"))
    private let safari: Store

    init() async throws {
        manager = PersistenceManager(models: Store.self, Review.self, store: .memory)
        try manager.loadAndWait()
        safari = Store(id: "safari", brand: "Safari", books: [emma, Book(id: "moby", title: "Moby-Dick")])
        try await manager.save([safari, Store(id: "amazon", brand: "Amazon", books: [])])
    }

    @Test("hold two stores, and their books with authors")
    func stores() async throws {
        let stores = try await manager.fetch(Store.self, sortedBy: .ascending(\.brand))
        #expect(stores.map(\.brand) == ["Amazon", "Safari"])
        #expect(stores[1] == safari)
    }

    @Test("fetch reviews of users by their book, and add and remove them")
    func reviews() async throws {
        let ada = User(id: "ada", name: "Ada")
        let reviews = (1...2).map {
            Review(
                id: "\($0)", book: Reference(emma), content: "No. \($0)",
                createdAt: Date(timeIntervalSinceReferenceDate: Double($0)), user: ada)
        }
        try await manager.save(reviews)
        let predicate = Filter<Review>.format("book.id == %@", emma.id)
        #expect(try await manager.fetch(Review.self, where: predicate, sortedBy: .ascending(\.createdAt)) == reviews)
        try await manager.delete(reviews[0])
        #expect(try await manager.fetch(Review.self, where: \.book == Reference(emma)) == [reviews[1]])
        #expect(try await manager.count(User.self) == 1)
    }

    @Test("update or insert a book")
    func update() async throws {
        var changed = safari
        changed.books[0].price = 8
        changed.books.append(Book(id: "new", title: "New"))
        try await manager.save(changed)
        #expect(try await manager.find(Store.self, id: "safari") == changed)
    }

    @Test("fetch, update and delete in one go")
    func changes() async throws {
        try await manager.update(Author(id: "a", name: "J. Austen"))
        let request = ModelRequest(Book.self).filter(\.author?.name == "J. Austen").limit(1)
        #expect(try await manager.fetch(request).map(\.id) == ["emma"])
        #expect(try await manager.delete([emma]) == 1)
        #expect(try await manager.find(Store.self, id: "safari")?.books.map(\.id) == ["moby"])
    }
}
