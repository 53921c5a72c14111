import Foundation
import Testing

@testable import Pippin

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

    /// Asks a question, and does something with the manager when the question has begun.
    private func ask(
        _ manager: PersistenceManager, beside work: @escaping @Sendable () async throws -> Void
    ) async throws -> Int {
        let (begun, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isFirst = Locked(true)
        let waiting = Thread {
            begun.wait()
            Task {
                try await work()
                isDone.signal()
            }
        }
        waiting.start()
        return try await manager.asking(oneStatementAbout: Coin.self) { access in
            if isFirst.withLock({ isFirst in
                defer { isFirst = false }; return isFirst
            }) {
                begun.signal()
                isDone.wait()
            }
            return try access.count(Coin.self)
        }
    }

    @Test("is refused in the same way once the store was destroyed in the middle of it")
    func destroyedMeanwhile() async throws {
        let counter = try Counter(Coin.self)
        try await counter.manager.save(Coin(code: "EUR", worth: 1))
        let error = await #expect(throws: PersistenceError.self) {
            try await ask(counter.manager) { try await counter.manager.destroy() }
        }
        #expect(error?.code == .notLoaded)
    }

    @Test("is answered by the new store if it began before")
    func startedOverMeanwhile() async throws {
        let counter = try Counter(Coin.self)
        try await counter.manager.save(Coin(code: "EUR", worth: 1))
        #expect(try await ask(counter.manager) { try await counter.manager.startOver() } == 0)
    }
}
