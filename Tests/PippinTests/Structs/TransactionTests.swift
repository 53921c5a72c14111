import CoreData
import PippinRecords
import TestSupport
import Testing

@testable import Pippin

private struct Tally: CoreModel {
    let id: String
    var count: Int
}

private struct Stop: Error {}

@Suite("Writes as transactions", .ownThread)
struct TransactionTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func manager() throws -> PersistenceManager {
        let manager = PersistenceManager(
            models: Tally.self, store: .file(folder.file("counters.sqlite")))
        try manager.loadAndWait()
        return manager
    }

    private func add(_ number: Int, _ access: some ModelWriter, _ id: String = "a") throws {
        var counter = try access.find(Tally.self, id: id) ?? Tally(id: id, count: 0)
        counter.count += number
        try access.save(counter)
    }

    @Test("A block whose store another manager saved to while it ran is run again, on what is there then")
    func retried() throws {
        let (first, second) = (try manager(), try manager())
        try first.saveAndWait(Tally(id: "a", count: 1))
        var runs = 0
        try first.writeAndWait { access in
            runs += 1
            let before = try #require(try access.find(Tally.self, id: "a"))
            if runs == 1 { try second.detached { try $0.writeAndWait { try add(10, $0) } } }
            try access.save(Tally(id: "a", count: before.count + 100))
        }
        #expect(runs == 2)
        #expect(try second.tally("a") == 111)
    }

    @Test("With .fail, a conflict is thrown, and nothing of the block is saved") func fails() throws {
        let (first, second) = (try manager(), try manager())
        try first.saveAndWait(Tally(id: "a", count: 1))
        let error = #expect(throws: PersistenceError.self) {
            try first.writeAndWait(onConflict: .fail) { access in
                try add(100, access)
                try second.detached { try $0.writeAndWait { try add(10, $0) } }
            }
        }
        #expect(error?.errorCode == NSManagedObjectMergeError)
        #expect(try first.tally("a") == 11)
    }

    @Test("A save by a context of the same manager counts, too") func sameManager() throws {
        let manager = try manager()
        try manager.saveAndWait(Tally(id: "a", count: 1))
        var runs = 0
        try manager.writeAndWait { access in
            runs += 1
            try add(100, access)
            guard runs == 1 else { return }
            try manager.detached { manager in
                let context = manager.newWorkerContext()
                try manager.writeAndWait(in: context) { try add(10, $0) }
            }
        }
        #expect(runs == 2)
        #expect(try manager.tally("a") == 111)
    }

    @Test("A block that decides by a row that is not there, or by a count, is run again when that has changed")
    func phantoms() throws {
        let (first, second) = (try manager(), try manager())
        var runs = 0
        try first.writeAndWait { access in
            runs += 1
            let count = try access.count(Tally.self)
            if runs == 1 { try second.detached { try $0.saveAndWait(Tally(id: "new", count: 0)) } }
            try access.save(Tally(id: "count", count: count))
        }
        #expect(try first.tally("count") == 1)
    }

    @Test("A block that has read is run again also where others have saved what it wants to save")
    func sameOutcome() throws {
        let (first, second) = (try manager(), try manager())
        try first.saveAndWait(Tally(id: "a", count: 1))
        var runs = 0
        try first.writeAndWait { access in
            runs += 1
            var tally = try #require(try access.find(Tally.self, id: "a"))
            if runs == 1 { try second.detached { try $0.writeAndWait { try add(1, $0) } } }
            tally.count += 1
            try access.save(tally)
        }
        #expect(runs == 2)
        #expect(try second.tally("a") == 3)
    }

    @Test("A block that saves one model, and reads nothing, is not run again for what others save beside it")
    func blindSave() throws {
        let (first, second) = (try manager(), try manager())
        try first.saveAndWait(Tally(id: "a", count: 1))
        var runs = 0
        try first.writeAndWait { access in
            runs += 1
            try access.save(Tally(id: "a", count: 2))
            try second.detached { try $0.saveAndWait(Tally(id: "b", count: 10)) }
        }
        #expect(runs == 1)
        #expect(try second.tally("a") == 2)
        #expect(try second.tally("b") == 10)
    }

    @Test(
        "What others save to the one model of a block meanwhile is saved over: the block comes after it",
        arguments: [true, false])
    func blindSaveOfTheSame(isKnown: Bool) throws {
        let (first, second) = (try manager(), try manager())
        if isKnown { try first.saveAndWait(Tally(id: "a", count: 1)) }
        var runs = 0
        try first.writeAndWait { access in
            runs += 1
            try access.save(Tally(id: "a", count: 100))
            if runs == 1 { try second.detached { try $0.saveAndWait(Tally(id: "a", count: 10)) } }
        }
        #expect(try second.tallies() == [100])
    }

    @Test("An insertion of a model that others insert meanwhile is refused")
    func blindInsertion() throws {
        let (first, second) = (try manager(), try manager())
        let error = #expect(throws: PersistenceError.self) {
            try first.writeAndWait { access in
                try access.insert(Tally(id: "a", count: 100))
                try second.detached { try $0.saveAndWait(Tally(id: "a", count: 10)) }
            }
        }
        #expect(error != nil)
        #expect(try second.tally("a") == 10)
    }

    @Test("A block sees one state of the store, even when it is to be run again: no half of another one's changes")
    func oneState() async throws {
        let (first, second) = (try manager(), try manager())
        try first.saveAndWait(Tally(id: "a", count: 1), Tally(id: "b", count: 1))
        var (runs, seen) = (0, [[Int]]())
        try first.writeAndWait { access in
            runs += 1
            let a = try #require(try access.find(Tally.self, id: "a"))
            if runs == 1 {
                try second.detached { try $0.saveAndWait(Tally(id: "a", count: 2), Tally(id: "b", count: 2)) }
            }
            let b = try #require(try access.find(Tally.self, id: "b"))
            seen.append([a.count, b.count])
        }
        #expect(seen == [[2, 2]])
    }

    @Test("An error of the block itself is thrown, and not tried again") func ownError() throws {
        let manager = try manager()
        var runs = 0
        #expect(throws: Stop.self) {
            try manager.writeAndWait { access in
                runs += 1
                try add(1, access)
                throw Stop()
            }
        }
        #expect(runs == 1)
        #expect(try manager.tallies().isEmpty)
    }

    @Test("A block that others get in the way of each time ends with an error, and not never") func endless() throws {
        let manager = try manager()
        try manager.saveAndWait(Tally(id: "a", count: 0))
        var runs = 0
        let error = #expect(throws: PersistenceError.self) {
            try manager.writeAndWait { access in
                runs += 1
                try add(100, access)
                try manager.detached { manager in
                    try manager.writeAndWait(in: manager.newWorkerContext()) { try add(1, $0) }
                }
            }
        }
        #expect(error?.errorCode == NSManagedObjectMergeError)
        #expect(runs == 16)
        #expect(try manager.tally("a") == 16)
    }

    @Test("A long block among programs that never stop saving gets its turn") func starvation() throws {
        let (first, second) = (try manager(), try manager())
        try first.saveAndWait(Tally(id: "a", count: 0), Tally(id: "b", count: 0))
        let stops = Locked(false)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !stops.withLock({ $0 }) { try? second.writeAndWait { try add(1, $0, "b") } }
            done.signal()
        }
        try first.writeAndWait { access in
            try add(1, access)
            usleep(30_000)
        }
        stops.withLock { $0 = true }
        done.wait()
        #expect(try first.tally("a") == 1)
    }

    @Test("A write within a write is saved by itself, and the outer one goes on") func nested() throws {
        let manager = try manager()
        var runs = 0
        try manager.writeAndWait { access in
            runs += 1
            try add(1, access)
            try manager.writeAndWait { try add(10, $0, "b") }
            try manager.saveAndWait(Tally(id: "c", count: 5))
            #expect(try access.find(Tally.self, id: "b")?.count == 10)
        }
        #expect(runs == 1)
        #expect(try manager.tallies() == [1, 10, 5])
    }

    @Test("A block that has saved a part by itself is not run again: a conflict after that is thrown") func partly()
        throws
    {
        let (first, second) = (try manager(), try manager())
        var runs = 0
        let error = #expect(throws: (any Error).self) {
            try first.writeAndWait { access in
                runs += 1
                try add(1, access)
                try access.context.save()
                try add(1, access, "b")
                try second.detached { try $0.writeAndWait { try add(10, $0, "b") } }
            }
        }
        #expect((error as? PersistenceError)?.code == .conflict)
        #expect(runs == 1)
        #expect(try first.tallies() == [1, 10])
    }

    @Test("Two managers that increment at the same time lose nothing", arguments: [250]) func increments(count: Int)
        throws
    {
        let managers = [try manager(), try manager()]
        try managers[0].saveAndWait(Tally(id: "a", count: 0))
        let failures = Locked<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            for _ in 0..<count {
                do { try managers[index].writeAndWait { try add(1, $0) } } catch {
                    failures.withLock { $0.append(error) }
                }
            }
        }
        #expect(failures.withLock { $0.count } == 0)
        #expect(try managers[1].tally("a") == 2 * count)
    }

    @Test("A store in memory is not an exception") func inMemory() throws {
        let manager = PersistenceManager(models: Tally.self, store: .memory)
        try manager.loadAndWait()
        try manager.saveAndWait(Tally(id: "a", count: 1))
        var runs = 0
        try manager.writeAndWait { access in
            runs += 1
            try add(100, access)
            if runs == 1 {
                try manager.detached { manager in
                    try manager.writeAndWait(in: manager.newWorkerContext()) { try add(10, $0) }
                }
            }
        }
        #expect(runs == 2)
        #expect(try manager.tally("a") == 111)
    }
}

extension PersistenceManager {
    fileprivate func saveAndWait(_ tallies: Tally...) throws { try writeAndWait { try $0.save(tallies) } }

    fileprivate func tally(_ id: String) throws -> Int? {
        try readAndWait { try $0.find(Tally.self, id: id)?.count }
    }

    fileprivate func tallies() throws -> [Int] {
        try readAndWait { try $0.fetch(Tally.self, sortedBy: .ascending(\.id)).map(\.count) }
    }

    /// Runs work on another thread, as somebody else would, and waits for it.
    fileprivate func detached(_ work: @escaping (PersistenceManager) throws -> Void) throws {
        try elsewhere { try work(self) }
    }
}
