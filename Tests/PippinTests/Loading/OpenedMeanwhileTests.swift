import CoreData
import TestSupport
import Testing

@testable import Pippin

@Suite("What is read while the store is closed and opened again")
struct OpenedMeanwhileTests {
    @Test("is a conflict in a block that has saved something; the block does not run again", .ownThread)
    func saved() async throws {
        let manager = PersistenceManager(models: Coin.self, store: .memory)
        try await manager.load()
        let (began, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorStoresDidChange,
            object: manager.container.persistentStoreCoordinator, queue: nil
        ) { note in
            guard note.userInfo?[NSRemovedPersistentStoresKey] != nil else { return }
            began.signal()
            // Time for what follows the block.
            _ = ended.wait(timeout: .now() + 0.3)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let startingOver = Locked<Task<Void, any Error>?>(nil)
        var runs = 0
        let error = #expect(throws: PersistenceError.self) {
            try manager.readAndWait { _ in
                runs += 1
                try manager.writeAndWait { try $0.save(Coin(code: "EUR", worth: 1)) }
                guard runs == 1 else { return }
                startingOver.withLock { $0 = Task.detached { try await manager.startOver() } }
                began.wait()
            }
        }
        try await startingOver.withLock { $0 }?.value
        #expect(error?.code == .conflict)
        #expect(runs == 1)
        #expect(try await manager.count(Coin.self) == 0)
    }

    @Test("gives no answer without the store, also where it is open again by then", arguments: [true, false])
    func reopened(inOneStatement: Bool) async throws {
        let counter = try Counter(Coin.self)
        let manager = counter.manager
        // So that the question does not have the thread's stores to itself.
        for _ in 0..<2 { manager.workDurations.note(WorkKind(.question, of: Coin.self, result: Int.self), .seconds(1)) }
        let runs = Locked(0)
        let count = try await manager.asking(oneStatementAbout: inOneStatement ? Coin.self : nil) { access in
            let isFirst = runs.withLock { runs in
                runs += 1
                return runs == 1
            }
            guard isFirst else { return try access.count(Coin.self) }
            try inTask { try await manager.destroy() }
            let count = try access.count(Coin.self)
            try inTask {
                try await manager.load()
                try await manager.save(Coin(code: "EUR", worth: 1))
            }
            return count
        }
        #expect(count == 1)
        #expect(runs.withLock { $0 } == 2)
        withExtendedLifetime(counter) {}
    }
}
