import FaultProxy
import Foundation
import LoopbackServer
import SyncChild
import SyncPlanning
import Synchronization
import TestSupport
import Testing

@testable import PippinSync

/// What is tested with a server in the same process, again over HTTP.
@Suite("Devices that ask a server over HTTP", .ownThread)
struct HTTPSyncTests {
    private static let scenarios: [(String, @Sendable () async throws -> Void)] = [
        ("are in step", { try await SyncTests().inStep() }),
        ("join edits", { try await SyncTests().merging() }),
        ("merge lists", { try await SyncTests().lists() }),
        ("join tags", { try await SyncTests().joining() }),
        ("keep a journal", { try await SyncTests().journal() }),
        ("keep edits", { try await SyncTests().keptEdits() }),
        ("refuse what is taken", { try await SyncTests().takenValue() }),
        ("refuse deletions", { try await SyncTests().refusedDeletion() }),
        (
            "converge",
            { for seed in 21...22 as ClosedRange<UInt64> { try await ConvergenceTests.run(seed: seed, server: nil) } }
        ),
        ("download again", { try await DownloadTests().references() }),
        ("compare rows", { try await DriftTests().same() }),
        ("repair rows", { try await DriftTests().device() }),
    ]

    @Test("do what devices do that reach the server's store themselves", arguments: scenarios.indices)
    func scenario(number: Int) async throws {
        try await SyncShop.$isOverHTTP.withValue(true) { try await Self.scenarios[number].1() }
    }

    @Test("are in step by themselves: what a device or the server's program saves is soon on the others")
    func live() async throws {
        let shop = try await SyncShop.$isOverHTTP.withValue(true) { try await SyncShop(isLive: true) }
        let online = try #require(shop.online)
        try await shop[0].save(Book(id: "b", title: "0"))
        try await PostgresSyncTests.wait { try await shop[1].find(Book.self, id: "b") != nil }
        var times: [Duration] = []
        for number in 1...20 {
            let start = ContinuousClock.now
            try await shop[0].update(Book.self, where: \.id == "b") { $0.set(\.stock, to: number) }
            try await PostgresSyncTests.wait { try await shop[1].find(Book.self, id: "b")?.stock == number }
            times.append(ContinuousClock.now - start)
        }
        times.sort()
        print("From a save to the other device over HTTP: median \(times[10]), longest \(times[19])")
        #expect(times[10] < .seconds(1))
        try await online.manager.save(Book(id: "c", title: "by the server's program"))
        try await PostgresSyncTests.wait { try await shop[0].find(Book.self, id: "c") != nil }
        try await PostgresSyncTests.wait { online.sync.counts.waiting == 2 }
        let before = online.sync.counts.answered
        try await Task.sleep(for: .seconds(1))
        // Nothing is asked while nothing is saved.
        #expect(online.sync.counts.answered == before)
        await shop.end()
    }

