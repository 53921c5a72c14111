import Foundation
import Observation
import SwiftData
import Synchronization
import Testing

@ModelActor
actor Importer {
    func add(_ titles: [String]) throws -> [PersistentIdentifier] {
        let books = titles.map { Book(isbn: $0, title: $0) }
        for book in books { modelContext.insert(book) }
        try modelContext.save()
        return books.map(\.persistentModelID)
    }

    func rename(_ identifier: PersistentIdentifier, to title: String) throws {
        guard let book = self[identifier, as: Book.self] else { throw SwiftDataError.missingModelContext }
        book.title = title
        try modelContext.save()
    }

    func delete(_ identifier: PersistentIdentifier) throws {
        guard let book = self[identifier, as: Book.self] else { throw SwiftDataError.missingModelContext }
        modelContext.delete(book)
        try modelContext.save()
    }
}

@Suite("A model actor")
struct ActorTests {
    @Test("works on a context of its own, and passes models on by their identifiers")
    func importing() async throws {
        let library = try Library()
        let importer = Importer(modelContainer: library.container)
        let identifiers = try await importer.add(["a", "b"])
        #expect(identifiers.compactMap { (library.context.model(for: $0) as? Book)?.title } == ["a", "b"])
    }

    @Test("gives nothing for the identifier of a model that is gone")
    func gone() async throws {
        let library = try Library()
        let importer = Importer(modelContainer: library.container)
        let identifier = try await importer.add(["a"])[0]
        try await importer.delete(identifier)
        await #expect(throws: SwiftDataError.missingModelContext) { try await importer.rename(identifier, to: "b") }
    }

    @Test("shows what it saved to other contexts at their next fetch")
    func seen() async throws {
        let library = try Library()
        let importer = Importer(modelContainer: library.container)
        let identifier = try await importer.add(["a"])[0]
        let book = try #require(try library.context.fetch(FetchDescriptor<Book>()).first)
        try await importer.rename(identifier, to: "b")
        #expect(try library.context.fetch(FetchDescriptor<Book>()).first === book)
        #expect(book.title == "b")
        try await importer.delete(identifier)
        #expect(try library.context.fetch(FetchDescriptor<Book>()).isEmpty)
        #expect(book.isDeleted)
        #expect(book.title == "b")
    }

    @Test("loses no insertion beside another one")
    func together() async throws {
        let library = try Library()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in 0..<4 {
                let importer = Importer(modelContainer: library.container)
                group.addTask {
                    for number in 0..<25 { _ = try await importer.add(["\(part).\(number)"]) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try library.context.fetchCount(FetchDescriptor<Book>()) == 100)
    }
}

@Suite("The main context")
@MainActor
struct MainContextTests {
    @Test("saves by itself when the main actor is free")
    func autosave() async throws {
        let container = try Library().container
        container.mainContext.insert(Item(timestamp: .now))
        #expect(container.mainContext.hasChanges)
        for _ in 0..<100 where container.mainContext.hasChanges { try await Task.sleep(for: .milliseconds(10)) }
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Item>()) == 1)
    }

    @Test("saves nothing by itself once that is turned off, as in other contexts")
    func noAutosave() async throws {
        let container = try Library().container
        container.mainContext.autosaveEnabled = false
        container.mainContext.insert(Item(timestamp: .now))
        #expect(!ModelContext(container).autosaveEnabled)
        try await Task.sleep(for: .milliseconds(50))
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Item>()) == 0)
    }

    @Test("lives on when only it is held, and with it the container's stores")
    func alone() throws {
        let context = try Library().container.mainContext
        context.insert(Item(timestamp: .now))
        try context.save()
        #expect(context.container.mainContext === context)
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Item>()) == 1)
    }

    @Test("shows what another context saved without a fetch, and tells observers")
    func observed() async throws {
        let container = try Library().container
        let importer = Importer(modelContainer: container)
        let identifier = try await importer.add(["a"])[0]
        let book = try #require(try container.mainContext.fetch(FetchDescriptor<Book>()).first)
        let changes = Mutex(0)
        withObservationTracking {
            _ = book.title
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        try await importer.rename(identifier, to: "b")
        for _ in 0..<100 where book.title != "b" { try await Task.sleep(for: .milliseconds(10)) }
        #expect(book.title == "b")
        #expect(changes.withLock { $0 } == 1)
    }
}

