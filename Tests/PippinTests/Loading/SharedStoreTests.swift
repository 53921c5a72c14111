import Pippin
import TestSupport
import Testing

// Programs that know different parts of one file.
private struct Memo: CoreModel, Codable, Sendable, Equatable {
    let uid: Int
    var text: String
}

private struct Book: CoreModel, Codable, Sendable, Equatable {
    let uid: String
    var title: String
}

/// Leads to books, which know nothing of it.
private struct Author: CoreModel, Codable, Sendable, Equatable {
    let uid: String
    var books: [Book]
}

/// Cannot be without its book.
private struct Review: CoreModel, Codable, Sendable, Equatable {
    let uid: String
    var book: Book
}

@Suite("Managers with different structs share a file")
struct SharedStoreTests {
    private let place: StorePlace

    init() throws { place = try StorePlace() }

    private func manager(_ models: any (CoreModel & Codable).Type...) throws -> PersistenceManager {
        try place.loaded(models)
    }

    private func saveNotes(_ count: Int = 1000) throws {
        let manager = try manager(Memo.self)
        try manager.save((1...count).map { Memo(uid: $0, text: "note \($0)") })
    }

    @Test("entities that one does not name keep all their rows")
    func rows() throws {
        try saveNotes()
        let books = try manager(Book.self)
        try books.save(Book(uid: "emma", title: "Emma"))
        #expect(try place.number("SELECT COUNT(*) FROM ZMEMO") == 1000)
        let notes = try manager(Memo.self)
        #expect(try notes.fetch(Memo.self).count == 1000)
        #expect(try notes.fetch(Memo.self, uid: 7) == Memo(uid: 7, text: "note 7"))
        #expect(try place.number("SELECT COUNT(*) FROM ZBOOK") == 1)
    }

    @Test("both may have it open at once, and entities keep their numbers")
    func atOnce() throws {
        try saveNotes(3)
        let numbers = "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Memo'"
        let before = try place.number(numbers)
        let notes = try manager(Memo.self)
        // The entity comes before the other one by name.
        let books = try manager(Book.self)
        #expect(try place.number(numbers) == before)
        for index in 4...20 {
            try notes.save(Memo(uid: index, text: "more"))
            try books.save(Book(uid: "\(index)", title: "more"))
        }
        try notes.delete(Memo.self, uids: [1])
        #expect(try notes.fetch(Memo.self).count == 19)
        #expect(try books.fetch(Book.self).count == 17)
        #expect(try manager(Book.self, Memo.self).fetch(Memo.self).count == 19)
        #expect(try place.number("SELECT COUNT(*) FROM ZMEMO WHERE Z_ENT <> \(before ?? 0)") == 0)
    }

