import Foundation
import PippinPostgres
import PostgresServer
import Testing

@Suite("The history of structs in PostgreSQL", .needsPostgres)
struct HistoryTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase() }

    private func manager(_ author: String?, _ history: HistoryKeeping? = .always) -> PersistenceManager {
        PersistenceManager(
            models: Author.self, Book.self,
            store: .postgres(database.uri(), keepsHistory: history, author: author))
    }

    /// The titles before and after each change of a book.
    private func titles(_ history: StoreHistory, after token: HistoryToken? = nil) async throws -> [String] {
        try await history.transactions(after: token).flatMap { try $0.changes(of: Book.self) }.map { change in
            let title = try change.values(of: \.title)
            return "\(change.kind) \(change.id ?? "?") \(title?.old ?? "-")>\(title?.new ?? "-")"
        }
    }

    @Test("tells what was inserted, changed and deleted, one by one and by conditions, and what it was before")
    func story() async throws {
        let shop = manager("till 1")
        try await shop.save((1...3).map { Book(id: "\($0)", title: "T\($0)") })
        let token = try await shop.history.latest()
        try await shop.save(Book(id: "1", title: "Emma"))
        try await shop.update(Book.self, where: \.id > "1") { $0.set(\.title, to: "New") }
        try await shop.delete(Book.self, where: \.id == "2")
        try await shop.delete(Book.self, id: "1")
        #expect(
            try await titles(shop.history, after: token) == [
                "changed 1 T1>Emma", "changed 2 T2>New", "changed 3 T3>New", "deleted 2 New>-", "deleted 1 Emma>-",
            ])
        #expect(Set(try await shop.history.transactions(after: token).map(\.author)) == ["till 1"])
    }

    @Test("is followed: what others save arrives")
    func following() async throws {
        let (shop, other) = (manager("till 1"), manager("till 2"))
        try await shop.save(Book(id: "1", title: "A"))
        var changes = shop.history.changes(after: try await shop.history.latest()).makeAsyncIterator()
        try await other.save(Book(id: "1", title: "B"))
        let transaction = try #require(try await changes.next())
        #expect(transaction.author == "till 2")
        #expect(try transaction.changes(of: Book.self).first?.values(of: \.title) == ChangedValue(old: "A", new: "B"))
    }

    @Test("loses what it kept of changes that are deleted")
    func deletion() async throws {
        let shop = manager(nil)
        try await shop.save(Book(id: "1", title: "A"))
        try await shop.save(Book(id: "1", title: "B"))
        #expect(try database.rows("SELECT count(*) FROM pippin.former_values") == [["1"]])
        try await shop.history.delete(before: Date().addingTimeInterval(60))
        #expect(try database.rows("SELECT count(*) FROM pippin.former_values") == [["0"]])
        #expect(try await shop.history.transactions().isEmpty)
    }

    @Test("is kept by a manager that does not ask for it, once another one did")
    func without() async throws {
        try await manager(nil).save(Book(id: "1", title: "A"))
        try await manager(nil, nil).save(Book(id: "1", title: "B"))
        #expect(try await titles(manager(nil).history) == ["inserted 1 ->A", "changed 1 A>B"])
    }
}
