import CoreData
import Pippin
import Testing

@Suite("A task that is cancelled")
struct CancellationTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }
    private let steps: AsyncStream<Void>
    private let step: AsyncStream<Void>.Continuation

    init() throws {
        counter = try Counter(Coin.self)
        (steps, step) = AsyncStream.makeStream()
    }

    /// Runs work in a task that is cancelled before it begins.
    private func cancelled<Result: Sendable>(
        _ work: @escaping @Sendable (PersistenceManager) async throws -> Result
    ) async throws -> Result {
        let manager = manager
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await work(manager)
        }
        task.cancel()
        return try await task.value
    }

    @Test("saves nothing, and asks nothing")
    func before() async throws {
        try await manager.save(Coin(code: "EUR", worth: 1))
        await #expect(throws: CancellationError.self) { try await cancelled { try await $0.deleteAll(Coin.self) } }
        await #expect(throws: CancellationError.self) {
            try await cancelled { try await $0.save(Coin(code: "GBP", worth: 1.2)) }
        }
        await #expect(throws: CancellationError.self) { try await cancelled { try await $0.fetch(Coin.self) } }
        await #expect(throws: CancellationError.self) {
            try await cancelled { try await $0.find(Coin.self, id: "EUR") }
        }
        await #expect(throws: CancellationError.self) {
            try await cancelled { try await $0.read { try $0.count(Coin.self) } }
        }
        #expect(try await manager.fetch(Coin.self).map(\.code) == ["EUR"])
    }

    @Test("ends a block that writes at its next question, and saves nothing of it")
    func within() async throws {
        let (manager, step) = (manager, step)
        let task = Task {
            try await manager.write { store in
                try store.save(Coin(code: "EUR", worth: 1))
                step.yield()
                while true { _ = try store.count(Coin.self) }
            }
        }
        for await _ in steps { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await manager.count(Coin.self) == 0)
    }

    @Test("saves nothing of a block that came to its end without asking")
    func atTheEnd() async throws {
        let (manager, step) = (manager, step)
        let go = Locked(false)
        let task = Task {
            try await manager.write { store in
                try store.save(Coin(code: "EUR", worth: 1))
                step.yield()
                while !go.withLock({ $0 }) { usleep(1000) }
            }
        }
        for await _ in steps { break }
        task.cancel()
        go.withLock { $0 = true }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await manager.count(Coin.self) == 0)
    }

    @Test("ends a block that reads at its next question")
    func reading() async throws {
        let (manager, step) = (manager, step)
        let task = Task {
            try await manager.read { store in
                step.yield()
                while true { _ = try store.count(Coin.self) }
            }
        }
        for await _ in steps { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("goes on at once where its work waits for another write")
    func waiting() async throws {
        let (manager, step) = (manager, step)
        let go = Locked(false)
        let long = Task {
            try await manager.write { store in
                step.yield()
                while !go.withLock({ $0 }) { usleep(1000) }
                try store.save(Coin(code: "EUR", worth: 1))
            }
        }
        for await _ in steps { break }
        let rescue = Task {
            try await Task.sleep(for: .seconds(20))
            go.withLock { $0 = true }
        }
        let task = Task { try await manager.save(Coin(code: "GBP", worth: 1.2)) }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!go.withLock { $0 })
        rescue.cancel()
        go.withLock { $0 = true }
        try await long.value
        #expect(try await manager.fetch(Coin.self).map(\.code) == ["EUR"])
    }

    @Test("leaves alone the tasks that its block has made")
    func innerTasks() async throws {
        let (manager, step) = (manager, step)
        let (go, inner) = (Locked(false), Locked<Task<Int, any Error>?>(nil))
        let task = Task {
            try await manager.write { store in
                let made = Task {
                    while !go.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
                    return try manager.readAndWait { try $0.count(Coin.self) }
                }
                inner.withLock { $0 = made }
                step.yield()
                while true { _ = try store.count(Coin.self) }
            }
        }
        for await _ in steps { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        go.withLock { $0 = true }
        #expect(try await inner.withLock { $0 }?.value == 0)
    }

    @Test("makes the new store of startOver() once the old one is gone")
    func startingOver() async throws {
        try await manager.save(Coin(code: "EUR", worth: 1))
        let (manager, started) = (manager, Locked<Task<Void, any Error>?>(nil))
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorStoresDidChange, object: manager.container.persistentStoreCoordinator,
            queue: nil
        ) { _ in started.withLock { $0 }?.cancel() }
        defer { NotificationCenter.default.removeObserver(observer) }
        let task = Task {
            while started.withLock({ $0 == nil }) { await Task.yield() }
            try await manager.startOver()
        }
        started.withLock { $0 = task }
        try await task.value
        #expect(task.isCancelled)
        #expect(try await manager.count(Coin.self) == 0)
    }

    @Test("leaves the manager to others")
    func others() async throws {
        await #expect(throws: CancellationError.self) { try await cancelled { try await $0.load() } }
        try await manager.save(Coin(code: "EUR", worth: 1))
        #expect(try await manager.count(Coin.self) == 1)
    }

    @Test("ends the loop over what it observes, without an error")
    func observing() async throws {
        let (manager, step) = (manager, step)
        let task = Task {
            for try await _ in manager.observe({ try $0.count(Coin.self) }) { step.yield() }
            return true
        }
        for await _ in steps { break }
        task.cancel()
        #expect(try await task.value)
    }
}
