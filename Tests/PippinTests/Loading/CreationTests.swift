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
        #expect(throws: PersistenceError.folderNotFound(path: mistyped.path)) { try manager.loadAndWait() }
        #expect(!FileManager.default.fileExists(atPath: mistyped.path))
        try FileManager.default.createDirectory(at: mistyped, withIntermediateDirectories: false)
        try manager.loadAndWait()
    }

    @Test("folders are made for those who ask for it")
    func folders() async throws {
        let file = folder.file("a/b/coins.sqlite")
        try await PersistenceManager(models: Coin.self, store: .file(file, creating: .folders)).load()
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

    init() async throws {
        counter = try Counter(Coin.self)
        try await counter.manager.save(Coin(code: "EUR", worth: 1))
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
    func computed() async throws {
        await #expect {
            try await counter.manager.fetch(Coin.self, sortedBy: .ascending(\.twice))
        } throws: { error in
            let text = error.localizedDescription
            return text.contains("<computed property of type Double>") && !text.contains("0x")
        }
    }
}

extension Coin {
    fileprivate var twice: Double { worth * 2 }
}
