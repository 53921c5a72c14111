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
        _ books: [Book], _ file: URL, _ progress: Progress, _ show: ([Book]) -> Void
    ) async throws {
        let manager = PersistenceManager(models: Book.self)

        try await manager.save(books)
        let emma = try await manager.find(Book.self, id: "emma")
        let austen = try await manager.fetch(
            Book.self, where: \.author?.name == "Jane Austen", sortedBy: .ascending(\.title))
        let worth = try await manager.sum(Book.self, \.price)
        _ = (emma, austen, worth)

        try await manager.write { store in
            try store.update(Book.self, where: \.price > 100) { $0.set(\.price, to: 100) }
            try store.delete(Book.self, where: \.price == nil)
        }

        let report = try await manager.importCSV(Book.self, from: file, progress: progress)
        print("\(report.inserted) new, \(report.updated) changed, \(report.refused.count) refused")

        for try await books in manager.observe(Book.self) {
            show(books)
        }
    }
}
