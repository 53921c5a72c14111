import CoreData
import Pippin
import TestSupport
import Testing

@Suite("A store that cannot be destroyed")
struct FailedDestroyingTests {
    private let counter: Counter

    init() async throws {
        counter = try Counter(Coin.self)
        try await counter.manager.save(Coin(code: "EUR", worth: 1))
    }

    /// Puts a folder where the store's file was.
    private func blocking(_ work: (PersistenceManager) async throws -> Void) async throws {
        let elsewhere = counter.folder.file("elsewhere")
        let files = FileManager.default
        try files.createDirectory(at: elsewhere, withIntermediateDirectories: false)
        let names = ["models.sqlite", "models.sqlite-wal", "models.sqlite-shm"]
        for name in names {
            try? files.moveItem(at: counter.folder.file(name), to: elsewhere.appendingPathComponent(name))
        }
        try files.createDirectory(at: counter.file, withIntermediateDirectories: false)
        try Data().write(to: counter.file.appendingPathComponent("content"))
        try await work(counter.manager)
        try files.removeItem(at: counter.file)
        for name in names {
            try? files.moveItem(at: elsewhere.appendingPathComponent(name), to: counter.folder.file(name))
        }
    }

    @Test("is opened by the next use; until it can be, reading is an error, and never nothing")
    func destroy() async throws {
        try await blocking { manager in
            let error = await #expect(throws: PersistenceError.self) { try await manager.destroy() }
            #expect(error?.code == .notOpened)
            await #expect(throws: PersistenceError.self) { try await manager.fetch(Coin.self) }
            await #expect(throws: PersistenceError.self) { try await manager.count(Coin.self) }
        }
        #expect(try await counter.manager.fetch(Coin.self).map(\.code) == ["EUR"])
        try await counter.manager.destroy()
        try await counter.manager.load()
        #expect(try await counter.manager.count(Coin.self) == 0)
    }

    @Test("can be loaded, also after it could not start over, and ends observations with the error")
    func startOver() async throws {
        var states = counter.manager.observe(Coin.self).makeAsyncIterator()
        #expect(try await states.next()?.count == 1)
        try await blocking { manager in
            await #expect(throws: PersistenceError.self) { try await manager.startOver() }
            await #expect(throws: PersistenceError.self) { try await states.next() }
            await #expect(throws: PersistenceError.self) { try await manager.load() }
        }
        try await counter.manager.load()
        #expect(try await counter.manager.fetch(Coin.self).map(\.code) == ["EUR"])
    }
}

@Suite("One of several stores that cannot be destroyed")
struct OneFailedDestroyingTests {
    @Test("is named by the error, and so are those that are destroyed already")
    func several() async throws {
        let folder = try TestFolder()
        let (url, other) = (folder.file("coins.sqlite"), folder.file("letter.sqlite"))
        try Data("Dear Jane, this letter is not a database.".utf8).write(to: other)
        try await PersistenceManager(models: Coin.self, store: .file(url)).save(Coin(code: "EUR", worth: 1))
        let manager = PersistenceManager(models: Coin.self, store: .file(url))
        manager.container.persistentStoreDescriptions.append(NSPersistentStoreDescription(url: other))
        let error = await #expect(throws: PersistenceError.self) { try await manager.destroy() }
        #expect(error?.code == .notOpened)
        #expect(error?.path == other.path)
        #expect(error?.description.hasSuffix("What was saved in “coins.sqlite” is destroyed already.") == true)
        #expect(error?.underlying != nil)
    }
}

@Suite("What is read while a store is destroyed")
struct BesideDestroyingTests {
    @Test("is its content or an error, and never nothing")
    func beside() async throws {
        let counter = try Counter(Coin.self)
        let manager = counter.manager
        for round in 0..<20 {
            if round > 0 { try await manager.load() }
            try await manager.save(Coin(code: "EUR", worth: 1))
            let readers = (0..<4).map { number in
                Task {
                    var answers: Set<Int> = []
                    do {
                        while true {
                            switch number {
                            case 0: answers.insert(try await manager.count(Coin.self))
                            case 1: answers.insert(try await manager.fetch(Coin.self).count)
                            case 2: answers.insert(try await manager.find(Coin.self, id: "EUR") == nil ? 0 : 1)
                            default: answers.insert(try await manager.read { try $0.count(Coin.self) })
                            }
                            // Answers at once do not suspend the task; others wait for its thread.
                            await Task.yield()
                        }
                    } catch {
                        return answers
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(round % 5))
            try await manager.destroy()
            for reader in readers { #expect(await reader.value.isSubset(of: [1])) }
        }
    }

    @Test("is of one state in a block, or an error, also if the manager starts over")
    func block() async throws {
        let counter = try Counter(Coin.self)
        let manager = counter.manager
        try await manager.save(Coin(code: "EUR", worth: 1))
        await #expect(throws: PersistenceError.self) {
            try await manager.read { store in
                let before = try store.count(Coin.self)
                try inTask { try? await manager.startOver() }
                return (before, try store.count(Coin.self))
            }
        }
        #expect(try await manager.read { try $0.count(Coin.self) } == 0)
    }
}
