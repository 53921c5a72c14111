import Foundation
import PippinSync
import TestSupport
import Testing

/// The models of two versions of a program.
private enum Older {
    @CoreModel struct Paper: Equatable {
        let id: String
        var title: String
    }
}

private enum Newer {
    @CoreModel struct Paper: Equatable {
        let id: String
        var title: String
        var pages = 1
        var folder: Folder?
    }

    @CoreModel struct Folder: Equatable {
        let id: String
        var name: String
    }
}

@Suite("Programs of two versions", .ownThread)
struct VersionTests {
    @Test("exchange what both know with one server, and neither changes what it does not know")
    func olderProgram() async throws {
        let folder = try TestFolder()
        func location(_ name: String) -> StoreLocation {
            .file(folder.url.appendingPathComponent("\(name).sqlite"), keepsHistory: .always)
        }
        let newer = PersistenceManager(models: Newer.Paper.self, store: location("newer"))
        let older = PersistenceManager(models: Older.Paper.self, store: location("older"))
        let one = try StoreSync(newer, location("server"), isLive: false)
        var paper = Newer.Paper(id: "p", title: "A", pages: 5)
        paper.folder = Newer.Folder(id: "f", name: "F")
        try await newer.save(paper)
        try await one.finish()

        let two = try StoreSync(older, location("server"), isLive: false)
        try await two.finish()
        #expect(try await older.fetch(Older.Paper.self) == [Older.Paper(id: "p", title: "A")])
        try await older.save([Older.Paper(id: "p", title: "B"), Older.Paper(id: "q", title: "Q")])
        try await two.finish()
        try await one.finish()
        paper.title = "B"
        #expect(try await newer.find(Newer.Paper.self, id: "p") == paper)
        #expect(try await newer.find(Newer.Paper.self, id: "q") == Newer.Paper(id: "q", title: "Q"))

        // The older program is updated: what it did not know comes then.
        await two.stop()
        await older.close()
        let updated = PersistenceManager(models: Newer.Paper.self, store: location("older"))
        let three = try StoreSync(updated, location("server"), isLive: false)
        try await three.finish()
        #expect(try await updated.find(Newer.Paper.self, id: "p") == paper)
        #expect(try await updated.count(Newer.Folder.self) == 1)
        await three.stop()
        await one.stop()
    }

    @Test("remember where they were when their store is migrated model by model, and send what was unsent")
    func migratedByModels() async throws {
        let folder = try TestFolder()
        func location(_ name: String) -> StoreLocation {
            .file(folder.url.appendingPathComponent("\(name).sqlite"), keepsHistory: .always)
        }
        func notes(_ name: String, _ prefix: String) throws -> [String] {
            try plainSQL(
                "SELECT ZNAME FROM PIPPIN_NOTES WHERE ZNAME LIKE '\(prefix)%' ORDER BY ZNAME",
                in: folder.url.appendingPathComponent("\(name).sqlite"))
        }
        let older = PersistenceManager(models: Older.Paper.self, store: location("device"))
        try await older.save([Older.Paper(id: "p", title: "A"), Older.Paper(id: "q", title: "Q")])
        let one = try StoreSync(older, location("server"), isLive: false)
        try await one.finish()
        try await older.save(Older.Paper(id: "p", title: "B"))
        await one.stop()
        await older.close()
        let before = try notes("device", "")
        #expect(before.count >= 2)

        let newer = PersistenceManager(models: Newer.Paper.self, store: location("device"))
        let plan = MigrationPlan(from: ModelVersion("1", models: Older.Paper.self)).changing(
            to: ModelVersion("2", models: Newer.Paper.self),
            .model(Older.Paper.self, to: Newer.Paper.self) { Newer.Paper(id: $0.id, title: $0.title) })
        try await newer.load(migratingBy: plan)
        #expect(try notes("device", "") == before)
        let two = try StoreSync(newer, location("server"), isLive: false)
        try await two.finish()
        #expect(try notes("server", "sync/server/devices/").count == 1)
        await two.stop()
        let server = PersistenceManager(models: Newer.Paper.self, store: location("server"))
        #expect(
            try await server.fetch(Newer.Paper.self, sortedBy: .ascending(\.id)) == [
                Newer.Paper(id: "p", title: "B"), Newer.Paper(id: "q", title: "Q"),
            ])
    }
}