@Suite("An observer of a model")
struct ObservationTests {
    private func changes(of book: Book, reading: @escaping (Book) -> Void, _ change: () -> Void) -> Int {
        let changes = Mutex(0)
        withObservationTracking {
            reading(book)
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        change()
        return changes.withLock { $0 }
    }

    @Test("hears of a change of the property that it read, and of no other")
    func own() throws {
        let library = try Library()
        let book = Book(isbn: "1", title: "Emma")
        #expect(changes(of: book, reading: { _ = $0.title }) { book.title = "a" } == 1)
        #expect(changes(of: book, reading: { _ = $0.title }) { book.year = 1 } == 0)
        library.context.insert(book)
        #expect(changes(of: book, reading: { _ = $0.title }) { book.title = "b" } == 1)
    }

    @Test("hears of the other side of a relationship")
    func inverse() throws {
        let library = try Library()
        let book = Book(isbn: "1", title: "Emma")
        let author = Author(name: "Austen")
        library.context.insert(book)
        library.context.insert(author)
        #expect(changes(of: book, reading: { _ = $0.author }) { author.books = [book] } == 1)
        #expect(changes(of: book, reading: { _ = $0.title }) { author.books = [] } == 0)
    }
}

@Suite("A save")
struct NotificationTests {
    @Test("posts the identifiers of what it wrote")
    func identifiers() throws {
        let library = try Library()
        let (old, gone) = (Book(isbn: "1", title: "old"), Book(isbn: "2", title: "gone"))
        library.context.insert(old)
        library.context.insert(gone)
        try library.context.save()
        let posted = Mutex<[String: [PersistentIdentifier]]>([:])
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: library.context, queue: nil
        ) { notification in
            for (key, value) in notification.userInfo ?? [:] {
                guard let key = key as? String, let value = value as? [PersistentIdentifier] else { continue }
                posted.withLock { $0[key] = value }
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let new = Book(isbn: "3", title: "new")
        let deleted = gone.persistentModelID
        library.context.insert(new)
        old.title = "changed"
        library.context.delete(gone)
        try library.context.save()
        let found = posted.withLock { $0 }
        #expect(found[ModelContext.NotificationKey.insertedIdentifiers.rawValue] == [new.persistentModelID])
        #expect(found[ModelContext.NotificationKey.updatedIdentifiers.rawValue] == [old.persistentModelID])
        #expect(found[ModelContext.NotificationKey.deletedIdentifiers.rawValue] == [deleted])
    }

    @Test("posts the identifiers of a large save for those who ask for the notification's name")
    func largeSave() throws {
        let library = try Library()
        let counted = Mutex(0)
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: library.context, queue: nil
        ) { notification in
            let key = ModelContext.NotificationKey.insertedIdentifiers.rawValue
            counted.withLock { $0 = (notification.userInfo?[key] as? [PersistentIdentifier])?.count ?? 0 }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        for number in 0..<1_500 { library.context.insert(Item(timestamp: Date(timeIntervalSince1970: Double(number)))) }
        try library.context.save()
        #expect(counted.withLock { $0 } == 1_500)
    }

    @Test("ends a transaction, which saves nothing if it throws")
    func transaction() throws {
        let library = try Library()
        try library.context.transaction { library.context.insert(Item(timestamp: .now)) }
        #expect(try ModelContext(library.container).fetchCount(FetchDescriptor<Item>()) == 1)
        #expect(throws: CancellationError.self) {
            try library.context.transaction {
                library.context.insert(Item(timestamp: .now))
                throw CancellationError()
            }
        }
        #expect(try ModelContext(library.container).fetchCount(FetchDescriptor<Item>()) == 1)
    }

    @Test("can be taken back by an undo manager")
    func undo() throws {
        let library = try Library()
        library.context.undoManager = UndoManager()
        let book = Book(isbn: "1", title: "Emma")
        library.context.insert(book)
        try library.context.save()
        book.title = "changed"
        library.context.processPendingChanges()
        library.context.undoManager?.undo()
        #expect(book.title == "Emma")
    }
}
