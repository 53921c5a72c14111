import Pippin

/// Everything that the book store does with its database.
struct Bookshop {
    private let manager: PersistenceManager

    /// Opens the store, and creates or migrates it if necessary. Done first, so that a store that cannot be opened is
    /// reported at once.
    init(in place: Place) async throws {
        manager = PersistenceManager(models: Store.self, Review.self, store: place.location)
        try await manager.load()
    }

    /// All stores, each with its books and their authors.
    func stores() async throws -> [Store] { try await manager.fetch(Store.self, sortedBy: .ascending(\.brand)) }

    /// Books that cost less, the cheapest first.
    func books(under price: Double) async throws -> [Book] {
        try await manager.fetch(
            Book.self, where: \.price < price, sortedBy: [.ascending(\.price), .ascending(\.title)])
    }

    /// Saves stores with everything in them. A store, book or author that is known already is updated.
    func save(_ stores: [Store]) async throws { try await manager.save(stores) }

    /// The reviews of a book, the oldest first.
    func reviews(of book: Book) async throws -> [Review] {
        try await manager.fetch(Review.self, where: \.book == Reference(book), sortedBy: .ascending(\.createdAt))
    }

    /// The reviews of all books, under their books, now and after each change in this program or another one.
    func reviewsByBook() async throws -> LiveQuery<[Review]>.ListUpdates<Review> {
        let titles = Dictionary(uniqueKeysWithValues: try await manager.fetch(Book.self).map { ($0.id, $0.title) })
        return manager.observe(Review.self, sortedBy: [.ascending(\.book.id), .ascending(\.createdAt)])
            .sections { titles[$0.book.id] ?? "Another book" }
    }

    /// Saves the reviews in a file of CSV or JSON Lines, and tells what became of them.
    func importReviews(from file: URL) async throws -> String {
        let report: ImportReport
        if file.pathExtension == "csv" {
            report = try await manager.importCSV(Review.self, from: file)
        } else {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            report = try await manager.importJSONLines(Review.self, from: file, decoder: decoder)
        }
        let refusals = report.refused.sorted { $0.position < $1.position }.map { "  line \($0.position): \($0.reason)" }
        let summary =
            "\(report.inserted) new, \(report.updated) changed, \(report.skipped) as they were, \(report.refused.count) refused"
        return ([summary] + refusals).joined(separator: "\n")
    }

    func add(_ reviews: [Review]) async throws { try await manager.save(reviews) }

    func remove(_ review: Review) async throws { try await manager.delete(review) }
}
