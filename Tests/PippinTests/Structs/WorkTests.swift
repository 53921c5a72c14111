import PippinRecords
import CoreData
import TestSupport
import Testing

@Suite("Work in contexts")
struct WorkTests {
    private final class ShopAccess: DataAccess {
        func cheap() throws -> [Coin] { try fetch(Coin.self, where: \.worth < 1) }
    }

    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() async throws {
        counter = try Counter(Shop.self, Coin.self)
        try await counter.manager.save([Coin(code: "EUR", worth: 1), Coin(code: "USD", worth: 0.9)])
    }

    @Test("an access is handed to its blocks as the subclass that it is")
    func subclass() async throws {
        let access = ShopAccess.background(of: manager)
        let waiting = try access.context.performAndWait { try access.cheap().map(\.code) }
        #expect(waiting == ["USD"])
        let deleted = try await ShopAccess.background(of: manager).perform { access in
            try access.delete(Coin.self, where: \.worth < 1)
            try access.save()
            return try access.cheap().isEmpty
        }
        #expect(deleted)
        #expect(try counter.strings("SELECT ZCODE FROM ZCOIN") == ["EUR"])
    }

    @Test("an access counts, finds the first, and takes requests, unsaved changes included")
    func queries() throws {
        try manager.readAndWait(in: nil) { access in
            try access.save(Coin(code: "GBP", worth: 1.2))
            #expect(try access.count(Coin.self) == 3)
            #expect(try access.first(Coin.self, sortedBy: .descending(\.worth))?.code == "GBP")
            #expect(try access.fetch(ModelRequest(Coin.self).filter(\.worth < 1)).map(\.code) == ["USD"])
            access.rollback()
        }
        #expect(try counter.number("SELECT count(*) FROM ZCOIN") == 2)
    }

    @Test("blocks, pages and counts take a context, whose unsaved changes count")
    func contexts() async throws {
        let context = manager.newWorkerContext()
        let manager = manager
        try await context.perform {
            try DataAccess(manager: manager, context: context).save(Coin(code: "GBP", worth: 2))
        }
        let page = try await manager.read(in: context) {
            try $0.fetch(Coin.self, sortedBy: .descending(\.worth), limit: 1)
        }
        #expect(page.map(\.code) == ["GBP"])
        #expect(try await manager.read(in: context) { try $0.max(Coin.self, \.worth) } == 2)
        #expect(try await manager.read(in: context) { try $0.count(Coin.self) } == 3)
        try await manager.write(in: context) { try $0.delete(Coin.self, ids: ["EUR"]) }
        #expect(try counter.strings("SELECT ZCODE FROM ZCOIN ORDER BY ZCODE") == ["GBP", "USD"])
    }

    @Test("an observed request keeps its offset")
    func offset() async throws {
        let request = ModelRequest(Coin.self).sorted(by: .ascending(\.worth)).limit(1).offset(1)
        var states = manager.observe(request).makeAsyncIterator()
        #expect(try await states.next()?.map(\.code) == ["EUR"])
        try await manager.save(Coin(code: "DKK", worth: 0.1))
        #expect(try await states.next()?.map(\.code) == ["USD"])
    }

    @Test("an observer sees the store that is begun anew")
    func startedOver() async throws {
        var counts = manager.observe { try $0.count(Coin.self) }.makeAsyncIterator()
        #expect(try await counts.next() == 2)
        try await manager.startOver()
        #expect(try await counts.next() == 0)
    }

    @Test("a child's save with a completion calls it on the main queue, with the error if there was one")
    func completion() async throws {
        let child = manager.childContext(of: manager.backgroundContext(), mergePolicy: .error)
        #expect((child.mergePolicy as? NSMergePolicy)?.mergeType == .errorMergePolicyType)
        let manager = manager
        try await child.perform {
            try DataAccess(manager: manager, context: child).save(Coin(code: "GBP", worth: 2))
        }
        let error = await withCheckedContinuation { continuation in
            manager.saveToStore(child) { error in
                dispatchPrecondition(condition: .onQueue(.main))
                continuation.resume(returning: error)
            }
        }
        #expect(error == nil)
        #expect(try counter.number("SELECT count(*) FROM ZCOIN") == 3)
    }

    @Test("contexts that stay merge each other's saves")
    func merging() async throws {
        let (one, two) = (manager.backgroundContext(), manager.backgroundContext())
        let seen = try await two.perform {
            UncheckedObject(
                try two.fetch(NSFetchRequest<NSManagedObject>(entityName: "Coin")).first {
                    $0.value(forKey: "code") as? String == "EUR"
                })
        }
        try await manager.write(in: one) { try $0.save(Coin(code: "EUR", worth: 7)) }
        let worth = await two.perform { seen.object?.value(forKey: "worth") as? Double }
        #expect(worth == 7)
    }

    /// Carries an object to its own queue and back.
    private struct UncheckedObject: @unchecked Sendable {
        let object: NSManagedObject?
        init(_ object: NSManagedObject?) { self.object = object }
    }
}

@Suite("Loading, as the store's description says")
struct DescribedLoadingTests {
    private enum Wider {
        struct Coin: CoreModel {
            let code: String
            var worth: Double
            var country: String?
            var id: String { code }

            enum CodingKeys: String, CodingKey {
                case code = "iso_code"
                case worth = "value_in_euro"
                case country
            }
        }
    }

    @Test("tells its progress, also where there is nothing to migrate")
    func progress() async throws {
        let folder = try TestFolder()
        let manager = PersistenceManager(models: Coin.self, store: .file(folder.file("a.sqlite")))
        let progress = Progress(totalUnitCount: -1)
        try await manager.load(progress: progress)
        #expect(progress.isFinished)
    }

    @Test("migrates nothing where it is told not to")
    func noMigration() async throws {
        let counter = try Counter(Coin.self)
        try await counter.manager.save(Coin(code: "EUR", worth: 1))
        let description = NSPersistentStoreDescription(url: counter.file)
        description.shouldMigrateStoreAutomatically = false
        let strict = PersistenceManager(models: Wider.Coin.self, store: .description(description))
        await #expect {
            try await strict.load()
        } throws: {
            ($0 as NSError).code == NSPersistentStoreIncompatibleVersionHashError
        }
        let willing = PersistenceManager(models: Wider.Coin.self, store: .file(counter.file))
        try await willing.load()
        #expect(try await willing.fetch(Wider.Coin.self).count == 1)
    }

    @Test("loads asynchronously, too, where the description says so")
    func asynchronous() async throws {
        let folder = try TestFolder()
        let description = NSPersistentStoreDescription(url: folder.file("a.sqlite"))
        description.shouldAddStoreAsynchronously = true
        let manager = PersistenceManager(models: Coin.self, store: .description(description))
        try await manager.load()
        #expect(try await manager.count(Coin.self) == 0)
        #expect(description.shouldAddStoreAsynchronously)
    }

    @Test("opens managers of one location at the same time, each with a description of its own")
    func sharedLocation() async throws {
        let location = StoreLocation.memory
        let managers = (0..<64).map { _ in PersistenceManager(models: Coin.self, store: location) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for manager in managers { group.addTask { try await manager.load() } }
            try await group.waitForAll()
        }
        let descriptions = Set(managers.flatMap(\.container.persistentStoreDescriptions).map(ObjectIdentifier.init))
        #expect(descriptions.count == managers.count)
    }
}
