import CoreDataModel
import Foundation
import PostgresEngine
import PostgresServer
import StoreEngine
import Synchronization
import TestSupport
import Testing

@Suite("Notifications of saves by others", .needsPostgres)
struct SaveNotificationChannelTests {
    private final class Count: Sendable {
        let value = Atomic<Int>(0)

        func waits(for count: Int) async throws -> Bool {
            try await eventually(within: .seconds(40)) { value.load(ordering: .relaxed) >= count }
        }
    }

    private static var options: [AnyHashable: Any] { [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true] }

    private func listens(_ engine: PostgresEngine) -> Count {
        let count = Count()
        engine.changeNotifications?.observeChanges(
            whileIdle: { $0() }, handler: { count.value.add(1, ordering: .relaxed) })
        return count
    }

    @Test("All stores of a process in one database are notified by one connection, each of its own store only")
    func oneConnection() async throws {
        let stores = try PostgresStores()
        let (first, second) = (stores.nextURL(), stores.nextURL())
        let engines = try (0..<5).map { try stores.open($0 == 0 ? second : first, Notes.model, options: Self.options) }
        let counts = engines.map(listens)
        let listening =
            """
            SELECT DISTINCT pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE d.datname = current_database() \
            AND l.locktype = 'advisory' AND l.classid = 747748
            """
        #expect(try stores.database.rows(listening).count == 1)
        _ = try engines[1].save(Notes.changes(engines[1], ["a"]))
        for index in 2..<5 { #expect(try await counts[index].waits(for: 1)) }
        // Not of what it has saved itself, and not of other stores.
        #expect(counts[1].value.load(ordering: .relaxed) == 0)
        #expect(counts[0].value.load(ordering: .relaxed) == 0)
    }

    @Test("A closed store is notified no more, and the others still are")
    func closed() async throws {
        let stores = try PostgresStores()
        let url = stores.nextURL()
        let engines = try (0..<3).map { _ in try stores.open(url, Notes.model, options: Self.options) }
        let counts = engines.map(listens)
        engines[1].close()
        _ = try engines[0].save(Notes.changes(engines[0], ["a"]))
        #expect(try await counts[2].waits(for: 1))
        #expect(counts[1].value.load(ordering: .relaxed) == 0)
    }

    @Test("A connection that is lost is made anew, and a change is assumed")
    func lost() async throws {
        let stores = try PostgresStores()
        let url = stores.nextURL()
        let engines = try (0..<2).map { _ in try stores.open(url, Notes.model, options: Self.options) }
        let count = listens(engines[1])
        _ = try stores.database.rows(
            """
            SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE d.datname = current_database() \
            AND l.locktype = 'advisory' AND l.classid = 747748
            """
        )
        #expect(try await count.waits(for: 1))
        _ = try engines[0].save(Notes.changes(engines[0], ["a"]))
        #expect(try await count.waits(for: 2))
    }
}
