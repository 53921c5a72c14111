import Pippin
import Testing

@Suite("What is done while a manager starts over")
struct BesideStartingOverTests {
    @Test("waits for the new store, and finds what was saved in that one only")
    func beside() async throws {
        let counter = try Counter(Coin.self)
        let manager = counter.manager
        let isDone = Locked(false)
        // How often each task has asked or saved something.
        let calls = Locked([0, 0, 0, 0])
        let tasks = (0..<4).map { task in
            Task {
                while !isDone.withLock({ $0 }) {
                    if task == 0 {
                        try await manager.save(Coin(code: "\(calls.withLock { $0[0] })", worth: 1))
                    } else {
                        let count = try await manager.count(Coin.self)
                        // The last one may be saved, and not counted yet.
                        #expect(count <= calls.withLock { $0[0] } + 1)
                    }
                    calls.withLock { $0[task] += 1 }
                    // Answers at once do not suspend the task; others wait for its thread.
                    await Task.yield()
                }
            }
        }
        var rounds = 0
        while rounds < 30 || rounds < 1000 && calls.withLock({ $0.contains { $0 < 10 } }) {
            try await manager.startOver()
            rounds += 1
        }
        // After ten of each, so that it has something to take away.
        try await manager.startOver()
        isDone.withLock { $0 = true }
        for task in tasks { try await task.value }
        let total = calls.withLock { $0 }
        #expect(total.allSatisfy { $0 >= 10 })
        // The coins since the last time, none of them left out.
        let found = try await manager.fetch(Coin.self).compactMap { Int($0.code) }
        #expect(found.count <= total[0] - 10)
        #expect(found.sorted() == Array(total[0] - found.count..<total[0]))
    }

    @Test("is refused once the store was destroyed")
    func destroyed() async throws {
        let counter = try Counter(Coin.self)
        try await counter.manager.destroy()
        let error = await #expect(throws: PersistenceError.self) { try await counter.manager.count(Coin.self) }
        #expect(error?.code == .notLoaded)
    }
}
