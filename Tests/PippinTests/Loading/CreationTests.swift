import Pippin
import TestSupport
import Testing

@Suite("What loading makes where there is nothing")
struct StoreCreationTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("a file is made in a folder that is there, and in no other")
    func mistypedFolder() throws {
        let mistyped = folder.file("Bokos")
        let manager = PersistenceManager(
            models: Coin.self, store: .file(mistyped.appendingPathComponent("coins.sqlite")))
        #expect(throws: PersistenceError.folderNotFound(path: mistyped.path)) { try manager.load() }
        #expect(!FileManager.default.fileExists(atPath: mistyped.path))
        try FileManager.default.createDirectory(at: mistyped, withIntermediateDirectories: false)
        try manager.load()
    }

    @Test("folders are made for those who ask for it")
    func folders() throws {
        let file = folder.file("a/b/coins.sqlite")
        try PersistenceManager(models: Coin.self, store: .file(file, creating: .folders)).load()
        #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test("nothing is made for those who open what there is")
    func nothing() async throws {
        let file = folder.file("coins.sqlite")
        let manager = PersistenceManager(models: Coin.self, store: .file(file, creating: .nothing))
        await #expect(throws: PersistenceError.storeNotFound(path: file.path)) { try await manager.load() }
        #expect(!FileManager.default.fileExists(atPath: file.path))
        try await PersistenceManager(models: Coin.self, store: .file(file)).load()
        try await manager.load()
        // Whoever takes a store away may begin a new one.
        try await manager.startOver()
        #expect(try await manager.count(Coin.self) == 0)
    }
}

@Suite("Nothing is silent")
struct NothingSilentTests {
    private let counter: Counter

    init() throws {
        counter = try Counter(Coin.self)
        try counter.manager.save(Coin(code: "EUR", worth: 1))
    }

    @Test("what a block that only reads has changed is an error")
    func changedInRead() async throws {
        let expected = PersistenceError.changedInRead(entities: ["Coin"])
        #expect(throws: expected) {
            try counter.manager.read { try $0.insertOrUpdate(Coin(code: "USD", worth: 2)) }
        }
        await #expect(throws: expected) {
            try await counter.manager.read { try $0.delete(Coin(code: "EUR", worth: 1)) }
        }
        // The thread's context is as it was.
        #expect(try codes() == ["EUR"])
    }

    private func codes() throws -> [String] { try counter.manager.read { try $0.fetch(Coin.self).map(\.code) } }

    @Test("changes in a context of the caller's are the caller's to save")
    func changedInOwnContext() async throws {
        let context = counter.manager.workerContext
        try await counter.manager.read(context: context) { try $0.insertOrUpdate(Coin(code: "USD", worth: 2)) }
        try await context.perform { try context.save() }
        #expect(try counter.number("SELECT count(*) FROM ZCOIN") == 2)
    }

    @Test("an observation of a store that is taken away ends with an error")
    func destroyed() async throws {
        let manager = counter.manager
        var states = manager.observe(Coin.self).makeAsyncIterator()
        #expect(try await states.next()?.count == 1)
        try await manager.destroy()
        await #expect(throws: PersistenceError.notLoaded(manager: "Models")) { try await states.next() }
    }

    @Test("an observation goes on with the store that is begun anew")
    func startedOver() async throws {
        let manager = counter.manager
        var states = manager.observe(Coin.self).makeAsyncIterator()
        #expect(try await states.next()?.count == 1)
        try await manager.startOver()
        #expect(try await states.next()?.count == 0)
        try await manager.save(Coin(code: "GBP", worth: 1))
        #expect(try await states.next()?.map(\.code) == ["GBP"])
    }

    @Test("a computed property is named without an address")
    func computed() throws {
        #expect {
            try counter.manager.fetch(Coin.self, sortedBy: .ascending(\.twice))
        } throws: { error in
            let text = error.localizedDescription
            return text.contains("<computed property of type Double>") && !text.contains("0x")
        }
    }
}

extension Coin {
    fileprivate var twice: Double { worth * 2 }
}
