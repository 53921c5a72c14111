import CoreData
import Foundation
import TestSupport
import Testing

@Suite("The numbers of a history's transactions")
struct HistoryNumbersTests {
    private let store: BatchStore

    init() throws {
        store = try BatchStore(options: HistoryTests.tracking)
        try store.save { $0.make("Author", ["name": "Ann", "age": 1]) }
    }

    private func count() throws -> [String] { try store.rows("SELECT COUNT(*) FROM ATRANSACTION") }

    private func after(_ token: NSPersistentHistoryToken?, _ context: NSManagedObjectContext) throws -> Int {
        try context.performAndWait {
            let found = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
            let result = (found as? NSPersistentHistoryResult)?.result
            return try #require(result as? [NSPersistentHistoryTransaction]).count
        }
    }

    @Test("A batch request that finds no rows makes no transaction; one that finds some does")
    func nothingFound() throws {
        func update(_ name: String) -> NSBatchUpdateRequest {
            let request = NSBatchUpdateRequest(entityName: "Author")
            request.predicate = NSPredicate(format: "name == %@", name)
            request.propertiesToUpdate = ["age": 2]
            return request
        }
        func delete(_ name: String) -> NSBatchDeleteRequest {
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
            fetch.predicate = NSPredicate(format: "name == %@", name)
            return NSBatchDeleteRequest(fetchRequest: fetch)
        }
        let before = try count()
        _ = try store.execute(update("Nobody"), NSBatchUpdateResult.self)
        _ = try store.execute(delete("Nobody"), NSBatchDeleteResult.self)
        #expect(try count() == before)
        _ = try store.execute(update("Ann"), NSBatchUpdateResult.self)
        _ = try store.execute(delete("Ann"), NSBatchDeleteResult.self)
        let changes = "SELECT ZTRANSACTIONID, ZCHANGETYPE FROM ACHANGE ORDER BY Z_PK"
        #expect(try store.rows(changes) == ["1|0", "2|1", "3|2"])
        #expect(try count() == ["3"])
    }

    @Test("A token of later transactions than an older copy has, which took the store's place, has expired: 134301")
    func restored() throws {
        let coordinator = store.container.persistentStoreCoordinator
        let backup = store.folder.file("backup.sqlite")
        try coordinator.replacePersistentStore(at: backup, withPersistentStoreFrom: store.url, type: .sqlite)
        let early = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        for name in ["a", "b"] { try store.save { $0.make("Tag", ["name": name]) } }
        let late = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        #expect(try after(late, store.context) == 0)

        let description = NSPersistentStoreDescription(url: backup)
        for (key, value) in HistoryTests.tracking { description.setOption(value, forKey: key) }
        let restored = try Library.container(Library.model(), description).newBackgroundContext()
        #expect(try after(early, restored) == 0)
        let error = #expect(throws: NSError.self) { try after(late, restored) }
        #expect(error?.code == 134301)
    }

    @Test("The deletion of a history expires no token of its latest transaction")
    func deleted() throws {
        let coordinator = store.container.persistentStoreCoordinator
        let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
        try store.context.performAndWait {
            _ = try store.context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
        }
        #expect(try after(token, store.context) == 0)
        try store.save { $0.make("Tag", ["name": "a"]) }
        #expect(try after(token, store.context) == 1)
    }
}
