import CoreDataPostgres
import Foundation
import PostgresServer
import Synchronization
import Testing

@Suite("Generations of which there are enough", .needsPostgres)
struct GenerationTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase() }

    private func container(seconds: Double) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Bookshop", managedObjectModel: Bookshop.model)
        let description = NSPersistentStoreDescription(postgreSQL: database.url())
        description.setOption(1 as NSNumber, forKey: NSPersistentStoreConnectionPoolMaxSizeKey)
        description.setOption(seconds as NSNumber, forKey: NSPostgreSQLGenerationWaitOption)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container
    }

    private func save(_ name: String, _ container: NSPersistentContainer) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            _ = context.insert("Author", ["name": name])
            try context.save()
        }
    }

    private func pinned(_ container: NSPersistentContainer) throws -> NSManagedObjectContext {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            // The first reading pins it.
            _ = try context.fetch("Author")
        }
        return context
    }

    @Test("wait for another one to be let go, and others can read and save meanwhile")
    func waiting() throws {
        let container = try container(seconds: 240)
        try save("Ann", container)
        let first = try pinned(container)
        try save("Bea", container)
        let found = Mutex<Int?>(nil)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let context = try? pinned(container)
            let count = context?.performAndWait { try? context?.fetch("Author").count }
            found.withLock { $0 = count ?? nil }
            ended.signal()
        }
        usleep(300_000)
        // What waits keeps nobody from reading, by the generation that is waited for, too.
        #expect(try first.performAndWait { try first.fetch("Author").count } == 1)
        try save("Cleo", container)
        #expect(found.withLock { $0 } == nil)
        try first.performAndWait { try first.setQueryGenerationFrom(nil) }
        ended.wait()
        #expect(found.withLock { $0 } == 3)
    }

    @Test("are an error that says so, when nobody lets go of one in time")
    func outOfTime() throws {
        let container = try container(seconds: 0.1)
        let first = try pinned(container)
        try save("Ann", container)
        let error = #expect(throws: NSError.self) { _ = try pinned(container) }
        #expect(error?.localizedDescription.contains("1 query generations pinned already") == true)
        #expect(try first.performAndWait { try first.fetch("Author").count } == 0)
    }

    /// The options keep the test from waiting for minutes where it fails.
    private var options: [AnyHashable: Any] { [NSPersistentStoreTimeoutOption: 1] }

    @Test("keep nobody from destroying their store, which ends them")
    func destroying() throws {
        let container = try container(seconds: 0.1)
        try save("Ann", container)
        let reader = try pinned(container)
        try container.persistentStoreCoordinator.destroyPersistentStore(
            at: database.url(), ofType: NSPostgreSQLStoreType, options: options)
        #expect(try database.rows("SELECT * FROM pippin.stores").isEmpty)
        #expect(try reader.performAndWait { try reader.fetch("Author").count } == 0)
    }

    @Test("keep nobody from destroying a store that was removed")
    func removing() throws {
        let container = try container(seconds: 0.1)
        try save("Ann", container)
        let reader = try pinned(container)
        let coordinator = container.persistentStoreCoordinator
        try coordinator.remove(coordinator.persistentStores[0])
        try coordinator.destroyPersistentStore(at: database.url(), ofType: NSPostgreSQLStoreType, options: options)
        #expect(try database.rows("SELECT * FROM pippin.stores").isEmpty)
        withExtendedLifetime(reader) {}
    }

    @Test("are an error once their store could not be destroyed, and never another state", arguments: [false, true])
    func failedDestroying(isPooled: Bool) throws {
        let container = try container(seconds: 0.1)
        try save("Ann", container)
        let reader = try pinned(container)
        try save("Bea", container)
        let other = try database.connect()
        try other.execute("BEGIN; SELECT count(*) FROM author")
        #expect(throws: NSError.self) {
            try container.persistentStoreCoordinator.destroyPersistentStore(
                at: database.url(), ofType: NSPostgreSQLStoreType,
                options: options.merging([NSPostgreSQLPooledOption: isPooled]) { $1 })
        }
        try other.execute("ROLLBACK")
        let error = #expect(throws: NSError.self) { try reader.performAndWait { _ = try reader.fetch("Author") } }
        #expect(error?.localizedDescription.contains("is gone") == true)
        let names = try reader.performAndWait {
            try reader.setQueryGenerationFrom(.current)
            return try reader.fetch("Author").count
        }
        #expect(names == 2)
    }

    @Test("stay, as does their store, when one of another schema of the same URL is destroyed")
    func otherSchema() throws {
        let container = try container(seconds: 0.1)
        try save("Ann", container)
        let reader = try pinned(container)
        let coordinator = container.persistentStoreCoordinator
        try save("Bea", container)
        try coordinator.destroyPersistentStore(
            at: database.url(), ofType: NSPostgreSQLStoreType, options: [NSPostgreSQLSchemaOption: "archive"])
        #expect(coordinator.persistentStores.count == 1)
        #expect(try reader.performAndWait { try reader.fetch("Author").count } == 1)
        try coordinator.destroyPersistentStore(
            at: database.url(), ofType: NSPostgreSQLStoreType,
            options: options.merging([NSPostgreSQLSchemaOption: "public"]) { $1 })
        #expect(coordinator.persistentStores.isEmpty)
    }
}
