import Foundation
import SyncPlanning
import TestSupport
import Testing

@testable import PippinSync

@Suite("A device that was away for longer than the server's history", .ownThread)
struct LeftBehindTests {
    @Test("gets everything anew: deleted rows are gone, and what it has not sent is sent or in the journal")
    func leftBehind() async throws {
        let shop = try await SyncShop()
        try await shop[0].save((0..<40).map { Book(id: "b\($0)", title: "T\($0)") })
        try await shop.settle()
        try await shop[0].delete(Book.self, ids: (0..<20).map { "b\($0)" })
        try await shop[0].save(Book(id: "new", title: "N"))
        try await shop.devices[0].sync.finish()
        for number in 10..<40 {
            try await shop[1].update(Book.self, where: \.id == "b\(number)") { $0.set(\.note, to: "mine") }
        }
        try await shop[1].save(Book(id: "own", title: "O"))
        let server = SyncShop.manager(shop.server)
        try await server.history.delete(before: Date().addingTimeInterval(60))
        await server.close()
        try await shop.settle()
        let books = try await shop[1].fetch(Book.self)
        #expect(Set(books.map(\.id)) == Set((20..<40).map { "b\($0)" } + ["new", "own"]))
        #expect(books.count { $0.note == "mine" } == 20)
        let refused = try await shop.devices[1].sync.refused()
        #expect(refused.map(\.reason) == Array(repeating: .isDeleted, count: 10))
        let text = try await shop.devices[1].text()
        #expect(try await shop.devices[0].text() == text)
        #expect(try await shop.serverText() == text)
        await shop.end()
    }
}

@Suite("A server that was put back to an older backup", .ownThread)
struct RestoredServerTests {
    /// Two devices that had sent and heard everything, and a server that has lost the later half of it.
    private func restored() async throws -> SyncShop {
        let shop = try await SyncShop()
        try await shop[0].save([Book(id: "b", title: "A", stock: 10), Book(id: "gone", title: "G")])
        try await shop[0].save(
            Shelf(id: "s", name: "S", books: [Book(id: "b1", title: "1"), Book(id: "b2", title: "2")]))
        try await shop.settle()
        let server = shop.folder.url.appendingPathComponent("server.sqlite")
        let backup = shop.folder.url.appendingPathComponent("backup.sqlite")
        try execute("VACUUM INTO '\(backup.path)'", in: server)
        for number in 0..<2 {
            try await shop[number].update(Book.self, where: \.id == "b") { $0.set(\.stock, to: 11 + number) }
            try await shop[number].save(Book(id: "new\(number)", title: "N"))
            try await shop.settle()
        }
        try await shop[1].update(Book.self, where: \.id == "b1") { $0.set(\.title, to: "edited") }
        try await shop[0].delete(Book.self, id: "gone")
        try await shop[0].save(
            Shelf(id: "s", name: "S", books: [Book(id: "b2", title: "2"), Book(id: "b1", title: "1")]))
        try await shop.settle()
        for device in shop.devices { await device.sync.stop() }
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: server.path + suffix)
        }
        try FileManager.default.copyItem(at: backup, to: server)
        return shop
    }

    /// The devices with new syncs, as the old ones have the former file open.
    private func settled(_ shop: SyncShop) async throws -> [StoreSync] {
        let syncs = try shop.devices.map { try StoreSync($0.manager, shop.server, isLive: false) }
        for _ in 0..<3 { for sync in syncs { try await sync.finish() } }
        return syncs
    }

    private func expectEverything(_ shop: SyncShop, _ syncs: [StoreSync]) async throws {
        let text = try await shop.devices[0].text()
        #expect(try await shop.devices[1].text() == text)
        #expect(try await shop.serverText() == text)
        // Each of the two added what it did once.
        #expect(try await shop[0].find(Book.self, id: "b")?.stock == 12)
        #expect(try await shop[0].find(Book.self, id: "new0") != nil)
        #expect(try await shop[0].find(Book.self, id: "new1") != nil)
        #expect(try await shop[0].find(Book.self, id: "gone") == nil)
        for sync in syncs {
            #expect(try await sync.refused().map(\.description) == [])
            #expect(try await sync.check() == [])
            await sync.stop()
        }
    }

    @Test("is noticed, and gets again what it had acknowledged, once")
    func ahead() async throws {
        let shop = try await restored()
        let syncs = try await settled(shop)
        #expect(try await shop.devices[0].text().contains("shelf s S: b2 b1"))
        try await expectEverything(shop, syncs)
    }

    @Test("is noticed, too, where its history has become longer again than what devices have seen")
    func overtaken() async throws {
        let shop = try await restored()
        let server = SyncShop.manager(shop.server)
        for number in 0..<20 { try await server.save(Book(id: "other\(number)", title: "by the server's program")) }
        await server.close()
        let syncs = try await settled(shop)
        #expect(try await shop[1].find(Book.self, id: "other19") != nil)
        try await expectEverything(shop, syncs)
    }

    @Test("is noticed by a device that only reads, by when the transaction was taken that it is at")
    func reader() async throws {
        let shop = try await restored()
        let reader = SyncShop.manager(
            .file(shop.folder.url.appendingPathComponent("reader.sqlite"), keepsHistory: .always))
        var sync = try StoreSync(reader, shop.server, isLive: false)
        try await sync.finish()
        await sync.stop()
        let file = shop.folder.url.appendingPathComponent("server.sqlite")
        let backup = shop.folder.url.appendingPathComponent("second.sqlite")
        // One that the reader sees, and another of the same number afterwards.
        try execute("VACUUM INTO '\(backup.path)'", in: file)
        var server = SyncShop.manager(shop.server)
        try await server.save(Book(id: "lost", title: "L"))
        await server.close()
        sync = try StoreSync(reader, shop.server, isLive: false)
        try await sync.finish()
        #expect(try await reader.find(Book.self, id: "lost") != nil)
        await sync.stop()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
        try FileManager.default.copyItem(at: backup, to: file)
        server = SyncShop.manager(shop.server)
        try await server.save(Book(id: "other", title: "O"))
        await server.close()
        sync = try StoreSync(reader, shop.server, isLive: false)
        try await sync.finish()
        #expect(try await reader.find(Book.self, id: "lost") == nil)
        #expect(try await SyncShop.text(reader) == shop.serverText())
        await sync.stop()
    }

    @Test("stops a device that does not remember all that the server had acknowledged and lost")
    func forgotten() async throws {
        let shop = try await restored()
        let file = shop.folder.url.appendingPathComponent("device1.sqlite")
        try execute(
            "UPDATE PIPPIN_NOTES SET ZNOTE = CAST(json_set(CAST(ZNOTE AS TEXT), '$.forgotten', 1000) AS BLOB) "
                + "WHERE ZNAME = 'sync/device/cursor'", in: file)
        let sync = try StoreSync(shop[1], shop.server, isLive: false)
        let error = await #expect(throws: SyncError.self) { try await sync.finish() }
        #expect(error?.code == .history)
        #expect(try await shop[1].find(Book.self, id: "new1") != nil)
        await sync.stop()
    }

    @Test("is why a device remembers its last batches, and the number of the last one that it has forgotten")
    func memory() {
        var content = DeviceContent(record: DeviceRecord(device: DeviceID("a")), captured: 0)
        func acknowledge(_ batch: UInt64) {
            let change = RowChange(
                RowID("Book", "b"), base: 0, .delete, origin: ChangeOrigin(transaction: batch, place: 0))
            content.acknowledge(
                batch,
                [
                    OwnTransaction(
                        number: batch, reading: ClockReading(boot: "", running: 0, wall: 0), changes: [change])
                ])
        }
        for batch in 1...UInt64(DeviceContent.mostAcknowledged) { acknowledge(batch) }
        #expect(content.forgotten == nil && content.acknowledged.count == 200)
        acknowledge(300)
        #expect(content.forgotten == 1 && content.acknowledged.first?.batch == 2)
    }
}

