import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLiteEngine

@Suite("The persistent history tells what was changed")
struct HistoryTests {
    static var tracking: [String: NSObject] { [NSPersistentHistoryTrackingKey: NSNumber(value: true)] }
    let store: BatchStore
    var source: NSPersistentStoreCoordinator { store.container.persistentStoreCoordinator }

    init() throws {
        let model = Library.model()
        for name in ["token", "name"] {
            (model.entitiesByName["Author"]?.attributesByName[name])?.preservesValueInHistoryOnDeletion = true
        }
        store = try BatchStore(model, options: Self.tracking)
        store.context.transactionAuthor = "importer"
        store.context.name = "worker"
    }

    private func transactions(_ request: NSPersistentHistoryChangeRequest) throws -> [NSPersistentHistoryTransaction] {
        let result = try store.execute(request, NSPersistentHistoryResult.self).result
        return try #require(result as? [NSPersistentHistoryTransaction])
    }

    private func all() throws -> [NSPersistentHistoryTransaction] {
        try transactions(.fetchHistory(after: Date.distantPast))
    }

    private func token() throws -> NSPersistentHistoryToken {
        try #require(source.currentPersistentHistoryToken(fromStores: nil))
    }

    /// Three transactions: an author and a tag, the author changed, the author deleted.
    private func fill() throws {
        try store.save { context in
            context.make("Author", ["name": "Ann", "age": 1])
            context.make("Tag", ["name": "t"])
        }
        try store.context.performAndWait {
            let author = try #require(try store.context.all("Author").first)
            author.setValue(2, forKey: "age")
            try store.context.save()
            store.context.transactionAuthor = "other"
            store.context.delete(author)
            try store.context.save()
        }
    }

    @Test("Each save is a transaction with its author, context, time and changes")
    func transactionsAndChanges() throws {
        let start = Date()
        try fill()
        let found = try all()
        #expect(found.map(\.transactionNumber) == [1, 2, 3])
        #expect(found.map(\.author) == ["importer", "importer", "other"])
        #expect(found.map(\.contextName) == ["worker", "worker", "worker"])
        #expect(found.allSatisfy { $0.timestamp >= start && $0.processID == ProcessInfo.processInfo.processName })
        #expect(found.map(\.storeID) == Array(repeating: source.persistentStores[0].identifier, count: 3))
        let changes = try found.map { try #require($0.changes) }
        #expect(changes[0].map { $0.changedObjectID.entity.name } == ["Author", "Tag"])
        #expect(changes.map { $0.map(\.changeType) } == [[.insert, .insert], [.update], [.delete]])
        #expect(changes[1][0].updatedProperties?.map(\.name) == ["age"])
        #expect(changes[0][0].updatedProperties == nil)
        #expect(changes[1][0].transaction == found[1])
    }

    @Test("A deletion keeps the values that the model says, in the tombstone columns in the order of the names")
    func tombstones() throws {
        try fill()
        let deletion = try #require(try all().last?.changes?.first)
        #expect(deletion.tombstone?.count == 1)
        #expect(deletion.tombstone?["name"] as? String == "Ann")
        #expect(try store.rows("SELECT ZTOMBSTONE0, ZTOMBSTONE1 FROM ACHANGE WHERE ZCHANGETYPE = 2") == ["Ann|"])
        try store.save { $0.make("Tag", ["name": "u"]) }
        try store.context.performAndWait {
            for tag in try store.context.all("Tag") { store.context.delete(tag) }
            try store.context.save()
        }
        #expect(try all().last?.changes?.map(\.tombstone).allSatisfy { $0 == nil } == true)
    }

    @Test("The bits of an update are those of the stored properties by name, the highest bit first")
    func columns() throws {
        try fill()
        // age books born homepage isLiving name photo rating | token wealth
        #expect(try store.rows("SELECT hex(ZCOLUMNS) FROM ACHANGE WHERE ZCHANGETYPE = 1") == ["8000"])
    }

    @Test("History is fetched after a token, a transaction or a date")
    func positions() throws {
        let empty = try token()
        try fill()
        #expect(try transactions(.fetchHistory(after: empty)).count == 3)
        let found = try all()
        #expect(try transactions(.fetchHistory(after: found[0].token)).map(\.transactionNumber) == [2, 3])
        #expect(try transactions(.fetchHistory(after: found[1])).map(\.transactionNumber) == [3])
        #expect(try transactions(.fetchHistory(after: Date.distantFuture)).isEmpty)
        #expect(try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?)).count == 3)
        let now = try token()
        #expect(now == found[2].token)
        #expect(try transactions(.fetchHistory(after: now)).isEmpty)
    }

    // The predicates are those of CoreDataPlus' tests, which run against Apple's framework.
    @Test("A fetch request restricts transactions by author and token")
    func transactionPredicates() throws {
        try fill()
        let first = try #require(try all().first).token
        func numbers(_ predicate: NSPredicate) throws -> [Int64] {
            let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
            fetch.predicate = predicate
            let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
            request.resultType = .transactionsOnly
            let found = try transactions(request)
            #expect(found.allSatisfy { $0.changes == nil })
            return found.map(\.transactionNumber)
        }
        #expect(try numbers(NSPredicate(format: "token > %@", first)) == [2, 3])
        #expect(try numbers(NSPredicate(format: "%@ < token AND author != %@", first, "other")) == [2])
        #expect(try numbers(NSPredicate(format: "author == %@", "other")) == [3])
        #expect(try numbers(NSPredicate(format: "timestamp > %@", Date.distantFuture as NSDate)) == [])
    }

    @Test("A fetch request restricts changes by type, entity and object, and transactions to those that have any")
    func changePredicates() throws {
        try fill()
        func request(
            _ predicate: NSPredicate, _ type: NSPersistentHistoryResultType
        ) throws -> NSPersistentHistoryChangeRequest {
            let entity = try #require(NSPersistentHistoryChange.entityDescription(with: store.context))
            let fetch = NSFetchRequest<any NSFetchRequestResult>()
            fetch.entity = entity
            fetch.predicate = predicate
            let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
            request.resultType = type
            return request
        }
        let update = NSPredicate(format: "changeType == %d", NSPersistentHistoryChangeType.update.rawValue)
        #expect(try transactions(request(update, .transactionsAndChanges)).map(\.transactionNumber) == [2])
        let entity = try #require(store.container.managedObjectModel.entitiesByName["Tag"])
        let tags = try store.execute(
            request(NSPredicate(format: "%K = %@", "changedEntity", entity), .changesOnly),
            NSPersistentHistoryResult.self)
        let changes = try #require(tags.result as? [NSPersistentHistoryChange])
        #expect(changes.map(\.changeType) == [.insert])
        #expect(changes[0].transaction == nil)
        let author = try #require(try all().last?.changes?.first).changedObjectID
        let count = try store.execute(
            request(NSPredicate(format: "changedObjectID == %@", author), .count), NSPersistentHistoryResult.self)
        #expect(count.result as? Int == 3)
        let unknown = #expect(throws: NSError.self) {
            _ = try store.execute(request(NSPredicate(format: "author == 'x'"), .count))
        }
        #expect(unknown?.localizedDescription.contains("author") == true)
    }

