import Foundation
import PippinPostgres
import PostgresServer
import SyncPlanning
import TestSupport
import Testing

@testable import PippinSync

private struct Team: CoreModel, Equatable {
    let id: String
    var name: String

    static var schema: Schema<Team> { Schema(.scope(\.id)) }
}

private struct Project: CoreModel, Equatable {
    let id: String
    var title: String
    var team: Team?
    var tasks: [Job] = []

    static var schema: Schema<Project> { Schema(.scope(\.team), .owns(\.tasks)) }
}

/// Has the scope of the project that owns it.
private struct Job: CoreModel, Equatable {
    let id: String
    var title: String
}

private struct Memo: CoreModel, Equatable {
    let id: String
    var text: String
    var team: String?

    static var schema: Schema<Memo> { Schema(.scope(\.team)) }
}

private struct Unscoped: CoreModel {
    let id: String
}

@Suite("A device that has the rows of some scopes", .ownThread)
struct ScopeTests {
    private let folder: TestFolder
    private let server: StoreLocation

    init() throws { try self.init(server: nil) }

    private init(server: StoreLocation?) throws {
        folder = try TestFolder()
        self.server = server ?? .file(folder.url.appendingPathComponent("server.sqlite"), keepsHistory: .always)
    }

    @Test("is the same with a PostgreSQL server", .needsPostgres)
    func onPostgres() async throws {
        for test in [Self.download, Self.moves, Self.rights, Self.otherScopes] {
            let database = try TestDatabase()
            try await test(Self(server: .postgres(database.uri(), keepsHistory: .always)))()
        }
    }

    private func manager(_ name: String) -> PersistenceManager {
        PersistenceManager(
            models: Project.self, Memo.self,
            store: .file(folder.url.appendingPathComponent("\(name).sqlite"), keepsHistory: .always))
    }

    private func memos(_ manager: PersistenceManager) async throws -> [String] {
        try await manager.fetch(Memo.self, sortedBy: .ascending(\.id)).map(\.id)
    }

    private func jobs(_ manager: PersistenceManager) async throws -> [String] {
        try await manager.fetch(Job.self, sortedBy: .ascending(\.id)).map(\.id)
    }

    /// A server with two teams, filled by a device that has all.
    private func fill() async throws -> (manager: PersistenceManager, sync: StoreSync) {
        let all = manager("all")
        let (red, blue) = (Team(id: "red", name: "Red"), Team(id: "blue", name: "Blue"))
        try await all.save([
            Project(id: "p", title: "P", team: red, tasks: [Job(id: "p1", title: ""), Job(id: "p2", title: "")]),
            Project(id: "q", title: "Q", team: blue, tasks: [Job(id: "q1", title: "")]),
        ])
        try await all.save([
            Memo(id: "1", text: "", team: "red"), Memo(id: "2", text: "", team: "blue"), Memo(id: "3", text: ""),
        ])
        let sync = try StoreSync(all, server, isLive: false)
        try await sync.finish()
        return (all, sync)
    }

    @Test(
        "gets these and what is for everybody, by a property, another model, an owner or the identifier, and no others")
    func download() async throws {
        let all = try await fill()
        let red = manager("red")
        let sync = try StoreSync(red, server, scopes: ["red"], isLive: false)
        try await sync.finish()
        #expect(try await memos(red) == ["1", "3"])
        #expect(try await red.fetch(Project.self).map(\.id) == ["p"])
        #expect(try await jobs(red) == ["p1", "p2"])
        #expect(try await red.fetch(Team.self).map(\.id) == ["red"])
        // And hears of these only.
        try await all.manager.save([Memo(id: "4", text: "", team: "blue"), Memo(id: "5", text: "", team: "red")])
        try await all.manager.update(Memo.self, where: \.id == "1") { $0.set(\.text, to: "changed") }
        try await all.manager.delete(Memo.self, ids: ["3", "2"])
        try await all.sync.finish()
        try await sync.finish()
        #expect(try await memos(red) == ["1", "5"])
        #expect(try await red.find(Memo.self, id: "1")?.text == "changed")
        #expect(try await sync.check().isEmpty)
        #expect(try plainNumber("SELECT COUNT(*) FROM ACHANGE WHERE ZCHANGETYPE = 0", in: file("red")) == 7)
        // A row that moves twice before that is heard was in the first scope.
        for team in ["blue", "green"] {
            try await all.manager.update(Memo.self, where: \.id == "5") { $0.set(\.team, to: team) }
        }
        try await all.sync.finish()
        try await sync.finish()
        #expect(try await memos(red) == ["1"])
        await sync.stop()
        await all.sync.stop()
    }

    private func file(_ name: String) -> URL { folder.url.appendingPathComponent("\(name).sqlite") }

