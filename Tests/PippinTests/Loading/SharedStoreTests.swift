import PippinRecords
import CoreData
import TestSupport
import Testing

// Programs that know different parts of one file.
private struct Memo: CoreModel, Equatable {
    let id: Int
    var text: String
}

private struct Book: CoreModel, Equatable {
    let id: String
    var title: String
}

/// Leads to books, which know nothing of it.
private struct Author: CoreModel, Equatable {
    let id: String
    var books: [Book]
}

/// Cannot be without its book.
private struct Review: CoreModel, Equatable {
    let id: String
    var book: Book
}

@Suite("Managers with different structs share a file")
struct SharedStoreTests {
    private let place: StorePlace

    init() throws { place = try StorePlace() }

    private func manager(_ models: any CoreModel.Type...) throws -> PersistenceManager {
        try place.loaded(models)
    }

    private func saveNotes(_ count: Int = 1000) async throws {
        let manager = try manager(Memo.self)
        try await manager.save((1...count).map { Memo(id: $0, text: "note \($0)") })
    }

    @Test("entities that one does not name keep all their rows")
    func rows() async throws {
        try await saveNotes()
        let books = try manager(Book.self)
        try await books.save(Book(id: "emma", title: "Emma"))
        #expect(try place.number("SELECT COUNT(*) FROM ZMEMO") == 1000)
        let notes = try manager(Memo.self)
        #expect(try await notes.fetch(Memo.self).count == 1000)
        #expect(try await notes.find(Memo.self, id: 7) == Memo(id: 7, text: "note 7"))
        #expect(try place.number("SELECT COUNT(*) FROM ZBOOK") == 1)
    }

    @Test("may both have it open at once, and entities keep their numbers")
    func atOnce() async throws {
        try await saveNotes(3)
        let numbers = "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Memo'"
        let before = try place.number(numbers)
        let notes = try manager(Memo.self)
        // The entity comes before the other one by name.
        let books = try manager(Book.self)
        #expect(try place.number(numbers) == before)
        for index in 4...20 {
            try await notes.save(Memo(id: index, text: "more"))
            try await books.save(Book(id: "\(index)", title: "more"))
        }
        try await notes.delete(Memo.self, ids: [1])
        #expect(try await notes.fetch(Memo.self).count == 19)
        #expect(try await books.fetch(Book.self).count == 17)
        #expect(try await manager(Book.self, Memo.self).fetch(Memo.self).count == 19)
        #expect(try place.number("SELECT COUNT(*) FROM ZMEMO WHERE Z_ENT <> \(before ?? 0)") == 0)
    }

