import ConcurrencyChild
import Foundation
import Pippin
import SQLiteConnection
import Synchronization
import TestSupport
import Testing

/// Saves of a few models are done on the thread of the task that awaits them, where nothing has to be waited for.
@Suite("Models that are saved and awaited one by one")
struct AwaitedWritesTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("are all there when several programs save at once", .ownThread)
    func programs() async throws {
        let children = try (0..<3).map { try Child("await", folder.store, 1 + $0 * 100) }
        for child in children {
            let end = child.wait()
            #expect(end.complaint == "")
            #expect(end.status == 0)
        }
        #expect(try plainNumbers("SELECT COUNT(*) FROM ZNOTE", in: folder.store) == [300])
        #expect(try plainNumbers("SELECT COUNT(DISTINCT ZUID) FROM ZNOTE", in: folder.store) == [300])
        #expect(try plainNumbers("SELECT MAX(Z_PK) FROM ZNOTE", in: folder.store) == [300])
    }

    @Test("are all there when many tasks of one program save at once, with blocks in between")
    func tasks() async throws {
        let manager = Notes.old(at: folder.store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let note = Notes.V1.Note(uid: number, text: "note")
                    if number % 3 == 0 {
                        try await manager.write { try $0.save(note) }
                    } else {
                        try await manager.save(note)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await manager.count(Notes.V1.Note.self) == 60)
        #expect(try plainNumbers("SELECT COUNT(*) FROM ZNOTE", in: folder.store) == [60])
    }

    @Test("leave tasks their threads while another program has the store locked, and are saved afterwards")
    func lock() async throws {
        // More of them than there are threads for tasks: if each of them had one wait, the task that unlocks would
        // never run.
        let managers = (0..<max(8, 2 * ProcessInfo.processInfo.activeProcessorCount)).map { _ in
            Notes.old(at: folder.store)
        }
        for manager in managers { try await manager.load() }
        let other = LockHolder(try Connection(path: folder.store.path, mode: .readWrite))
        try other.lock()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, manager) in managers.enumerated() {
                group.addTask { try await manager.save(Notes.V1.Note(uid: number, text: "note")) }
            }
            group.addTask {
                try await Task.sleep(for: .milliseconds(50))
                try other.unlock()
            }
            try await group.waitForAll()
        }
        #expect(try plainNumbers("SELECT COUNT(*) FROM ZNOTE", in: folder.store) == [managers.count])
    }

    @Test("leave the thread of their task to others where there are many models in them", arguments: [3, 300])
    func nested(count: Int) async throws {
        let manager = PersistenceManager(models: Branch.self, store: .file(folder.store))
        try await manager.load()
        let before = Leaf.encodedOnTask.withLock { $0 }
        try await manager.save(Branch(id: 1, leaves: (0..<count).map { Leaf(id: 1_000 + $0) }))
        // Another test case may run at the same time.
        if count == 3 { #expect(Leaf.encodedOnTask.withLock { $0 } - before == 3) }
        #expect(Leaf.encodedOnTask.withLock { $0 } - before <= 3)
        #expect(try plainNumbers("SELECT COUNT(*) FROM ZLEAF", in: folder.store) == [count])
    }

    @Test("are refused as in a block: a known identifier is not inserted, an unknown one is not updated")
    func refusals() async throws {
        let manager = Notes.old(at: folder.store)
        let note = Notes.V1.Note(uid: 1, text: "note")
        try await manager.insert(note)
        let inserted = await #expect(throws: PersistenceError.self) { try await manager.insert(note) }
        #expect(inserted?.code == .alreadyStored)
        let updated = await #expect(throws: PersistenceError.self) {
            try await manager.update(Notes.V1.Note(uid: 2, text: "other"))
        }
        #expect(updated?.code == .notFound)
        #expect(try await manager.delete(note))
        #expect(try await !manager.delete(note))
        #expect(try plainNumbers("SELECT COUNT(*) FROM ZNOTE", in: folder.store) == [0])
    }
}

private struct Branch: CoreModel {
    let id: Int
    var leaves: [Leaf]
    static var schema: Schema<Branch> { Schema(.owns(\.leaves)) }
}

/// Counts how many of its kind were encoded on a thread that tasks share.
private struct Leaf: CoreModel {
    let id: Int

    static let encodedOnTask = Mutex(0)

    init(id: Int) { self.id = id }

    func encode(to encoder: any Encoder) throws {
        // One with a small identifier is made up when a manager is made.
        if id >= 1_000, withUnsafeCurrentTask(body: { $0 != nil }) { Self.encodedOnTask.withLock { $0 += 1 } }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
    }
}

/// Another program's connection, which has the store locked for a while.
private final class LockHolder: @unchecked Sendable {
    // @unchecked Sendable: one task locks, and one unlocks after it.
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func lock() throws { try connection.begin(.immediate) }
    func unlock() throws { try connection.rollback() }
}
