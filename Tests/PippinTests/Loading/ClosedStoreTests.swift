import Foundation
import Pippin
import TestSupport
import Testing

@Suite("A store that its manager has closed")
struct ClosedStoreTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() async throws {
        counter = try Counter(Coin.self)
        try await manager.save(Coin(code: "EUR", worth: 1))
    }

    /// What a new manager finds.
    private func found() async throws -> [String] {
        let manager = PersistenceManager(models: Coin.self, store: .file(counter.file))
        return try await manager.fetch(Coin.self).map(\.code).sorted()
    }

    @Test("refuses every use by an error that says what to do; a new manager opens it again")
    func uses() async throws {
        await manager.close()
        let uses: [(PersistenceManager) async throws -> Void] = [
            { _ = try await $0.fetch(Coin.self) }, { _ = try await $0.find(Coin.self, id: "EUR") },
            { _ = try await $0.count(Coin.self) }, { _ = try await $0.exists(Coin.self, id: "EUR") },
            { _ = try await $0.read { try $0.count(Coin.self) } }, { try await $0.save(Coin(code: "GBP", worth: 1)) },
            { _ = try await $0.write { try $0.deleteAll(Coin.self) } }, { try await $0.load() },
            { try await $0.destroy() }, { try await $0.startOver() },
            { for try await _ in $0.observe(Coin.self) {} },
        ]
        for use in uses {
            let error = await #expect(throws: PersistenceError.self) { try await use(manager) }
            #expect(error?.code == .closed)
            #expect(error?.description.contains("of its persistence manager 'Models'. Make a new manager") == true)
        }
        #expect(try await found() == ["EUR"])
    }

    @Test("is named by the error")
    func path() async throws {
        await manager.close()
        let error = await #expect(throws: PersistenceError.self) { try await manager.count(Coin.self) }
        #expect(error?.path == counter.file.path)
        #expect(error?.description.contains("The store '\(counter.file.path)' was closed") == true)
    }

    @Test("is closed once, whoever closes it at the same time, and may be closed before it was opened")
    func again() async throws {
        let manager = manager
        await withTaskGroup { group in
            for _ in 0..<8 { group.addTask { await manager.close() } }
        }
        await manager.close()
        let other = PersistenceManager(models: Coin.self, store: .file(counter.file))
        await other.close()
        let error = await #expect(throws: PersistenceError.self) { try await other.count(Coin.self) }
        #expect(error?.code == .closed)
        #expect(try await found() == ["EUR"])
    }

    @Test("ends observations without an error")
    func observations() async throws {
        let manager = manager
        var coins = manager.observe(Coin.self).makeAsyncIterator()
        #expect(try await coins.next()?.count == 1)
        let (began, begin) = AsyncStream<Void>.makeStream()
        let waiting = Task {
            var counts: [Int] = []
            for try await count in manager.observe({ try $0.count(Coin.self) }) {
                counts.append(count)
                begin.yield()
            }
            return counts
        }
        for await _ in began { break }
        await manager.close()
        #expect(try await coins.next() == nil)
        #expect(try await waiting.value == [1])
    }

    @Test("has what was being written")
    func writes() async throws {
        let manager = manager
        let (began, begin) = AsyncStream<Void>.makeStream()
        let writing = Task {
            try await manager.write { store in
                begin.yield()
                usleep(50_000)
                try store.save(Coin(code: "GBP", worth: 1))
            }
        }
        for await _ in began { break }
        await manager.close()
        try await writing.value
        #expect(try await found() == ["EUR", "GBP"])
    }

    @Test("is closed by a task that was cancelled, too")
    func cancelled() async throws {
        let manager = manager
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await manager.close()
        }.value
        let error = await #expect(throws: PersistenceError.self) { try await manager.count(Coin.self) }
        #expect(error?.code == .closed)
    }

    @Test("is its file alone, also while another manager has it open")
    func file() async throws {
        let other = PersistenceManager(models: Coin.self, store: .file(counter.file))
        #expect(try await other.count(Coin.self) == 1)
        try await manager.save(Coin(code: "GBP", worth: 1))
        await manager.close()
        let copy = counter.folder.file("copy.sqlite")
        try FileManager.default.copyItem(at: counter.file, to: copy)
        #expect(try await PersistenceManager(models: Coin.self, store: .file(copy)).count(Coin.self) == 2)
        #expect(try await other.count(Coin.self) == 2)
    }
}
