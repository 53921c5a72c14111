import Pippin

// The code of the README's first screen; TutorialTests compares the two.

enum Readme {
    struct Author: CoreModel {
        let id: String
        var name: String
    }

    struct Book: CoreModel {
        let id: String
        var title: String
        var price: Decimal?
        var author: Author?
    }

    static func run(
        _ books: [Book], _ emma: Book, _ file: URL, _ progress: Progress, _ show: ([Book]) -> Void
    ) async throws {
        let manager = PersistenceManager(models: Book.self)
        try await manager.load()

        try await manager.save(books)
        let austen = try await manager.fetch(
            Book.self, where: \.author?.name == "Jane Austen", sortedBy: .ascending(\.title))
        let worth = try await manager.sum(Book.self, \.price)
        _ = (austen, worth)

        try await manager.write { access in
            try access.save(emma)
            try access.delete(Book.self, where: \.price > 100)
        }

        for try await books in manager.observe(Book.self) {
            show(books)
        }

        let report = try await manager.importCSV(Book.self, from: file, progress: progress)
        print("\(report.inserted) new, \(report.updated) changed, \(report.refused.count) refused")
    }
}