    @Test("gains rows that come into its scopes and loses those that leave them, with what they own")
    func moves() async throws {
        let all = try await fill()
        let red = manager("red")
        let sync = try StoreSync(red, server, scopes: ["red"], isLive: false)
        try await sync.finish()
        let (redTeam, blueTeam) = (Team(id: "red", name: "Red"), Team(id: "blue", name: "Blue"))
        try await all.manager.write { access in
            guard var p = try access.find(Project.self, id: "p"), var q = try access.find(Project.self, id: "q") else {
                return
            }
            (p.team, q.team) = (blueTeam, redTeam)
            try access.save([p, q])
            try access.save(Memo(id: "2", text: "now red", team: "red"))
        }
        try await all.sync.finish()
        try await sync.finish()
        #expect(try await red.fetch(Project.self).map(\.id) == ["q"])
        #expect(try await jobs(red) == ["q1"])
        #expect(try await memos(red) == ["1", "2", "3"])
        #expect(try await red.find(Project.self, id: "q")?.team?.id == "red")
        #expect(try await sync.check().isEmpty)
        await sync.stop()
        await all.sync.stop()
    }

    @Test("cannot write to others: what it tries is in the journal")
    func rights() async throws {
        let all = try await fill()
        let red = manager("red")
        let sync = try StoreSync(red, server, scopes: ["red"], isLive: false)
        try await sync.finish()
        try await red.save([Memo(id: "mine", text: "", team: "red"), Memo(id: "theirs", text: "", team: "blue")])
        try await red.save(Memo(id: "later", text: "", team: "red"))
        try await sync.finish()
        // One save is taken whole or not at all.
        #expect(try await sync.refused().map(\.id).sorted() == ["mine", "theirs"])
        #expect(try await sync.refused().allSatisfy { $0.reason == .notAllowed })
        try await all.sync.finish()
        #expect(try await memos(all.manager) == ["1", "2", "3", "later"])
        #expect(try await memos(red) == ["1", "3", "later"])
        await sync.stop()
        await all.sync.stop()
    }

    @Test("gets more when it is given more scopes, and keeps only what is unsent of those that it loses")
    func otherScopes() async throws {
        let all = try await fill()
        let device = manager("device")
        var sync = try StoreSync(device, server, scopes: ["red"], isLive: false)
        try await sync.finish()
        await sync.stop()
        sync = try StoreSync(device, server, scopes: ["red", "blue"], isLive: false)
        try await sync.finish()
        #expect(try await memos(device) == ["1", "2", "3"])
        #expect(try await jobs(device) == ["p1", "p2", "q1"])
        await sync.stop()
        try await device.update(Memo.self, where: \.id == "1") { $0.set(\.text, to: "unsent") }
        sync = try StoreSync(device, server, scopes: ["blue"], isLive: false)
        try await sync.finish()
        #expect(try await memos(device) == ["2", "3"])
        #expect(try await jobs(device) == ["q1"])
        #expect(try await sync.refused().map(\.id) == ["1"])
        await sync.stop()
        // And all rows again.
        sync = try StoreSync(device, server, isLive: false)
        try await sync.finish()
        #expect(try await memos(device) == ["1", "2", "3"])
        #expect(try await jobs(device) == ["p1", "p2", "q1"])
        await sync.stop()
        await all.sync.stop()
    }

    @Test("hears with a new scope of the rows as they were when it was downloaded, and of later changes afterwards")
    func laterChanges() async throws {
        let all = try await fill()
        let red = manager("red")
        var device = try WatchedDevice(red, server, scopes: ["red"])
        try device.runner.finish()
        device.runner.stop()
        device = try WatchedDevice(red, server, scopes: ["red", "blue"])
        var heard: [String: [String?]] = [:]
        var isChanged = false
        device.server.before = { request in
            // Between the rows of the scope and the changes up to these something is saved.
            guard case .pull = request, !isChanged else { return }
            isChanged = true
            try all.manager.writeAndWait { access in
                try access.save(Memo(id: "1", text: "later", team: "red"))
                try access.delete(Memo.self, id: "3")
            }
            try all.sync.runner.finish()
        }
        device.server.after = { _, answer in
            guard case .page(let page) = answer else { return }
            for change in page.transactions.flatMap(\.changes) {
                switch change {
                case .row(let id, let values, _), .values(let id, let values, _):
                    if case .text(let text)? = values["text"] { heard[id.key.string, default: []].append(text.string) }
                default: heard[change.id.key.string, default: []].append(nil)
                }
            }
        }
        // Before the new scope is asked for, a row is changed twice.
        for text in ["first", "second"] {
            try await all.manager.update(Memo.self, where: \.id == "1") { $0.set(\.text, to: text) }
        }
        try await all.manager.update(Memo.self, where: \.id == "3") { $0.set(\.text, to: "there") }
        try await all.sync.finish()
        try device.runner.finish()
        #expect(isChanged)
        #expect(heard == ["1": ["second", "later"], "3": ["there", nil]])
        #expect(try await memos(red) == ["1", "2"])
        #expect(try await red.find(Memo.self, id: "1")?.text == "later")
        await device.end()
        await all.sync.stop()
    }

    @Test("is refused where no model has a scope")
    func noScopes() async throws {
        let manager = PersistenceManager(models: Unscoped.self, store: .file(file("none"), keepsHistory: .always))
        let error = #expect(throws: SyncError.self) { try StoreSync(manager, server, scopes: ["red"], isLive: false) }
        #expect(error?.code == .model)
    }
}