    @Test("the store's copy of its model and its version hashes keep what one does not name")
    func modelCopy() async throws {
        try await saveNotes(1)
        let books = try manager(Book.self)
        #expect(books.container.managedObjectModel.entitiesByName.keys.sorted() == ["Book", "Memo"])
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: place.file)
        let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        #expect(hashes?.keys.sorted() == ["Book", "Memo"])
    }

    @Test("metadata that one writes do not undo what another has migrated meanwhile")
    func metadata() async throws {
        try await saveNotes(1)
        let notes = try manager(Memo.self)
        _ = try manager(Book.self)
        let coordinator = notes.container.persistentStoreCoordinator
        let store = try #require(coordinator.persistentStores.first)
        coordinator.setMetadata(
            coordinator.metadata(for: store).merging(["mine": "yes"]) { $1 }, for: store)
        try await notes.save(Memo(id: 2, text: "x"))
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: place.file)
        #expect(metadata["mine"] as? String == "yes")
        #expect((metadata[NSStoreModelVersionHashesKey] as? [String: Data])?.keys.sorted() == ["Book", "Memo"])
    }

    @Test("a deletion reaches the relationships of entities that one does not name")
    func relationships() async throws {
        let authors = try manager(Author.self)
        let books = [Book(id: "emma", title: "Emma"), Book(id: "persuasion", title: "Persuasion")]
        try await authors.save(Author(id: "austen", books: books))
        let other = try manager(Book.self)
        try await other.delete(Book.self, ids: ["emma"])
        try await other.save(Book(id: "persuasion", title: "Persuasion, 2nd edition"))
        let found = try await manager(Author.self).find(Author.self, id: "austen")
        #expect(found?.books == [Book(id: "persuasion", title: "Persuasion, 2nd edition")])
    }

    @Test("what an entity that one does not name cannot be without is not deleted")
    func mandatory() async throws {
        try await manager(Review.self).save(Review(id: "1", book: Book(id: "emma", title: "Emma")))
        let books = try manager(Book.self)
        await #expect {
            try await books.delete(Book.self, ids: ["emma"])
        } throws: { error in
            (error as? PersistenceError)?.failures.contains { $0.entity == "Review" && $0.property == "book" } ?? false
        }
        #expect(try await manager(Review.self).fetch(Review.self).count == 1)
    }

    @Test("two that lead to the same entity load in turn, and each keeps its relationship")
    func twoBackReferences() async throws {
        let emma = Book(id: "emma", title: "Emma")
        try await manager(Author.self).save(Author(id: "austen", books: [emma]))
        try await manager(Review.self).save(Review(id: "1", book: emma))
        #expect(try await manager(Author.self).fetch(Author.self) == [Author(id: "austen", books: [emma])])
        #expect(try await manager(Review.self).fetch(Review.self) == [Review(id: "1", book: emma)])
        #expect(try await manager(Book.self).fetch(Book.self) == [emma])
    }

    @Test("what one adds to an entity of its own leaves the others as they are")
    func migratedAlong() async throws {
        enum Later {
            struct Book: CoreModel { let id: String; var title: String; var pages: Int? }
        }
        try await saveNotes(5)
        try await manager(Book.self).save(Book(id: "emma", title: "Emma"))
        let rows = "SELECT group_concat(Z_PK || ZTEXT) FROM ZMEMO"
        let before = try place.text(rows)
        let later = try manager(Later.Book.self)
        #expect(try await later.fetch(Later.Book.self).map(\.title) == ["Emma"])
        #expect(try place.text(rows) == before)
        #expect(try await manager(Memo.self).fetch(Memo.self).count == 5)
    }

    @Test("one whose models another has migrated since says to make a new manager")
    func migratedMeanwhile() async throws {
        enum Later {
            struct Book: CoreModel { let id: String; var title: String; var pages: Int? }
        }
        let former = try manager(Book.self)
        try await former.save(Book(id: "emma", title: "Emma"))
        try await manager(Later.Book.self).save(Later.Book(id: "emma", title: "Emma", pages: 400))
        for use in [{ _ = try await former.fetch(Book.self) }, { try await former.save(Book(id: "x", title: "X")) }] {
            let error = await #expect(throws: PersistenceError.self) { try await use() }
            #expect(error?.description.contains("open the store by a new one") == true)
        }
    }

    @Test("many managers that make one file at once all find their rows in it")
    func creation() async throws {
        let place = place
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<4 {
                group.addTask {
                    let books = PersistenceManager(models: Book.self, store: .file(place.file))
                    try await books.load()
                    try await books.save(Book(id: "\(index)", title: "t"))
                }
                group.addTask {
                    let notes = PersistenceManager(models: Memo.self, store: .file(place.file))
                    try await notes.load()
                    try await notes.save(Memo(id: index, text: "t"))
                }
            }
            try await group.waitForAll()
        }
        #expect(try place.number("SELECT COUNT(*) FROM ZBOOK") == 4)
        #expect(try place.number("SELECT COUNT(*) FROM ZMEMO") == 4)
    }

    @Test("an entity goes when a schema says so by name")
    func removedEntity() async throws {
        enum Cleaning {
            struct Book: CoreModel {
                let id: String
                var title: String
                static var schema: Schema<Book> { Schema(.removed(entity: "Memo")) }
            }
        }
        try await saveNotes(5)
        try await manager(Book.self).save(Book(id: "emma", title: "Emma"))
        #expect(try await manager(Cleaning.Book.self).fetch(Cleaning.Book.self).count == 1)
        #expect(try place.number("SELECT COUNT(*) FROM sqlite_master WHERE name = 'ZMEMO'") == 0)
        // Said again, it is nothing.
        #expect(try await manager(Cleaning.Book.self).fetch(Cleaning.Book.self).count == 1)
    }

    @Test("are refused if an entity that is to go is among the models")
    func contradiction() {
        enum Contradiction {
            struct Book: CoreModel {
                let id: String
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

    func loaded(_ models: [any CoreModel.Type]) throws -> PersistenceManager {
        let manager = PersistenceManager(models: models, store: .file(file))
        try manager.loadAndWait()
        return manager
    }
}
