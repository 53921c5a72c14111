import Foundation
import PostgresServer
import SwiftDataPostgres
import Testing

@Suite("A container in PostgreSQL", .needsPostgres)
struct PostgresTests {
    @Test("keeps models in tables of the database that a connection string names, and is emptied by erase")
    func connected() throws {
        let database = try TestDatabase()
        let configuration = ModelConfiguration(postgres: database.uri(), databaseSchema: "shop")
        func titles() throws -> [String] {
            let container = try ModelContainer(for: Book.self, configurations: configuration)
            return try ModelContext(container).fetch(
                FetchDescriptor<Book>(
                    predicate: #Predicate { $0.author?.name == "Austen" }, sortBy: [SortDescriptor(\.title)])
            ).map(\.title)
        }
        let container = try ModelContainer(for: Book.self, configurations: configuration)
        let context = ModelContext(container)
        let austen = Author(name: "Austen")
        for title in ["Emma", "Sanditon"] { context.insert(Book(isbn: title, title: title, author: austen)) }
        try context.save()
        #expect(try titles() == ["Emma", "Sanditon"])
        #expect(try database.rows("SELECT count(*) FROM shop.book") == [["2"]])
        try container.erase()
        #expect(try titles() == [])
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 0)
    }
}
