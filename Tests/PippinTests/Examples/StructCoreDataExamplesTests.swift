import Pippin
import Testing

@Suite("The examples of StructCoreData")
struct StructCoreDataExamplesTests {
    struct Store: CoreModel, Codable, Equatable {
        let uid: String
        var brand: String?
        var books: [Book]
        static var schema: Schema<Store> { Schema(.owns(\.books)) }
    }

    struct Book: CoreModel, Codable, Equatable {
        let uid: String
        var title: String?
        var price: Double?
        var publisher: String?
        var author: Author?
    }

    struct Author: CoreModel, Codable, Equatable {
        let uid: String
        var name: String?
    }

    struct Review: CoreModel, Codable, Equatable {
        let uid: String
        var book: Reference<Book>
        var content: String?
        var createdAt: Date?
        var user: User?
    }

    struct User: CoreModel, Codable, Equatable {
        let uid: String
        var name: String?
    }

    private let manager: PersistenceManager
    private let emma = Book(uid: "emma", title: "Emma", price: 9, author: Author(uid: "a", name: "Jane Austen"))
    private let safari: Store

    init() throws {
        manager = PersistenceManager(models: Store.self, Review.self, store: .memory)
        try manager.load()
        safari = Store(uid: "safari", brand: "Safari", books: [emma, Book(uid: "moby", title: "Moby-Dick")])
        try manager.save([safari, Store(uid: "amazon", brand: "Amazon", books: [])])
    }

    @Test("two stores, their books with authors")
    func stores() async throws {
        let stores = try await manager.fetch(Store.self, sortedBy: .ascending(\.brand))
        #expect(stores.map(\.brand) == ["Amazon", "Safari"])
        #expect(stores[1] == safari)
    }

    @Test("reviews by users, fetched by their book, added and removed")
    func reviews() async throws {
        let ada = User(uid: "ada", name: "Ada")
        let reviews = (1...2).map {
            Review(
                uid: "\($0)", book: Reference(emma), content: "No. \($0)",
                createdAt: Date(timeIntervalSinceReferenceDate: Double($0)), user: ada)
        }
        try await manager.save(reviews)
        let predicate = Filter<Review>.format("book.uid == %@", emma.uid)
        #expect(try await manager.fetch(Review.self, where: predicate, sortedBy: .ascending(\.createdAt)) == reviews)
        try await manager.delete(reviews[0])
        #expect(try await manager.fetch(Review.self, where: \.book == Reference(emma)) == [reviews[1]])
        #expect(try await manager.count(User.self) == 1)
    }

    @Test("updates change or insert")
    func update() async throws {
        var changed = safari
        changed.books[0].price = 8
        changed.books.append(Book(uid: "new", title: "New"))
        try await manager.save(changed)
        #expect(try await manager.fetch(Store.self, uid: "safari") == changed)
    }

    @Test("fetch, update and delete with completions")
    func completions() async throws {
        let manager = manager
        let emma = emma
        let updated = await withCheckedContinuation { continuation in
            manager.save([Author(uid: "a", name: "J. Austen")]) { continuation.resume(returning: $0) }
        }
        try updated.get()
        let request = ModelRequest(Book.self).filter(\.author?.name == "J. Austen").limit(1)
        let fetched = await withCheckedContinuation { continuation in
            manager.fetch(request) { continuation.resume(returning: $0) }
        }
        #expect(try fetched.get().map(\.uid) == ["emma"])
        let deleted = await withCheckedContinuation { continuation in
            manager.delete([emma]) { continuation.resume(returning: $0) }
        }
        #expect(try deleted.get() == 1)
        #expect(try await manager.fetch(Store.self, uid: "safari")?.books.map(\.uid) == ["moby"])
    }
}
