import Foundation
import PippinPostgres
import PostgresEngine
import PostgresServer
import TestSupport
import Testing

@testable import PippinSync

@Suite("Files and a PostgreSQL server", .needsPostgres, .ownThread)
struct PostgresSyncTests {
    private let database: TestDatabase
    private var server: StoreLocation { .postgres(database.uri(), keepsHistory: .always) }

    init() throws { database = try TestDatabase() }

    @Test("have the same rows once all is sent and heard, whatever was done on each meanwhile")
    func convergence() async throws { try await ConvergenceTests.run(seed: 11, server: server) }

    @Test("are in step by themselves: what a device or the server's program saves is soon on the other devices")
    func live() async throws {
        let shop = try await SyncShop(server: server, isLive: true)
        try await shop[0].save(Book(id: "b", title: "0"))
        try await Self.wait { try await shop[1].find(Book.self, id: "b") != nil }
        var times: [Duration] = []
        for number in 1...20 {
            let start = ContinuousClock.now
            try await shop[0].update(Book.self, where: \.id == "b") { $0.set(\.stock, to: number) }
            try await Self.wait { try await shop[1].find(Book.self, id: "b")?.stock == number }
            times.append(ContinuousClock.now - start)
        }
        times.sort()
        print("From a save to the other device: median \(times[10]), longest \(times[19])")
        #expect(times[10] < .seconds(1))
        let other = SyncShop.manager(server)
        try await other.save(Book(id: "c", title: "by the server's program"))
        try await Self.wait { try await shop[0].find(Book.self, id: "c") != nil }
        await shop.end()
    }

    @Test("send the rows that a store on a server had before it had a history, and what is saved later")
    func rowsBeforeHistory() async throws {
        let folder = try TestFolder()
        let central = StoreLocation.file(folder.url.appendingPathComponent("central.sqlite"), keepsHistory: .always)
        var manager = SyncShop.manager(.postgres(database.uri()))
        try await manager.save(
            Shelf(id: "s", name: "S", books: [Book(id: "b2", title: "2"), Book(id: "b1", title: "1")]))
        await manager.close()
        manager = SyncShop.manager(server)
        let sync = try StoreSync(manager, central, isLive: false)
        try await sync.finish()
        #expect(try await SyncShop.text(SyncShop.manager(central)).contains("shelf s S: b2 b1"))
        #expect(try database.rows("SELECT count(*) FROM pippin.transactions WHERE context_name IS NULL") == [["1"]])
        try await manager.update(Book.self, where: \.id == "b1") { $0.set(\.title, to: "later") }
        try await sync.finish()
        #expect(try await SyncShop.manager(central).find(Book.self, id: "b1")?.title == "later")
        await sync.stop()
    }

    @Test("ask an idle server one question now and then, and nothing else")
    func idle() async throws {
        let folder = try TestFolder()
        let manager = SyncShop.manager(.file(folder.url.appendingPathComponent("device.sqlite"), keepsHistory: .always))
        let sync = try StoreSync(manager, server, idle: 100)
        try await Self.wait { if case .upToDate = sync.state { true } else { false } }
        try await Task.sleep(for: .milliseconds(300))
        let (start, before) = (ContinuousClock.now, try sync.roundTrips)
        try await Task.sleep(for: .seconds(2))
        let asked = try sync.roundTrips - before
        let intervals = Int((ContinuousClock.now - start) / .milliseconds(100))
        print("Questions to an idle server in \(intervals) intervals: \(asked)")
        // With the usual five minutes between two of them, an hour has 12.
        #expect((2...intervals + 2).contains(asked))
        await sync.stop()
    }

    /// Waits until something is so.
    static func wait(_ condition: () async throws -> Bool) async throws {
        for _ in 0..<5_000 {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(2))
        }
        Issue.record("Ten seconds were not enough.")
    }
}

extension StoreSync {
    /// How often the server was asked over the connection that the sync uses.
    fileprivate var roundTrips: Int {
        get throws { try #require((runner.server as? StoreServer)?.engine as? PostgresEngine).roundTrips }
    }
}
