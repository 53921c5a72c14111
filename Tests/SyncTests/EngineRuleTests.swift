import Foundation
import PippinPostgres
import StoreSession
import SyncChild
import SyncPlanning
import TestSupport
import Testing

@testable import PippinSync

/// A server in a test's hands: something may happen before a request is answered and before its answer arrives.
final class WatchedServer: SyncPeer, @unchecked Sendable {
    // @unchecked Sendable: the queue of one sync alone uses it, and the test while that sync does nothing.

    private var program: PersistenceManager
    private let location: StoreLocation
    private let scopes: Set<SyncScope>?
    private var server: StoreServer
    /// Called before a request is answered, and with the answer. An error loses the request or the answer.
    var before: (SyncRequest) throws -> Void = { _ in }
    var after: (SyncRequest, SyncAnswer) throws -> Void = { _, _ in }

    init(_ program: PersistenceManager, _ location: StoreLocation, _ scopes: Set<SyncScope>?) {
        (self.program, self.location, self.scopes) = (program, location, scopes)
        server = StoreServer(for: program, at: location, scopes: scopes)
    }

    /// Begins anew, as a server's process that was killed: what it had in memory is gone.
    ///
    /// - Parameter program: the server's program from now on; nil for the same one.
    func restart(opening program: PersistenceManager? = nil) {
        self.program = program ?? self.program
        server = StoreServer(for: self.program, at: location, scopes: scopes)
    }

    func answer(_ request: SyncRequest) throws -> SyncAnswer {
        try before(request)
        let answer = try server.answer(request)
        try after(request, answer)
        return answer
    }

    func latest() throws -> HistoryNumber { try server.latest() }
    func whenChanged(_ heard: (@Sendable () -> Void)?) {}
    func interrupt() {}
    func close() async { await server.close() }
}

/// A device whose server is watched.
struct WatchedDevice {
    let manager: PersistenceManager
    let server: WatchedServer
    let runner: SyncRunner

    /// - Parameters:
    ///   - manager: the device's store.
    ///   - location: the server's store.
    ///   - program: whose models the server's store is opened with; nil for the device's.
    ///   - scopes: the scopes whose rows the device has; nil for all rows.
    /// - Throws: what opening the device's store throws.
    init(
        _ manager: PersistenceManager, _ location: StoreLocation, opening program: PersistenceManager? = nil,
        scopes: Set<String>? = nil
    ) throws {
        self.manager = manager
        server = WatchedServer(program ?? manager, location, scopes.map { Set($0.map { SyncScope($0) }) })
        runner = SyncRunner(
            device: SyncDevice(try SyncStore(manager, isScoped: scopes != nil)), server: server
        ) { _, _ in }
    }

    /// What the store keeps of the sync.
    func content() throws -> DeviceContent {
        try #require(try manager.session.withLock { try DeviceContent(runner.device.place) })
    }

    func end() async {
        runner.stop()
        await server.close()
        await manager.close()
    }
}

private struct Lost: Error {}

/// Rules of the engine that show only where something happens between two steps.
@Suite("The engine", .ownThread)
struct EngineRuleTests {
    private let folder: TestFolder
    private let location: StoreLocation
    /// The server's own program.
    private let central: PersistenceManager

    init() throws {
        folder = try TestFolder()
        location = .file(folder.url.appendingPathComponent("server.sqlite"), keepsHistory: .always)
        central = SyncShop.manager(location)
    }

    private func store(_ name: String) -> StoreLocation {
        .file(folder.url.appendingPathComponent("\(name).sqlite"), keepsHistory: .always)
    }

    private func device(_ name: String = "device") throws -> WatchedDevice {
        try WatchedDevice(SyncShop.manager(store(name)), location)
    }

    // MARK: Batches

    @Test("sends a batch once whose answer was lost, and gets the answer that was given, also after a restart")
    func lostAnswer() async throws {
        try await central.save(Book(id: "b", title: "A", stock: 10))
        let device = try device()
        try device.runner.finish()
        var batches: [UInt64] = []
        device.server.after = { request, _ in
            guard case .push(let push) = request else { return }
            batches.append(push.batch)
            if batches.count == 1 { throw Lost() }
        }
        // Two saves, which the server takes as one transaction of its history.
        for stock in 12...13 {
            try await device.manager.update(Book.self, where: \.id == "b") { $0.set(\.stock, to: stock) }
        }
        #expect(throws: SyncError.self) { try device.runner.finish() }
        // Somebody else adds meanwhile; a second addition of the same three would show.
        try await central.update(Book.self, where: \.id == "b") { $0.set(\.stock, to: 20) }
        // A failure lets the sync begin with what its store has, as a restart does.
        try device.runner.finish()
        #expect(batches == [1, 1])
        #expect(try await central.find(Book.self, id: "b")?.stock == 20)
        #expect(try await device.manager.find(Book.self, id: "b")?.stock == 20)
        try await device.manager.update(Book.self, where: \.id == "b") { $0.set(\.stock, to: 21) }
        try device.runner.finish()
        #expect(batches == [1, 1, 2])
        #expect(try await central.find(Book.self, id: "b")?.stock == 21)
        await device.end()
    }

