import Foundation
import Pippin

/// Everything that the book store does with its database. Structs go in and come out; no record is ever seen outside.
struct Bookshop {
    private let manager: PersistenceManager

    /// Opens the file, or creates it.
    init(file: URL) async throws {
        manager = PersistenceManager(modelName: "Bookstore", bundle: .module, store: .file(file))
        try await manager.load()
    }

    // MARK: Stores and their books

    /// All stores, each with its books and their authors.
    func stores() async throws -> [Store] {
        try await manager.fetchModels(
            entity: StoreRecord.self, sortDescriptors: [NSSortDescriptor(key: "brand", ascending: true)])
    }

    /// Books that cost less, the cheapest first.
    func books(under price: Double) async throws -> [Book] {
        try await manager.fetchModels(
            entity: BookRecord.self, predicate: NSPredicate(format: "price < %@", price),
            sortDescriptors: [
                NSSortDescriptor(key: "price", ascending: true), NSSortDescriptor(key: "title", ascending: true),
            ])
    }

    /// Saves stores with everything in them. A store, book or author that is known already is updated.
    func save(_ stores: [Store]) async throws {
        try await manager.save(entity: StoreRecord.self, models: stores, shouldOverwrite: false)
    }

    // MARK: Reviews

    /// The reviews of a book, the oldest first.
    func reviews(of book: Book) async throws -> [Review] {
        try await manager.fetchModels(
            entity: ReviewRecord.self, predicate: NSPredicate(format: "bookId == %@", book.uid),
            sortDescriptors: [NSSortDescriptor(key: "createdAt", ascending: true)])
    }

    /// The latest review of all.
    func latestReview() async throws -> Review? {
        try await manager.fetchModels(
            entity: ReviewRecord.self, sortDescriptors: [NSSortDescriptor(key: "createdAt", ascending: false)], limit: 1
        ).first
    }

    func add(_ reviews: [Review]) async throws {
        try await manager.save(entity: ReviewRecord.self, models: reviews, shouldOverwrite: false)
    }

    func remove(_ review: Review) async throws {
        try await manager.deleteModel(entity: ReviewRecord.self, model: review)
    }
}
