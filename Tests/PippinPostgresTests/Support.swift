import Foundation
import PippinPostgres
import PostgresServer
import Testing

struct Author: CoreModel {
    let id: String
    var name: String
    var books: [Book] = []
}

struct Book: CoreModel, Equatable {
    let id: String
    var title: String
    var price: Double = 0
    var pages: Int = 0
    var published: Date?
}

/// A bookshop in a database of its own.
struct Shop {
    let database: TestDatabase
    let manager: PersistenceManager

    init() throws {
        database = try TestDatabase()
        manager = PersistenceManager(models: Author.self, Book.self, store: .postgres(database.uri()))
    }

    /// Another program's manager of the same store.
    func other() -> PersistenceManager {
        PersistenceManager(models: Author.self, Book.self, store: .postgres(database.uri()))
    }
}
