import ConcurrencyChild
import Foundation
import Pippin
import TestSupport
import Testing

@Suite("A store that is migrated by a plan while others write to it", .ownThread)
struct MigrationTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func makeStore(_ count: Int) throws {
        let manager = Notes.old(at: folder.store)
        try manager.openExplicitly(nil, nil)
        try manager.writeAndWait { try $0.save((0..<count).map { Notes.V1.Note(uid: $0, text: "note \($0)") }) }
    }

    /// The rows, by plain SQL, and whether all of them are of the new version.
    private func expectNotes(_ saved: [Int], _ count: Int) throws {
        let notes = Set(try plainNumbers("SELECT ZUID FROM ZNOTE", in: folder.store))
        let lost = Set(saved + Array(0..<count)).subtracting(notes)
        #expect(lost.isEmpty, "\(lost.count) of \(saved.count) acknowledged notes are lost")
        #expect(try plainNumbers("SELECT COUNT(*) FROM ZNOTE WHERE ZLENGTH IS NULL", in: folder.store) == [0])
    }

    @Test(
        "What another process saves meanwhile is there afterwards; it gets an error once the store is of the new version"
    )
    func otherProcess() throws {
        try makeStore(300)
        let writer = try Child("save", folder.store, 1000)
        var heard = writer.hear()
        let manager = Notes.new(at: folder.store)
        try manager.openExplicitly(Notes.plan { usleep(300) }, nil)
        let end = writer.wait()
        heard += end.lines.joined(separator: "\n")
        #expect(end.complaint.contains("134100"))
        let saved = heard.split(separator: "\n").compactMap { Int($0) }
        #expect(!saved.isEmpty)
        try expectNotes(saved, 300)
        #expect(try manager.readAndWait { try $0.count(Notes.V2.Note.self) } == Set(saved).union(0..<300).count)
    }

    @Test("What another manager of the process saves meanwhile is there afterwards; it gets an error then")
    func otherManager() async throws {
        try makeStore(300)
        let other = Notes.old(at: folder.store)
        try await other.load()
        let (url, saved) = (folder.store, Locked<[Int]>([]))
        async let failure = withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    returning: Notes.save(in: other, from: 1000) { number in saved.withLock { $0.append(number) } })
            }
        }
        #expect(try await eventually { saved.withLock { !$0.isEmpty } })
        let manager = Notes.new(at: url)
        try await manager.load(migratingBy: Notes.plan { usleep(300) })
        #expect((await failure as NSError).code == 134100)
        try expectNotes(saved.withLock { $0 }, 300)
    }

    @Test("A migration that is killed leaves a store of the old version, to which everybody can write")
    func killed() throws {
        try makeStore(300)
        for delay in [20_000, 60_000, 120_000] as [UInt32] {
            let migration = try Child("migrate", folder.store, 2_000)
            usleep(delay)
            kill(migration.process.processIdentifier, SIGKILL)
            _ = migration.wait()
        }
        let manager = Notes.old(at: folder.store)
        try manager.openExplicitly(nil, nil)
        try manager.writeAndWait { try $0.save(Notes.V1.Note(uid: 1000, text: "new")) }
        #expect(try plainNumbers("SELECT COUNT(*) FROM ZNOTE", in: folder.store) == [301])
        try Notes.new(at: folder.store).openExplicitly(Notes.plan(), nil)
        try expectNotes([1000], 300)
    }

    @Test("A writer that is killed keeps nobody from migrating, and what it was told is saved is there")
    func killedWriter() throws {
        try makeStore(100)
        let writer = try Child("save", folder.store, 1000)
        let heard = writer.hear()
        kill(writer.process.processIdentifier, SIGKILL)
        let rest = writer.wait().lines
        try Notes.new(at: folder.store).openExplicitly(Notes.plan(), nil)
        // The last line may have been cut.
        let saved = (heard + rest.joined(separator: "\n")).split(separator: "\n").dropLast().compactMap { Int($0) }
        try expectNotes(saved, 100)
    }
}

/// A value behind a lock.
final class Locked<Value>: @unchecked Sendable {
    // @unchecked Sendable: touched under the lock only.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