    @Test("has nothing left to do once the server has taken a batch as it was sent, and is where the server is")
    func afterEcho() async throws {
        let device = try device()
        try device.runner.finish()
        try await device.manager.save(Account(id: 1, title: "A"))
        try device.runner.finish()
        let content = try device.content()
        #expect(content.frozen == nil && content.base.isEmpty && content.open.isEmpty)
        #expect(content.record.cursor == 1 && content.record.answered == 1 && content.record.nextBatch == 2)
        #expect(content.acknowledged.map(\.batch) == [1])
        #expect(try device.runner.device.counts().pending == 0)
        // What is saved from now on is saved in knowledge of that.
        #expect(content.cursor(of: content.captured + 100) == 1)
        await device.end()
    }

    // MARK: What a save knew

    @Test("notes what own saves knew: a deletion that knows the latest edit of a kept model is taken")
    func knownEdits() async throws {
        let device = try device()
        try device.runner.finish()
        try await central.save((1...2).map { Account(id: $0, title: "A") })
        try device.runner.finish()
        try await central.update(Account.self, where: \.id == 1) { $0.set(\.title, to: "B") }
        try device.runner.finish()
        try await device.manager.delete(Account.self, id: 1)
        try device.runner.finish()
        #expect(try await central.fetch(Account.self).map(\.id) == [2])
        // One that does not is not.
        var isEdited = false
        device.server.before = { request in
            guard case .push = request, !isEdited else { return }
            isEdited = true
            try central.writeAndWait { try $0.save(Account(id: 2, title: "C")) }
        }
        try await device.manager.delete(Account.self, id: 2)
        try device.runner.finish()
        #expect(isEdited)
        #expect(try await central.fetch(Account.self).map(\.title) == ["C"])
        #expect(try await device.manager.fetch(Account.self).map(\.title) == ["C"])
        #expect(try device.runner.device.journal().map(\.refused.reason) == [.rowEdited])
        await device.end()
    }

    @Test("notes with a first download, too, what own saves knew")
    func knownDownload() async throws {
        try await central.save(Account(id: 1, title: "A"))
        try await central.update(Account.self, where: \.id == 1) { $0.set(\.title, to: "B") }
        let device = try device()
        try device.runner.finish()
        try await device.manager.delete(Account.self, id: 1)
        try device.runner.finish()
        #expect(try await central.count(Account.self) == 0)
        #expect(try device.runner.device.journal().isEmpty)
        await device.end()
    }

    // MARK: Deleted rows

    @Test("brings back a kept model that was deleted while an edit of it was on its way, whole")
    func deletedMeanwhile() async throws {
        try await central.save(Account(id: 1, title: "A", balance: 7.5))
        let device = try device()
        try device.runner.finish()
        try await device.manager.update(Account.self, where: \.id == 1) { $0.set(\.title, to: "B") }
        var isDeleted = false
        device.server.before = { request in
            guard case .push = request, !isDeleted else { return }
            isDeleted = true
            _ = try central.writeAndWait { try $0.delete(Account.self, id: 1) }
        }
        try device.runner.finish()
        #expect(isDeleted)
        let kept = [Account(id: 1, title: "B", balance: 7.5)]
        #expect(try await central.fetch(Account.self) == kept)
        #expect(try await device.manager.fetch(Account.self) == kept)
        #expect(try device.runner.device.journal().isEmpty)
        await device.end()
    }

    @Test("does not bring back what a save knew to be deleted, by an edit that builds on a refused insertion")
    func knownDeletion() async throws {
        let (first, second) = (UUID(), UUID())
        try await central.save(Account(id: 1, title: "former"))
        try await central.save(Slot(id: first, place: "door"))
        let device = try device()
        try device.runner.finish()
        // A push of a new model lets the server look for deletions from here on.
        try await device.manager.save(Book(id: "b", title: "B"))
        var isMoved = false
        device.server.before = { request in
            guard case .push = request, !isMoved else { return }
            isMoved = true
            try central.writeAndWait { try $0.save(Book(id: "c", title: "C")) }
        }
        try device.runner.finish()
        try await central.delete(Account.self, id: 1)
        try device.runner.finish()
        #expect(try await device.manager.count(Account.self) == 0)
        // A new model of the same identifier is refused, as another one of its save is.
        device.server.before = { _ in }
        try device.manager.writeAndWait { access in
            try access.save(Account(id: 1, title: "new"))
            try access.save(Slot(id: second, place: "window"))
        }
        try await device.manager.update(Account.self, where: \.id == 1) { $0.set(\.title, to: "newer") }
        try await central.update(Slot.self, where: \.id == first) { $0.set(\.place, to: "window") }
        try device.runner.finish()
        #expect(try await central.count(Account.self) == 0)
        #expect(try await device.manager.count(Account.self) == 0)
        let reasons = try device.runner.device.journal().map(\.refused.reason)
        #expect(reasons.contains(.dependsOnRefused(RowID("Account", "1"))) && reasons.count == 3)
        await device.end()
    }

