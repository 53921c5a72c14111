import CoreData
import HTTPMessages
import StoreReading
import TestSupport
import Testing

@testable import StoreBrowser

@Suite("The history in the browser")
struct HistoryPageTests {
    private let shelf: Shelf

    init() throws { shelf = try Shelf(count: 1) }

    /// Saves books, in a transaction each.
    private func save(_ count: Int) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shelf.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: shelf.folder.store,
            options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        for _ in 0..<count {
            try context.performAndWait {
                NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                    .setValue("New", forKey: "title")
                try context.save()
            }
        }
        try coordinator.remove(store)
    }

    /// The page, as a browser that is started now shows it.
    private func page(_ target: String) throws -> String {
        let path = shelf.folder.store.path
        let session = try BrowserSession { _, _ in try DirectStore(DirectStore.Opening(path: path)) }
        defer { session.close() }
        let router = Router(session, graphviz: Graphviz(path: ""))
        return router.response(to: HTTPRequest("GET", target), token: Shelf.token).text
    }

    /// The numbers of the transactions on a page.
    private func numbers(_ page: String) -> [Int64] {
        page.split(separator: ">transaction ").dropFirst().compactMap { Int64($0.prefix { $0.isNumber }) }
    }

    @Test("A place that does not exist shows nothing", arguments: [Int64.min, -1, 0, 1, .max])
    func nowhere(_ place: Int64) throws {
        try save(1)
        let page = try page("/history?before=\(place)")
        #expect(page.contains("class=\"timeline\"") == (place == .max))
        #expect(page.contains("The store keeps no transaction before the number 1.") == (place != .max))
        #expect(!page.contains("keeps no history"))
    }

    @Test("Each page begins before the former one's, to the first transaction")
    func pages() throws {
        try save(90)
        let first = try page("/history")
        #expect(numbers(first) == Array((51...90).reversed()))
        #expect(first.contains("history?before=51\""))
        #expect(numbers(try page("/history?before=51")) == Array((11...50).reversed()))
        let last = try page("/history?before=11")
        #expect(numbers(last) == Array((1...10).reversed()))
        #expect(!last.contains("rel=\"next\""))
    }

    @Test(
        "Transactions are found however many numbers are missing between them", arguments: [1 << 40 as Int64, 1 << 61])
    func gap(_ number: Int64) throws {
        try save(3)
        try execute("UPDATE ATRANSACTION SET Z_PK = \(number) WHERE Z_PK = 3", in: shelf.folder.store)
        let latest = try page("/history")
        #expect(numbers(latest) == [number])
        #expect(latest.contains("history?before=\(number)\""))
        #expect(numbers(try page("/history?before=\(number)")) == [2, 1])
    }
}
