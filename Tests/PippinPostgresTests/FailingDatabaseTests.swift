import Foundation
import PippinPostgres
import PostgresConnection
import PostgresServer
import Testing

@Suite("Structs in a database that refuses, is busy or goes away", .needsPostgres)
struct FailingDatabaseTests {
    @Test("are not refused one by one where the database goes away during an import: that is not the fault of theirs")
    func goneDatabase() async throws {
        let shop = try Shop()
        try await shop.manager.load()
        let books = (1...40).map { Book(id: "\($0)", title: "Title \($0)") }
        try PostgresConnection(ConnectionTarget(shop.database.server.uri(database: "postgres")))
            .execute("DROP DATABASE \(shop.database.name) WITH (FORCE)")
        let error = await #expect(throws: PersistenceError.self) {
            try await shop.manager.importModels(books, batchSize: 20)
        }
        #expect(error?.code == .saveFailed)
    }

    @Test("are refused one by one by an import where a rule of the table forbids them, and the others are saved")
    func forbiddenByTable() async throws {
        let shop = try Shop()
        try await shop.manager.load()
        try shop.database.connect().execute("ALTER TABLE public.book ADD CHECK (pages < 5)")
        let report = try await shop.manager.importModels((1...8).map { Book(id: "\($0)", title: "T", pages: $0) })
        #expect(report.inserted == 4)
        #expect(report.refused.map(\.position) == [5, 6, 7, 8])
    }

    @Test("are not waited for by a cancelled task, where all connections that read are in use")
    func cancelledRead() async throws {
        let database = try TestDatabase()
        let manager = PersistenceManager(models: Book.self, store: .postgres(database.uri(), connections: 1))
        try await manager.save(Book(id: "1", title: "Emma"))
        let (beginnings, beginning) = AsyncStream<Void>.makeStream()
        let ends = DispatchSemaphore(value: 0)
        let holder = Task {
            try await manager.read { books in
                let count = try books.count(Book.self)
                beginning.yield()
                ends.wait()
                return count
            }
        }
        for await _ in beginnings { break }
        // What was saved since needs another state, and so another connection.
        try await manager.save(Book(id: "2", title: "Persuasion"))
        // The wait would end by itself after five seconds. A machine with much else to do may take as long once.
        var shortest = Duration.seconds(60)
        for _ in 0..<5 where shortest > .seconds(4.5) {
            let reader = Task { try await manager.read { try $0.count(Book.self) } }
            try await Task.sleep(for: .milliseconds(300))
            let start = ContinuousClock.now
            reader.cancel()
            await #expect(throws: CancellationError.self) { try await reader.value }
            shortest = min(shortest, ContinuousClock.now - start)
        }
        #expect(shortest < .seconds(4.5))
        ends.signal()
        #expect(try await holder.value == 1)
    }
}
