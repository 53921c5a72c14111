import CoreData
import TestSupport
import Testing

@testable import Pippin

private struct Tally: CoreModel, Codable, Sendable {
    let uid: String
    var count: Int
}

private struct Stop: Error {}

@Suite("Writes as transactions")
struct TransactionTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func manager() throws -> PersistenceManager {
        let manager = PersistenceManager(
            models: Tally.self, store: .file(folder.file("counters.sqlite")))
        try manager.load()
        return manager
    }

    private func add(_ number: Int, _ access: DataAccess, _ uid: String = "a") throws {
        var counter = try access.fetch(Tally.self, uid: uid) ?? Tally(uid: uid, count: 0)
        counter.count += number
        try access.insertOrUpdate(counter)
    }

    @Test("A block whose store another manager saved to while it ran is run again, on what is there then")
    func retried() throws {
        let (first, second) = (try manager(), try manager())
        try first.save(Tally(uid: "a", count: 1))
        var runs = 0
        try first.write { access in
            runs += 1
            let before = try #require(try access.fetch(Tally.self, uid: "a"))
            if runs == 1 { try second.detached { try $0.write { try add(10, $0) } } }
            try access.insertOrUpdate(Tally(uid: "a", count: before.count + 100))
        }
        #expect(runs == 2)
        #expect(try second.fetch(Tally.self, uid: "a")?.count == 111)
    }

    @Test("With .fail, a conflict is thrown, and nothing of the block is saved") func fails() throws {
        let (first, second) = (try manager(), try manager())
        try first.save(Tally(uid: "a", count: 1))
        let error = #expect(throws: SaveError.self) {
            try first.write(onConflict: .fail) { access in
                try add(100, access)
                try second.detached { try $0.write { try add(10, $0) } }
            }
        }
        #expect(error?.errorCode == NSManagedObjectMergeError)
        #expect(try first.fetch(Tally.self, uid: "a")?.count == 11)
    }

    @Test("A save by a context of the same manager counts, too") func sameManager() throws {
        let manager = try manager()
        try manager.save(Tally(uid: "a", count: 1))
        var runs = 0
        try manager.write { access in
            runs += 1
            try add(100, access)
            guard runs == 1 else { return }
            try manager.detached { manager in
                let context = manager.workerContext
                try manager.write(context: context) { try add(10, $0) }
            }
        }
        #expect(runs == 2)
        #expect(try manager.fetch(Tally.self, uid: "a")?.count == 111)
    }

    @Test("A block that decides by a row that is not there, or by a count, is run again when that has changed")
    func phantoms() throws {
        let (first, second) = (try manager(), try manager())
        var runs = 0
        try first.write { access in
            runs += 1
            let count = try access.count(Tally.self)
            if runs == 1 { try second.detached { try $0.save(Tally(uid: "new", count: 0)) } }
            try access.insertOrUpdate(Tally(uid: "count", count: count))
        }
        #expect(try first.fetch(Tally.self, uid: "count")?.count == 1)
    }

    @Test("A block sees one state of the store, even when it is to be run again: no half of another one's changes")
    func oneState() throws {
        let (first, second) = (try manager(), try manager())
        try first.save([Tally(uid: "a", count: 1), Tally(uid: "b", count: 1)])
        var (runs, seen) = (0, [[Int]]())
        try first.write { access in
            runs += 1
            let a = try #require(try access.fetch(Tally.self, uid: "a"))
            if runs == 1 {
                try second.detached { try $0.save([Tally(uid: "a", count: 2), Tally(uid: "b", count: 2)]) }
            }
            let b = try #require(try access.fetch(Tally.self, uid: "b"))
            seen.append([a.count, b.count])
        }
        #expect(seen == [[2, 2]])
    }

    @Test("An error of the block itself is thrown, and not tried again") func ownError() throws {
        let manager = try manager()
        var runs = 0
        #expect(throws: Stop.self) {
            try manager.write { access in
                runs += 1
                try add(1, access)
                throw Stop()
            }
        }
        #expect(runs == 1)
        #expect(try manager.fetch(Tally.self).isEmpty)
    }

    @Test("A block that others get in the way of each time ends with an error, and not never") func endless() throws {
        let manager = try manager()
        try manager.save(Tally(uid: "a", count: 0))
        var runs = 0
        let error = #expect(throws: SaveError.self) {
            try manager.write { access in
                runs += 1
                try add(100, access)
                try manager.detached { manager in
                    try manager.write(context: manager.workerContext) { try add(1, $0) }
                }
            }
        }
        #expect(error?.errorCode == NSManagedObjectMergeError)
        #expect(runs == 16)
        #expect(try manager.fetch(Tally.self, uid: "a")?.count == 16)
    }

    @Test("A long block among programs that never stop saving gets its turn") func starvation() throws {
        let (first, second) = (try manager(), try manager())
        try first.save([Tally(uid: "a", count: 0), Tally(uid: "b", count: 0)])
        let stops = Locked(false)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !stops.withLock({ $0 }) { try? second.write { try add(1, $0, "b") } }
            done.signal()
        }
        try first.write { access in
            try add(1, access)
            usleep(30_000)
        }
        stops.withLock { $0 = true }
        done.wait()
        #expect(try first.fetch(Tally.self, uid: "a")?.count == 1)
    }

    @Test("A write within a write is saved by itself, and the outer one goes on") func nested() throws {
        let manager = try manager()
        var runs = 0
        try manager.write { access in
            runs += 1
            try add(1, access)
            try manager.write { try add(10, $0, "b") }
            try manager.save(Tally(uid: "c", count: 5))
            #expect(try access.fetch(Tally.self, uid: "b")?.count == 10)
        }
        #expect(runs == 1)
        #expect(try manager.fetch(Tally.self, sortedBy: .ascending(\.uid)).map(\.count) == [1, 10, 5])
    }

    @Test("A block that has saved a part by itself is not run again: a conflict after that is thrown") func partly()
        throws
    {
        let (first, second) = (try manager(), try manager())
        var runs = 0
        let error = #expect(throws: (any Error).self) {
            try first.write { access in
                runs += 1
                try add(1, access)
                try access.save()
                try add(1, access, "b")
                try second.detached { try $0.write { try add(10, $0, "b") } }
            }
        }
        #expect((error as? NSError)?.code == NSManagedObjectMergeError)
        #expect(runs == 1)
        #expect(try first.fetch(Tally.self, sortedBy: .ascending(\.uid)).map(\.count) == [1, 10])
    }

    @Test("Two managers that increment at the same time lose nothing", arguments: [250]) func increments(count: Int)
        throws
    {
        let managers = [try manager(), try manager()]
        try managers[0].save(Tally(uid: "a", count: 0))
        let failures = Locked<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            for _ in 0..<count {
                do { try managers[index].write { try add(1, $0) } } catch { failures.withLock { $0.append(error) } }
            }
        }
        #expect(failures.withLock { $0.count } == 0)
        #expect(try managers[1].fetch(Tally.self, uid: "a")?.count == 2 * count)
    }

    @Test("A store in memory is no exception") func inMemory() throws {
        let manager = PersistenceManager(models: Tally.self, store: .memory)
        try manager.load()
        try manager.save(Tally(uid: "a", count: 1))
        var runs = 0
        try manager.write { access in
            runs += 1
            try add(100, access)
            if runs == 1 {
                try manager.detached { manager in
                    try manager.write(context: manager.workerContext) { try add(10, $0) }
                }
            }
        }
        #expect(runs == 2)
        #expect(try manager.fetch(Tally.self, uid: "a")?.count == 111)
    }
}

extension PersistenceManager {
    /// Runs work on another thread, as somebody else would, and waits for it.
    fileprivate func detached(_ work: @escaping (PersistenceManager) throws -> Void) throws {
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var failure: (any Error)?  // written before the semaphore is signalled
        nonisolated(unsafe) let work = work  // called while the caller waits
        Thread.detachNewThread {
            do { try work(self) } catch { failure = error }
            done.signal()
        }
        done.wait()
        if let failure { throw failure }
    }
}
