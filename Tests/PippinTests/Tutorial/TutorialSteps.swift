import Pippin

// The code of the tutorial (Sources/Pippin/Pippin.docc/Tutorial.md), step by step; TutorialTests compares the two.

enum FirstSteps {
    struct Book: CoreModel, Equatable {
        let id: String
        var title: String
        var pages: Int
    }

    static let steps = Steps()

    struct Steps {
        func open(_ file: URL) async throws -> PersistenceManager {
            let manager = PersistenceManager(models: Book.self, store: .file(file))
            try await manager.load()
            return manager
        }

        func stock(_ manager: PersistenceManager) async throws {
            let books = [
                Book(id: "emma", title: "Emma", pages: 474),
                Book(id: "moby", title: "Moby-Dick", pages: 720),
                Book(id: "pearls", title: "Programming Pearls", pages: 256),
            ]
            try await manager.save(books)
        }

        func thinBooks(_ manager: PersistenceManager) async throws -> [Book] {
            try await manager.fetch(Book.self, where: \.pages < 500, sortedBy: .ascending(\.title), limit: 10)
        }

        func tidyUp(_ manager: PersistenceManager) async throws {
            try await manager.write { store in
                guard var emma = try store.find(Book.self, id: "emma") else { return }
                emma.title = "Emma, a novel"
                try store.save(emma)
                try store.delete(Book.self, where: \.pages > 700)
            }
        }
    }
}

enum LaterSteps {
    struct Author: CoreModel, Equatable {
        let id: String
        var name: String
    }

    struct Book: CoreModel, Equatable {
        let id: String
        var title: String
        var pages: Int
        var author: Author?
        var language = "English"

        static var schema: Schema<Book> { Schema(.defaultValue(\.language, "English"), .index(\.title)) }
    }

    struct Note: CoreModel, Equatable {
        let id: UUID
        let book: Reference<Book>
        var text: String
        var writtenAt: Date
    }

    static let steps = Steps()

    struct Steps {
        func notes(on book: Book, _ manager: PersistenceManager) async throws -> [Note] {
            try await manager.fetch(Note.self, where: \.book == Reference(book), sortedBy: .ascending(\.writtenAt))
        }

        func follow(_ manager: PersistenceManager, _ show: ([Note]) -> Bool) async throws {
            for try await latest in manager.observe(Note.self, sortedBy: .descending(\.writtenAt), limit: 3) {
                guard show(latest) else { break }
            }
        }

        func shelves(_ manager: PersistenceManager, _ apply: (ListUpdate<Book>) -> Bool) async throws {
            let books = manager.observe(Book.self, sortedBy: .ascending(\.title))
            for try await update in books.sections(by: { $0.author?.name ?? "Unknown" }) {
                guard apply(update) else { break }
            }
        }
    }
}