    @Test(
        "are heard by a program that listens to its stores: each request, what it moved, and why it failed",
        .hearsEvents)
    func events() async throws {
        let shop = try await SyncShop.$isOverHTTP.withValue(true) { try await SyncShop() }
        let heard = Mutex<[StoreEvent]>([])
        StoreEvent.receive { event in
            if event.kind == .syncRequest || event.kind == .syncAnswer { heard.withLock { $0.append(event) } }
        }
        defer { StoreEvent.receive(nil) }
        try await shop[0].save([Book(id: "b", title: "Emma"), Book(id: "c", title: "Persuasion")])
        try await shop.devices[0].sync.finish()
        for kind in [StoreEvent.Kind.syncRequest, .syncAnswer] {
            let push = try #require(
                heard.withLock { $0.first { $0.kind == kind && $0.statement == "push" && $0.rows == 2 } })
            let moved = try #require(push.transfer)
            #expect(push.error == nil && push.duration > .zero && moved.refused == 0)
            #expect(moved.bytesSent > 0 && moved.bytesReceived > 0)
        }
        await shop.online?.end()
        heard.withLock { $0 = [] }
        await #expect(throws: SyncError.self) { try await shop.devices[0].sync.finish() }
        #expect(heard.withLock { $0.contains { $0.kind == .syncRequest && $0.error != nil } })
        await shop.end()
    }

    // MARK: What a server or a network says

    private static func device(_ folder: TestFolder, _ name: String = "device") -> PersistenceManager {
        SyncShop.manager(.file(folder.url.appendingPathComponent("\(name).sqlite"), keepsHistory: .always))
    }

    @Test(
        "show each refusal as a state of its own, and go on where they were once they are let in",
        arguments: [
            (401, SyncError.Code.needsLogin), (403, .refused), (409, .version), (410, .refused), (413, .tooLarge),
            (429, .offline), (500, .offline), (502, .offline), (503, .offline), (302, .offline), (404, .offline),
            (200, .offline),
        ])
    func refusals(status: Int, code: SyncError.Code) async throws {
        let folder = try TestFolder()
        let manager = Self.device(folder)
        try await manager.save(Book(id: "b", title: "Emma"))
        let server = SyncShop.manager(.file(folder.url.appendingPathComponent("server.sqlite"), keepsHistory: .always))
        let sync = try SyncServer(server)
        let isLetIn = Mutex(false)
        let listener = try HTTPListener { request in
            if isLetIn.withLock({ $0 }) { return await sync.answer(request, for: SyncUser("ann")) }
            var response = HTTPResponse(
                status: status, type: "text/html", body: .data(Data("<html>Welcome to our hotel</html>".utf8)))
            if status == 302 { response.headers.append(.init("Location", "http://127.0.0.1/login")) }
            return response
        }
        let device = try StoreSync(manager, .server("http://127.0.0.1:\(listener.port)") { "t" }, isLive: false)
        let error = await #expect(throws: SyncError.self) { try await device.finish() }
        #expect(error?.code == code)
        switch (device.state, code) {
        case (.needsLogin, .needsLogin), (.offline, .offline): break
        case (.refusedByServer(let reason), .refused), (.refusedByServer(let reason), .version),
            (.refusedByServer(let reason), .tooLarge):
            #expect(reason.contains("\(status)"))
        default: Issue.record("\(device.state)")
        }
        isLetIn.withLock { $0 = true }
        try await device.finish()
        #expect(try await server.find(Book.self, id: "b")?.title == "Emma")
        await device.stop()
        listener.stop()
        await server.close()
    }

    @Test("ask for a new token once where the server does not take the former one")
    func tokens() async throws {
        let folder = try TestFolder()
        let server = try OnlineServer(
            SyncShop.manager(.file(folder.url.appendingPathComponent("server.sqlite"), keepsHistory: .always)),
            users: { $0 == "new" ? SyncUser("ann") : nil })
        let asked = Mutex(0)
        let sync = try StoreSync(
            Self.device(folder),
            .server(server.url) {
                asked.withLock { $0 += 1 }
                return asked.withLock { $0 } == 1 ? "old" : "new"
            }, isLive: false)
        try await sync.finish()
        try await sync.finish()
        #expect(asked.withLock { $0 } == 2)
        await sync.stop()
        await server.end()
    }

    @Test("are refused where their address has no encryption, and where it is not an address")
    func addresses() throws {
        let folder = try TestFolder()
        for url in ["http://api.example/sync", "ftp://localhost", "api.example", "", "https://a@b/c", "https://a/?b"] {
            let error = #expect(throws: SyncError.self) {
                try StoreSync(Self.device(folder), .server(url), isLive: false)
            }
            #expect(error?.code == .address, "\(url)")
        }
    }

    @Test("belong to the user who greeted first")
    func otherUser() async throws {
        let shop = try await SyncShop.$isOverHTTP.withValue(true) { try await SyncShop(1) }
        let online = try #require(shop.online)
        await shop.devices[0].sync.stop()
        let other = try StoreSync(shop[0], .server(online.url) { "bob" }, isLive: false)
        let error = await #expect(throws: SyncError.self) { try await other.finish() }
        #expect(error?.code == .refused)
        #expect(error?.description.contains("another user") == true)
        await other.stop()
        await shop.end()
    }

    // MARK: Rights

    @Test("change what the server's program lets them change, and keep the rest in the journal")
    func authorize() async throws {
        let folder = try TestFolder()
        let seen = Mutex<[String]>([])
        let server = try OnlineServer(
            SyncShop.manager(.file(folder.url.appendingPathComponent("server.sqlite"), keepsHistory: .always)),
            authorize: { user, change in
                let (old, new) = (try change.old(Book.self), try change.new(Book.self))
                seen.withLock { $0.append("\(user.id) \(change.id) \(old?.stock ?? -1) \(new?.stock ?? -1)") }
                // A book of another type than the change's is none.
                if try change.new(Shelf.self) != nil, change.entity != "Shelf" { return false }
                return new?.stock ?? 0 < 100
            })
        let manager = Self.device(folder)
        let sync = try StoreSync(manager, .server(server.url) { "ann" }, isLive: false)
        try await manager.save(Book(id: "a", title: "A", stock: 1))
        try await manager.save(Book(id: "b", title: "B", stock: 100))
        try await manager.update(Book.self, where: \.id == "b") { $0.set(\.title, to: "builds on it") }
        try await manager.update(Book.self, where: \.id == "a") { $0.set(\.stock, to: 7) }
        try await sync.finish()
        #expect(try await server.manager.find(Book.self, id: "a")?.stock == 7)
        #expect(try await server.manager.find(Book.self, id: "b") == nil)
        #expect(try await manager.find(Book.self, id: "b") == nil)
        let refused = try await sync.refused()
        #expect(refused.map(\.id) == ["b", "b"])
        #expect(refused.first?.reason == .notAllowed)
        #expect(seen.withLock { $0 }.contains("ann a 1 7"))
        #expect(seen.withLock { $0 }.contains("ann b -1 100"))
        await sync.stop()
        await server.end()
    }
}
