import Foundation
import PippinPostgres
import PostgresServer
import StoreSession
import SyncChild
import SyncPlanning
import TestSupport
import Testing

@testable import PippinSync

@Suite("A first download", .ownThread)
struct DownloadTests {
    private static let rows = Int(ProcessInfo.processInfo.environment["PIPPIN_SYNC_ROWS"] ?? "") ?? 50_000

    private static let stage = "SELECT COUNT(*) FROM PIPPIN_NOTES WHERE ZNAME LIKE '\(SyncNote.stage)%'"

    private static func manager(_ location: StoreLocation) -> PersistenceManager {
        PersistenceManager(models: Line.self, Former.self, store: location)
    }

    private static func fill(_ location: StoreLocation, _ count: Int) async throws {
        let manager = manager(location)
        for start in stride(from: 0, to: count, by: 5_000) {
            try await manager.save((start..<min(start + 5_000, count)).map { Line($0) })
        }
        await manager.close()
    }

    private static func location(_ folder: TestFolder, _ name: String) -> StoreLocation {
        .file(folder.url.appendingPathComponent("\(name).sqlite"), keepsHistory: .always)
    }

    private static func start(_ arguments: [String]) throws -> (Process, Pipe) {
        let (process, output) = (Process(), Pipe())
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("SyncChild")
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        return (process, output)
    }

    @Test("takes at most 30 MB more than a small one, however many rows there are")
    func memory() async throws {
        let folder = try TestFolder()
        try await Self.fill(Self.location(folder, "server"), Self.rows)
        try await Self.fill(Self.location(folder, "small server"), 100)
        let (process, output) = try Self.start(
            ["download"]
                + ["device", "server", "small device", "small server"].map {
                    folder.url.appendingPathComponent("\($0).sqlite").path
                })
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        print("Downloads: most memory in KB, rows, time\n\(text)")
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        try #require(lines.count == 2)
        #expect(lines[1][1] == "\(Self.rows)")
        let (idle, most) = (try #require(Int(lines[0][0])), try #require(Int(lines[1][0])))
        #expect(most - idle < 30_000)
        let device = Self.manager(Self.location(folder, "device"))
        #expect(try await device.find(Line.self, id: 4_711) == Line(4_711))
        await device.close()
    }

    @Test("goes on after a kill where it was, and has what the server has changed meanwhile")
    func killed() async throws {
        let folder = try TestFolder()
        let (server, device) = (Self.location(folder, "server"), Self.location(folder, "device"))
        try await Self.fill(server, 12_000)
        try await Self.fill(Self.location(folder, "small server"), 1)
        let (process, _) = try Self.start(
            ["download"]
                + ["device", "server", "small device", "small server"].map {
                    folder.url.appendingPathComponent("\($0).sqlite").path
                })
        let file = folder.url.appendingPathComponent("device.sqlite").path
        var staged = 0
        for _ in 0..<4_000 where staged < 3 {
            usleep(5_000)
            guard FileManager.default.fileExists(atPath: file) else { continue }
            staged = Int((try? plainNumber(Self.stage, in: URL(fileURLWithPath: file))) ?? 0)
        }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect((3..<12).contains(staged))

        // One of the first rows is changed past the history: what was staged is not read again.
        try execute(
            "UPDATE ZLINE SET ZTITLE = 'past the history' WHERE ZID = 5",
            in: folder.url.appendingPathComponent("server.sqlite"))
        let other = Self.manager(server)
        try await other.update(Line.self, where: \.id == 7) { $0.set(\.title, to: "changed") }
        try await other.delete(Line.self, ids: [8, 11_990])
        try await other.save(Line(20_000, former: Former(id: 1, title: "new")))
        await other.close()

        let manager = Self.manager(device)
        let sync = try StoreSync(manager, server, isLive: false)
        try await sync.finish()
        #expect(try await manager.find(Line.self, id: 5)?.title == "Line 5")
        #expect(try await manager.find(Line.self, id: 7)?.title == "changed")
        #expect(try await manager.find(Line.self, id: 8) == nil)
        #expect(try await manager.find(Line.self, id: 20_000)?.former?.title == "new")
        #expect(try await manager.count(Line.self) == 11_999)
        #expect(try plainNumber(Self.stage, in: URL(fileURLWithPath: file)) == 0)
        await sync.stop()
        await manager.close()
    }

    @Test("brings references to rows that come later, and lists in their order")
    func references() async throws {
        let shop = try await SyncShop(1)
        var random = RandomProgram(seed: 5)
        for _ in 0..<120 { try await random.step(shop[0], 0) }
        try await shop.settle()
        let manager = SyncShop.manager(Self.location(shop.folder, "late"))
        let sync = try shop.sync(manager)
        try await sync.finish()
        let text = try await shop.serverText()
        #expect(text.contains("shelf "))
        #expect(try await SyncShop.text(manager) == text)
        // It was one transaction to those who look: nothing is left to send.
        #expect(sync.state == .upToDate(.distantPast) || "\(sync.state)".hasPrefix("upToDate"))
        await sync.stop()
        await shop.end()
    }

    @Test("is kept as bytes from which the same rows are read")
    func coding() throws {
        let id = RowID("Book", "é\u{0}")
        let values: [String: SyncValue] = [
            "a": .null, "b": .bool(true), "c": .integer(.min), "d": .double(ExactDouble(-0.0)), "e": .decimal("1.20"),
            "f": .text("\u{65}\u{301}"), "g": .date(-5), "h": .bytes([0, 255]), "i": .reference(id),
            "j": .list([id, RowID("Tag", String(repeating: "x", count: 300))]),
            "k": .set([.reference(id), .integer(1)]),
        ]
        var staged = StagedRows(entity: "Book")
        staged.add("1", ["a": .integer(7)], nil)
        staged.add("2", values, SyncScope("team"))
        staged.add("3", ["a": .integer(8)], nil)
        let read = try StagedRows(staged.data)
        #expect(read.entity == "Book")
        #expect(read.rows.map(\.key) == ["1", "2", "3"])
        #expect(read.rows.map(\.scope) == [nil, SyncScope("team"), nil])
        #expect(read.rows.map(read.values) == [["a": .integer(7)], values, ["a": .integer(8)]])
        for count in 0..<staged.data.count {
            #expect(throws: (any Error).self) { try StagedRows(staged.data.prefix(count)) }
        }
    }
}
