import CoreData
import TestSupport
import Testing

/// Checks from the pages of `NSPersistentHistoryChangeRequest`, `NSPersistentHistoryTransaction` and
/// `NSPersistentHistoryChange`.
@MainActor @Suite("Documented: persistent history")
struct HistoryDocumentationTests {
    private let folder: TestFolder
    private let container: NSPersistentContainer
    private var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        folder = try TestFolder()
        let description = NSPersistentStoreDescription(url: folder.file("Notebook"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container = try Library.container(Notebook.model(), description)
        container.viewContext.transactionAuthor = "author"
        container.viewContext.name = "context"
        for title in ["A", "B", "C"] {
            container.viewContext.make("Note", ["title": title])
            try container.viewContext.save()
        }
    }

    private func transactions(_ request: NSPersistentHistoryChangeRequest) throws -> [NSPersistentHistoryTransaction] {
        let result = try context.execute(request) as? NSPersistentHistoryResult
        return try #require(result?.result as? [NSPersistentHistoryTransaction])
    }

    private func all() throws -> [NSPersistentHistoryTransaction] {
        try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?))
    }

    // MARK: Requests

    @Test("fetchHistory(after:): after a token, a transaction, or a date")
    func fetching() throws {
        let known = try all()
        #expect(known.count == 3)
        let byToken = NSPersistentHistoryChangeRequest.fetchHistory(after: known[0].token)
        #expect(byToken.token == known[0].token && byToken.resultType == .transactionsAndChanges)
        #expect(try transactions(byToken).map(\.transactionNumber) == known.dropFirst().map(\.transactionNumber))
        #expect(try transactions(.fetchHistory(after: known[1])).count == 1)
        #expect(try transactions(.fetchHistory(after: Date.distantPast)).count == 3)
        #expect(try transactions(.fetchHistory(after: Date.distantFuture)).isEmpty)
    }

    @Test("fetchHistory(withFetch:): what a fetch request of transactions or changes finds")
    func filtering() throws {
        context.transactionAuthor = "other"
        context.make("Note")
        try context.save()
        let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
        fetch.predicate = NSPredicate(format: "author == 'other'")
        let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
        #expect(request.fetchRequest === fetch)
        #expect(try transactions(request).map(\.author) == ["other"])
        let changes = try #require(NSPersistentHistoryChange.fetchRequest)
        changes.predicate = NSPredicate(format: "changeID == 1")
        let byChange = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: changes)
        byChange.resultType = .changesOnly
        let found = (try context.execute(byChange) as? NSPersistentHistoryResult)?.result
        #expect((found as? [NSPersistentHistoryChange])?.map(\.changeID) == [1])
    }

    @Test("Result types: what a request gives, and a status")
    func resultTypes() throws {
        let expected: [(NSPersistentHistoryResultType, Int)] = [
            (.statusOnly, 0), (.objectIDs, 1), (.count, 2), (.transactionsOnly, 3), (.changesOnly, 4),
            (.transactionsAndChanges, 5),
        ]
        for (type, number) in expected {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
            request.resultType = type
            let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
            #expect(type.rawValue == number && result.resultType == type && result.result != nil)
        }
    }

    @Test("deleteHistory(before:): older than a token, a transaction, or a date")
    func deleting() throws {
        let known = try all()
        try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: known[1]))
        #expect(try all().map(\.transactionNumber) == known.dropFirst(1).map(\.transactionNumber))
        try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: known[2].token))
        #expect(try all().map(\.transactionNumber) == [known[2].transactionNumber])
        try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
        #expect(try all().isEmpty)
    }

    // MARK: Transactions

    @Test("A transaction: its number, date, store, author, context, process and program")
    func transactionFacts() throws {
        let known = try all()
        let first = try #require(known.first)
        #expect(known.map(\.transactionNumber) == known.map(\.transactionNumber).sorted())
        #expect(abs(first.timestamp.timeIntervalSinceNow) < 600 && first.author == "author")
        #expect(first.contextName == "context" && !first.processID.isEmpty && !first.bundleID.isEmpty)
        #expect(first.storeID == container.persistentStoreCoordinator.persistentStores.first?.identifier)
        #expect(
            known.last?.token == container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
    }

    @Test("objectIDNotification(): a notification of the kind that contexts post, to be merged")
    func notifications() throws {
        let other = container.newBackgroundContext()
        let note = try #require(try context.all("Note", NSPredicate(format: "title == 'A'")).first)
        let identifier = note.objectID
        let start = container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
        let seen = other.performAndWait { other.object(with: identifier).shown("title") }
        note.setValue("Z", forKey: "title")
        try context.save()
        let transaction = try #require(try transactions(.fetchHistory(after: start)).first)
        let notification = transaction.objectIDNotification()
        #expect(seen == "A" && notification.name == .NSManagedObjectContextDidSaveObjectIDs)
        #expect(notification.userInfo?[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID> == [identifier])
        let merged = other.performAndWait {
            other.mergeChanges(fromContextDidSave: notification)
            return other.object(with: identifier).shown("title")
        }
        #expect(merged == "Z")
    }

    // MARK: Changes

    @Test("A change: its number, what kind of change of which object, its transaction, and the updated properties")
    func changeFacts() throws {
        let note = try #require(try context.all("Note", NSPredicate(format: "title == 'A'")).first)
        let start = container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
        note.setValue("Z", forKey: "title")
        try context.save()
        let transaction = try #require(try transactions(.fetchHistory(after: start)).first)
        let change = try #require(transaction.changes?.first)
        #expect(change.changedObjectID == note.objectID && change.changeType == .update && change.changeID > 0)
        #expect(change.transaction == transaction && change.updatedProperties?.map(\.name) == ["title"])
        #expect(change.tombstone == nil)
        let kinds: [NSPersistentHistoryChangeType] = [.insert, .update, .delete]
        #expect(kinds.map(\.rawValue) == [0, 1, 2])
    }

    @Test("entityDescription, by itself and with a context: the properties by which a request can choose")
    func entities() throws {
        let transaction = try #require(NSPersistentHistoryTransaction.entityDescription)
        #expect(Set(transaction.propertiesByName.keys).isSuperset(of: ["author", "timestamp", "contextName"]))
        #expect(NSPersistentHistoryTransaction.entityDescription(with: context)?.name == transaction.name)
        let change = try #require(NSPersistentHistoryChange.entityDescription)
        #expect(Set(change.propertiesByName.keys).isSuperset(of: ["changeID", "changeType", "changedObjectID"]))
        #expect(NSPersistentHistoryChange.entityDescription(with: context)?.name == change.name)
    }
}