    @Test(
        "Changes of some objects are found by their keys, however the condition names them",
        arguments: [
            ("changedObjectID == %1$@", 3), ("%1$@ == changedObjectID", 3), ("changedObjectID IN %2$@", 3),
            ("changedID == 1", 4), ("changedID IN {1, 7}", 4), ("changedID == 7", 0),
            ("changedID == 7 OR changeType == 0", 2),
            ("changedObjectID == %1$@ AND changeType == 2", 1), ("changedID == 7 AND changedObjectID == %1$@", 0),
            ("NOT changedObjectID == %1$@", 1), ("changedObjectID == %1$@ OR changedID == 1", 4),
        ])
    func keys(format: String, count: Int) throws {
        try fill()
        let author = try #require(
            try all().flatMap { $0.changes ?? [] }.map(\.changedObjectID).first { $0.entity.name == "Author" })
        let fetch = try #require(NSPersistentHistoryChange.fetchRequest)
        let plain = format.replacing("%1$@", with: "%@").replacing("%2$@", with: "%@")
        let argument: Any = format.contains("%2$@") ? [author] : author
        fetch.predicate = format.contains("$@") ? NSPredicate(format: plain, argument) : NSPredicate(format: plain)
        let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
        request.resultType = .transactionsAndChanges
        let found = try transactions(request)
        #expect(found.flatMap { $0.changes ?? [] }.count == count)
        #expect(found.allSatisfy { $0.changes?.isEmpty == false })
        let numbers = found.map(\.transactionNumber)
        #expect(numbers == numbers.sorted())
    }

    @Test("The other results are the IDs, the count and the status")
    func results() throws {
        try fill()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        request.resultType = .objectIDs
        let identifiers = try store.execute(request, NSPersistentHistoryResult.self).result
        #expect((identifiers as? [NSManagedObjectID])?.count == 4)
        request.resultType = .count
        #expect(try store.execute(request, NSPersistentHistoryResult.self).result as? Int == 3)
        request.resultType = .statusOnly
        #expect(try store.execute(request, NSPersistentHistoryResult.self).result as? Bool == true)
    }

    @Test("Deleting history before a transaction leaves that one; a token before what was deleted has expired")
    func deletion() throws {
        let empty = try token()
        try fill()
        let found = try all()
        let deletion = try store.execute(
            NSPersistentHistoryChangeRequest.deleteHistory(before: found[2]), NSPersistentHistoryResult.self)
        #expect(deletion.result as? Bool == true)
        #expect(try store.rows("SELECT Z_PK FROM ATRANSACTION") == ["3"])
        #expect(try store.rows("SELECT COUNT(*) FROM ACHANGE") == ["1"])
        #expect(try transactions(.fetchHistory(after: found[1].token)).map(\.transactionNumber) == [3])
        let error = #expect(throws: NSError.self) { _ = try transactions(.fetchHistory(after: empty)) }
        #expect(error?.code == 134301)
        _ = try store.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
        #expect(try all().isEmpty)
        #expect(try token() == found[2].token)
    }

    @Test("A token archives and unarchives")
    func coding() throws {
        try fill()
        let token = try token()
        let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        let copy = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
        #expect(copy == token)
        #expect(copy?.hash == token.hash)
    }

    @Test("A transaction merges into another coordinator's context as a save does")
    func merging() throws {
        let other = try Library.container(
            store.container.managedObjectModel,
            {
                let description = NSPersistentStoreDescription(url: store.url)
                description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
                return description
            }()
        ).newBackgroundContext()
        try store.save { $0.make("Author", ["name": "Ann", "age": 1]) }
        try other.performAndWait {
            let author = try #require(try other.all("Author").first)
            #expect(author.value(forKey: "age") as? Int == 1)
            try store.context.performAndWait {
                try #require(try store.context.all("Author").first).setValue(5, forKey: "age")
                try store.context.save()
            }
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try other.execute(request) as? NSPersistentHistoryResult
            for transaction in try #require(result?.result as? [NSPersistentHistoryTransaction]) {
                other.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
            }
            #expect(author.value(forKey: "age") as? Int == 5)
        }
    }

    @Test("Batch requests write history, with the rows that delete rules change")
    func batches() throws {
        store.context.performAndWait { store.context.name = nil }
        _ = try store.execute(
            NSBatchInsertRequest(entityName: "Author", objects: [["name": "Ann"], ["name": "Bob"]]))
        let update = NSBatchUpdateRequest(entityName: "Author")
        update.propertiesToUpdate = ["age": 3]
        update.predicate = NSPredicate(format: "name == 'Ann'")
        _ = try store.execute(update)
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
        _ = try store.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        let changes = try all().map { try #require($0.changes) }
        #expect(changes.map { $0.map(\.changeType) } == [[.insert, .insert], [.update], [.delete, .delete]])
        #expect(changes[1].map { $0.updatedProperties?.map(\.name) } == [["age"]])
        #expect(changes[2].map { $0.tombstone?["name"] as? String } == ["Ann", "Bob"])
        #expect(
            try store.rows("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT >= 16001 ORDER BY Z_ENT").prefix(2)
                == ["CHANGE|5", "TRANSACTION|3"])
    }

    @Test("The news of a save have the token of the place in the history after it")
    func tokenOfSave() throws {
        nonisolated(unsafe) var token: NSPersistentHistoryToken?  // written before save() returns
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: store.context, queue: nil
        ) { token = $0.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken }
        defer { NotificationCenter.default.removeObserver(observer) }
        try store.save { $0.make("Tag") }
        let latest = try self.token()
        #expect(token == latest)
    }

    @Test("Without the option there is no history to ask for, and no token")
    func untracked() throws {
        let plain = try BatchStore()
        #expect(plain.container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
        let error = #expect(throws: NSError.self) {
            _ = try plain.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
        }
        #expect(error?.code == 134091)
    }

    @Test("A store that keeps a history is only read without the option, and each error says why")
    func readWithoutOption() throws {
        try fill()
        let container = try Library.container(
            source.managedObjectModel, NSPersistentStoreDescription(url: store.url))
        let context = container.newBackgroundContext()
        func refused(_ change: () throws -> Void) {
            let error = #expect(throws: NSError.self) { try change() }
            #expect(error?.code == NSFileWriteNoPermissionError)
            #expect(error?.localizedDescription.contains("NSPersistentHistoryTrackingKey") == true)
        }
        context.performAndWait {
            refused {
                context.make("Tag")
                try context.save()
            }
            context.rollback()
            refused {
                try context.all("Tag").first?.setValue("new", forKey: "name")
                try context.save()
            }
            context.rollback()
            refused {
                _ = try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["name": "new"]]))
            }
        }
    }

    @Test("History that Apple's framework wrote is read", .enabled(if: fixtures != nil, fixturesAreAbsent))
    func apple() throws {
        let folder = try TestFolder()
        let source = try #require(fixtures).appendingPathComponent("books/SampleModel2_V1.sqlite")
        let url = folder.file("books.sqlite")
        try FileManager.default.copyItem(at: source, to: url)
        let model = try #require(try StoreFile.open(url, mode: .readWrite).cachedModel())
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        let container = try Library.container(model, description)
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let found = try #require(result?.result as? [NSPersistentHistoryTransaction])
            #expect(found.count == 1)
            #expect(found.first?.processID == "xctest")
            #expect(found.first?.bundleID == "com.apple.dt.xctest.tool")
            #expect(found.first?.changes?.count == 5468)
        }
    }
}