    @Test("the store's copy of its model and its version hashes keep what one does not name")
    func modelCopy() throws {
        try saveNotes(1)
        let books = try manager(Book.self)
        #expect(books.container.managedObjectModel.entitiesByName.keys.sorted() == ["Book", "Memo"])
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: place.file)
        let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        #expect(hashes?.keys.sorted() == ["Book", "Memo"])
    }

    @Test("metadata that one writes do not undo what another has migrated meanwhile")
    func metadata() throws {
        try saveNotes(1)
        let notes = try manager(Memo.self)
        _ = try manager(Book.self)
        let coordinator = notes.container.persistentStoreCoordinator
        let store = try #require(coordinator.persistentStores.first)
        coordinator.setMetadata(
            coordinator.metadata(for: store).merging(["mine": "yes"]) { $1 }, for: store)
        try notes.save(Memo(uid: 2, text: "x"))
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: place.file)
        #expect(metadata["mine"] as? String == "yes")
        #expect((metadata[NSStoreModelVersionHashesKey] as? [String: Data])?.keys.sorted() == ["Book", "Memo"])
    }

    @Test("a deletion reaches the relationships of entities that one does not name")
    func relationships() throws {
        let authors = try manager(Author.self)
        let books = [Book(uid: "emma", title: "Emma"), Book(uid: "persuasion", title: "Persuasion")]
        try authors.save(Author(uid: "austen", books: books))
        let other = try manager(Book.self)
        try other.delete(Book.self, uids: ["emma"])
        try other.save(Book(uid: "persuasion", title: "Persuasion, 2nd edition"))
        let found = try manager(Author.self).fetch(Author.self, uid: "austen")
        #expect(found?.books == [Book(uid: "persuasion", title: "Persuasion, 2nd edition")])
    }

    @Test("what an entity that one does not name cannot be without is not deleted")
    func mandatory() throws {
        try manager(Review.self).save(Review(uid: "1", book: Book(uid: "emma", title: "Emma")))
        let books = try manager(Book.self)
        #expect {
            try books.delete(Book.self, uids: ["emma"])
        } throws: { error in
            (error as? SaveError)?.failures.contains { $0.entity == "Review" && $0.key == "book" } ?? false
        }
        #expect(try manager(Review.self).fetch(Review.self).count == 1)
    }

    @Test("two that lead to the same entity load in turn, and each keeps its relationship")
    func twoBackReferences() throws {
        let emma = Book(uid: "emma", title: "Emma")
        try manager(Author.self).save(Author(uid: "austen", books: [emma]))
        try manager(Review.self).save(Review(uid: "1", book: emma))
        #expect(try manager(Author.self).fetch(Author.self) == [Author(uid: "austen", books: [emma])])
        #expect(try manager(Review.self).fetch(Review.self) == [Review(uid: "1", book: emma)])
        #expect(try manager(Book.self).fetch(Book.self) == [emma])
    }

    @Test("what one adds to an entity of its own leaves the others as they are")
    func migratedAlong() throws {
        enum Later {
            struct Book: CoreModel, Codable { let uid: String; var title: String; var pages: Int? }
        }
        try saveNotes(5)
        try manager(Book.self).save(Book(uid: "emma", title: "Emma"))
        let rows = "SELECT group_concat(Z_PK || ZTEXT) FROM ZMEMO"
        let before = try place.text(rows)
        let later = try manager(Later.Book.self)
        #expect(try later.fetch(Later.Book.self).map(\.title) == ["Emma"])
        #expect(try place.text(rows) == before)
        #expect(try manager(Memo.self).fetch(Memo.self).count == 5)
    }

    @Test("many managers that make one file at once all find their rows in it")
    func creation() async throws {
        let place = place
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<4 {
                group.addTask {
                    let books = PersistenceManager(models: Book.self, store: .file(place.file))
                    try await books.load()
                    try await books.save(Book(uid: "\(index)", title: "t"))
                }
                group.addTask {
                    let notes = PersistenceManager(models: Memo.self, store: .file(place.file))
                    try await notes.load()
                    try await notes.save(Memo(uid: index, text: "t"))
                }
            }
            try await group.waitForAll()
        }
        #expect(try place.number("SELECT COUNT(*) FROM ZBOOK") == 4)
        #expect(try place.number("SELECT COUNT(*) FROM ZMEMO") == 4)
    }

    @Test("an entity goes when a schema says so by name")
    func removedEntity() throws {
        enum Cleaning {
            struct Book: CoreModel, Codable {
                let uid: String
                var title: String
                static var schema: Schema<Book> { Schema(.removed(entity: "Memo")) }
            }
        }
        try saveNotes(5)
        try manager(Book.self).save(Book(uid: "emma", title: "Emma"))
        #expect(try manager(Cleaning.Book.self).fetch(Cleaning.Book.self).count == 1)
        #expect(try place.number("SELECT COUNT(*) FROM sqlite_master WHERE name = 'ZMEMO'") == 0)
        // Said again, it is nothing.
        #expect(try manager(Cleaning.Book.self).fetch(Cleaning.Book.self).count == 1)
    }

    @Test("an entity that is to go, and is one of the models, is an error")
    func contradiction() {
        enum Contradiction {
            struct Book: CoreModel, Codable {
                let uid: String
                static var schema: Schema<Book> { Schema(.removed(entity: "Book")) }
            }
        }
        #expect { try manager(Contradiction.Book.self) } throws: { "\($0)".contains("'Book' is removed") }
    }
}

/// A file in a folder of its own, and what is in it by plain SQL.
final class StorePlace: StoreFile, Sendable {
    private let folder: TestFolder
    var file: URL { folder.store }

    init() throws { folder = try TestFolder() }

    func loaded(_ models: [any (CoreModel & Codable).Type]) throws -> PersistenceManager {
        let manager = PersistenceManager(models: models, store: .file(file))
        try manager.load()
        return manager
    }
}