    // MARK: Repairs

    @Test("repairs rows only where the device still is where the rows were compared")
    func movedMeanwhile() async throws {
        try await central.save(Account(id: 1, title: "A"))
        let device = try device()
        try device.runner.finish()
        let record = try device.content().record
        try await central.update(Account.self, where: \.id == 1) { $0.set(\.title, to: "B") }
        try device.runner.finish()
        let change = PageChange.values(RowID("Account", "1"), ["title": .text("A")], nil)
        #expect(try device.runner.device.repair([change], at: record) == nil)
        #expect(try await device.manager.find(Account.self, id: 1)?.title == "B")
        #expect(try device.content().record.cursor == 2)
        #expect(try device.runner.device.repair([change], at: device.content().record)?.count == 1)
        #expect(try await device.manager.find(Account.self, id: 1)?.title == "A")
        await device.end()
    }

    // MARK: Downloads

    private func lines(_ name: String) -> PersistenceManager {
        PersistenceManager(models: Line.self, Former.self, Slot.self, store: store(name))
    }

    @Test("fills a store with rows from several states of a server, and writes what changed between them in its place")
    func changedMeanwhile() async throws {
        let central = lines("lines")
        let (first, second) = (UUID(), UUID())
        try await central.save((0..<1_500).map { Line($0) })
        try await central.save(Slot(id: first, place: "door"))
        try await central.save((0..<1_200).map { Slot(id: UUID(), place: "place \($0)") })
        let device = try WatchedDevice(lines("device"), store("lines"))
        var changed: Set<String> = []
        device.server.before = { request in
            // After each portion the server begins anew, and goes on in its present state.
            guard case .rows(let rows) = request, let last = rows.after else { return }
            device.server.restart()
            guard changed.insert(last.entity).inserted else { return }
            switch last.entity {
            case "Line":
                try central.writeAndWait { access in
                    try access.save(Line(5, former: Former(id: 1, title: "F")))
                    try access.delete(Line.self, id: 6)
                    // Made again, it is the last row, beside what was read of it first.
                    try access.delete(Line.self, id: 7)
                }
                var line = Line(7)
                line.title = "made again"
                try central.writeAndWait { try $0.insert(line) }
            case "Slot":
                // A value that only one may have goes from one that was read to one that was not.
                try central.writeAndWait { try $0.update(Slot(id: first, place: "window")) }
                try central.writeAndWait { try $0.insert(Slot(id: second, place: "door")) }
            default: break
            }
        }
        try device.runner.finish()
        #expect(changed.isSuperset(of: ["Line", "Slot"]))
        let own = device.manager
        #expect(try await own.count(Line.self) == 1_499)
        #expect(try await own.find(Line.self, id: 5)?.former?.title == "F")
        #expect(try await own.find(Line.self, id: 6) == nil)
        #expect(try await own.find(Line.self, id: 7)?.title == "made again")
        #expect(try await own.find(Slot.self, id: first)?.place == "window")
        #expect(try await own.find(Slot.self, id: second)?.place == "door")
        await device.end()
        await central.close()
    }

    @Test("takes the later one of two rows of one identifier, where somebody has moved it past the history")
    func twice() async throws {
        let central = lines("lines")
        try await central.save((0..<2_500).map { Line($0) })
        let device = try WatchedDevice(lines("device"), store("lines"))
        let file = folder.url.appendingPathComponent("lines.sqlite")
        var portions = 0
        device.server.before = { request in
            guard case .rows = request else { return }
            portions += 1
            device.server.restart()
            if portions == 3 {
                try execute(
                    "UPDATE ZLINE SET Z_PK = 99999, ZTITLE = 'moved' WHERE ZID = 5; "
                        + "UPDATE Z_PRIMARYKEY SET Z_MAX = 99999 WHERE Z_NAME = 'Line'", in: file)
            }
        }
        try device.runner.finish()
        #expect(portions > 3)
        #expect(try await device.manager.count(Line.self) == 2_500)
        #expect(try await device.manager.find(Line.self, id: 5)?.title == "moved")
        #expect(try await device.manager.find(Line.self, id: 2_400) == Line(2_400))
        await device.end()
        await central.close()
    }
}