@Suite("What a device keeps", .ownThread)
struct KeptPositionTests {
    @Test("has where it is: it does not read again what it has")
    func cursor() async throws {
        let shop = try await SyncShop(2)
        try await shop[0].save(Book(id: "b", title: "A"))
        try await shop.settle()
        await shop.end()
        let server = SyncShop.manager(shop.server)
        try await server.history.delete(before: Date().addingTimeInterval(60))
        await server.close()
        // A device that begins anew would see it.
        try execute(
            "UPDATE ZBOOK SET ZTITLE = 'past the history'", in: shop.folder.url.appendingPathComponent("server.sqlite"))
        for device in 0..<2 {
            let sync = try StoreSync(shop[device], shop.server, isLive: false)
            try await sync.finish()
            #expect(try await shop[device].find(Book.self, id: "b")?.title == "A")
            await sync.stop()
        }
    }

    @Test("shows unsent changes on top of what comes from the server, all the time")
    func onTop() async throws {
        let shop = try await SyncShop()
        try await shop[0].save(Book(id: "b", title: "A"))
        try await shop.settle()
        try await shop[0].update(Book.self, where: \.id == "b") { $0.set(\.title, to: "theirs") }
        try await shop.devices[0].sync.finish()
        try await shop[1].update(Book.self, where: \.id == "b") { $0.set(\.note, to: "mine") }
        let before = try await shop[1].history.latest()
        try await shop.devices[1].sync.finish()
        // What the sync wrote itself has never touched it.
        let properties = try await shop[1].history.transactions(after: before).flatMap { transaction in
            try transaction.changes(of: Book.self).flatMap { $0.properties ?? [] }
        }
        #expect(properties == ["title"])
        #expect(try await shop[1].find(Book.self, id: "b") == Book(id: "b", title: "theirs", note: "mine"))
        await shop.end()
    }

    @Test("is sent in several batches: many saves of the same rows arrive once and in their order")
    func manyBatches() async throws {
        let shop = try await SyncShop()
        for number in 0..<1_300 {
            let (id, former) = ("b\(number)", "b\(number - 1)")
            switch number % 5 {
            case 3:
                try await shop[0].update(Book.self, where: \.id == former) { $0.set(\.title, to: "changed \(number)") }
            case 4: try await shop[0].delete(Book.self, id: number % 2 == 0 ? "b\(number - 602)" : "b\(number - 2)")
            default:
                try await shop[0].save(Book(id: id, title: "T\(number)"))
                try await shop[0].update(Book.self, where: \.id == "b0") { $0.set(\.stock, to: number) }
            }
        }
        try await shop.settle()
        let text = try await shop.devices[0].text()
        #expect(try await shop.devices[1].text() == text)
        #expect(try await shop.serverText() == text)
        #expect(try await shop[1].find(Book.self, id: "b0")?.stock == 1_297)
        #expect(try await shop.devices[0].sync.refused().isEmpty)
        #expect(try await shop.devices[0].sync.check() == [])
        #expect(try noteCount("sync/device/base", shop) == 0)
        await shop.end()
    }

    private func noteCount(_ name: String, _ shop: SyncShop) throws -> Int64? {
        try plainNumber(
            "SELECT COUNT(*) FROM PIPPIN_NOTES WHERE ZNAME = '\(name)'",
            in: shop.folder.url.appendingPathComponent("device0.sqlite"))
    }
}
