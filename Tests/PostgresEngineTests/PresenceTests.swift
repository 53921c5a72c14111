import CoreDataModel
import Foundation
import PostgresConnection
import PostgresEngine
import PostgresServer
import StoreEngine
import Synchronization
import TestSupport
import Testing

/// Saves tell the server only where somebody else listens.
@Suite("Who listens, and who tells", .needsPostgres)
struct PresenceTests: @unchecked Sendable {
    // @unchecked Sendable: the connection is used by one task at a time.
    let stores: PostgresStores
    let url: URL
    /// Hears what saves tell, without saying that it listens.
    let overhearing: PostgresConnection

    init() throws {
        stores = try PostgresStores()
        url = stores.nextURL()
        overhearing = try stores.database.connect()
        try overhearing.execute("LISTEN pippin")
    }

    private final class News: Sendable {
        let count = Atomic<Int>(0)

        func waits(for count: Int) async throws -> Bool {
            try await eventually { self.count.load(ordering: .relaxed) >= count }
        }
    }

    private struct Program: @unchecked Sendable {
        // @unchecked Sendable: an engine is used by one task at a time.
        let engine: PostgresEngine
        let news = News()
    }

    /// A store that another program has open: one with a connection of its own for news.
    private func open(program: String, listens: Bool = true) throws -> Program {
        // Stores that are reached in the same way share a connection for news.
        let way = program.utf8.reduce(7) { ($0 &* 31 &+ Int($1)) & 0xFF_FFFF }
        let own = try #require(URL(string: "\(url.absoluteString)&application_name=\(program)&keepalives_idle=\(way)"))
        let program = Program(
            engine: try stores.open(
                own, Notes.model, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: listens]))
        if listens {
            let news = program.news
            program.engine.changeNotifications?.observeChanges(
                whileIdle: { $0() }, handler: { news.count.add(1, ordering: .relaxed) })
        }
        return program
    }

    private func save(_ engine: PostgresEngine) throws { _ = try engine.save(Notes.changes(engine, ["a"])) }

    /// How many saves the server has told of since the last time.
    private func told() throws -> Int {
        try overhearing.execute("SELECT 1")
        return try overhearing.notifications().count
    }

    private func holders(_ kind: Int) throws -> [String] {
        try stores.database.rows(
            """
            SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND l.classid = \(kind) \
            AND a.datname = current_database() ORDER BY 1
            """
        ).map { $0[0] }
    }

    @Test("Where nobody listens, the server has nothing to tell")
    func nobody() throws {
        let saver = try open(program: "one", listens: false).engine
        try save(saver)
        try saver.longTransactions?.beginLongTransaction(makesIndexesLater: false)
        try save(saver)
        try saver.longTransactions?.endLongTransaction(commits: true)
        var isFirst = true
        _ = try saver.insertBatch(BatchInsertPlan(entity: try Notes.entity("Note"))) { _ in
            defer { isFirst = false }
            return isFirst
        }
        #expect(try told() == 0)
        #expect(try holders(747_748).isEmpty)
    }

    @Test("Where somebody listens, each kind of save tells")
    func somebody() async throws {
        let saver = try open(program: "one", listens: false).engine
        let listener = try open(program: "two")
        try save(saver)
        #expect(try told() == 1)
        #expect(try await listener.news.waits(for: 1))
        try saver.longTransactions?.beginLongTransaction(makesIndexesLater: false)
        try save(saver)
        try saver.longTransactions?.endLongTransaction(commits: true)
        #expect(try told() == 1)
        var isFirst = true
        _ = try saver.insertBatch(BatchInsertPlan(entity: try Notes.entity("Note"))) { _ in
            defer { isFirst = false }
            return isFirst
        }
        #expect(try told() == 1)
    }

    @Test("A program that listens alone tells its own stores itself, and nobody else")
    func alone() async throws {
        let stores = try (0..<3).map { _ in try open(program: "one") }
        try save(stores[0].engine)
        #expect(try await stores[1].news.waits(for: 1))
        #expect(try await stores[2].news.waits(for: 1))
        #expect(stores[0].news.count.load(ordering: .relaxed) == 0)
        #expect(try told() == 0)
        #expect(try holders(747_749) == ["one"])
    }

    @Test("Who comes later is told by the program that was alone, and tells it; when it goes, the first is alone again")
    func later() async throws {
        let first = try open(program: "one")
        try save(first.engine)
        #expect(try told() == 0)
        let second = try open(program: "two")
        try save(first.engine)
        #expect(try await second.news.waits(for: 1))
        try save(second.engine)
        #expect(try await first.news.waits(for: 1))
        #expect(try told() == 2)
        second.engine.close()
        #expect(try await eventually { try holders(747_750) == [] })
        try save(first.engine)
        #expect(try told() == 0)
    }

    @Test("Whose listening connection is lost is alone no more: it tells whoever has come meanwhile")
    func lost() async throws {
        let first = try open(program: "one")
        try save(first.engine)
        #expect(try told() == 0)
        // It comes back after a second; somebody else is faster.
        _ = try stores.database.rows(
            """
            SELECT pg_terminate_backend(a.pid, 5000) FROM pg_stat_activity a JOIN pg_locks l USING (pid) WHERE l.locktype = 'advisory' AND l.classid = 747748 \
            AND a.datname = current_database()
            """)
        let second = try open(program: "two")
        try save(first.engine)
        #expect(try told() == 1)
        #expect(try await second.news.waits(for: 1))
        // It has heard nothing for a while, and assumes a change.
        #expect(try await first.news.waits(for: 1))
        try save(second.engine)
        #expect(try await first.news.waits(for: 2))
        try save(first.engine)
        #expect(try await second.news.waits(for: 2))
    }

    @Test("A save that found nobody, and ends after somebody has come, is reported by its end")
    func underWay() async throws {
        let saver = try open(program: "one", listens: false).engine
        try save(saver)
        try saver.longTransactions?.beginLongTransaction(makesIndexesLater: false)
        try save(saver)
        let listener = try open(program: "two")
        try await Task.sleep(for: .milliseconds(100))
        #expect(listener.news.count.load(ordering: .relaxed) == 0)
        #expect(try listener.engine.fetchCount(Notes.plan()) == 1)
        try saver.longTransactions?.endLongTransaction(commits: true)
        #expect(try told() == 0)
        #expect(try await listener.news.waits(for: 1))
        #expect(try listener.engine.fetchCount(Notes.plan()) == 2)
    }

    @Test("A save of a program that was alone, whose locks are gone when somebody comes, is reported, too")
    func underWayAndGone() async throws {
        let first = try open(program: "one")
        try first.engine.longTransactions?.beginLongTransaction(makesIndexesLater: false)
        try save(first.engine)
        _ = try stores.database.rows(
            """
            SELECT pg_terminate_backend(a.pid, 5000) FROM pg_stat_activity a JOIN pg_locks l USING (pid) WHERE l.locktype = 'advisory' AND l.classid = 747748 \
            AND a.datname = current_database()
            """)
        let second = try open(program: "two")
        try first.engine.longTransactions?.endLongTransaction(commits: true)
        #expect(try await second.news.waits(for: 1))
        #expect(try second.engine.fetchCount(Notes.plan()) == 1)
    }

    @Test("Who comes while nobody saves has nothing to wait for, and hears nothing")
    func quiet() async throws {
        let saver = try open(program: "one", listens: false).engine
        try save(saver)
        let listener = try open(program: "two")
        try await Task.sleep(for: .milliseconds(100))
        #expect(listener.news.count.load(ordering: .relaxed) == 0)
    }

    @Test("Two that come at the same moment are both told")
    func together() async throws {
        let programs = ["one", "two", "three", "four"]
        let all = try await withThrowingTaskGroup(of: Program.self) { group in
            for program in programs { group.addTask { try open(program: program) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for (index, saver) in all.enumerated() {
            let before = all.map { $0.news.count.load(ordering: .relaxed) }
            try save(saver.engine)
            for (other, listener) in all.enumerated() where other != index {
                #expect(try await listener.news.waits(for: before[other] + 1))
            }
        }
    }

    @Test("A role that may only read hears of saves, and others hear of it")
    func reader() async throws {
        let saver = try open(program: "one", listens: false).engine
        try save(saver)
        let role = "reader_\(stores.database.name)"
        let schema = "store_1"
        let connection = try stores.database.connect()
        try connection.execute(
            """
            CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA \(schema), pippin TO \(role);
            GRANT SELECT ON ALL TABLES IN SCHEMA \(schema), pippin TO \(role)
            """)
        let own = try #require(URL(string: stores.database.uri(user: role) + "&schema=\(schema)"))
        let reader = PostgresEngine(
            StoreFacts(
                url: own,
                options: [
                    NSReadOnlyPersistentStoreOption: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
                ]))
        try reader.open(Notes.model)
        let news = News()
        reader.changeNotifications?.observeChanges(
            whileIdle: { $0() }, handler: { news.count.add(1, ordering: .relaxed) })
        try save(saver)
        #expect(try await news.waits(for: 1))
        reader.close()
        try connection.execute("DROP OWNED BY \(role); DROP ROLE \(role)")
    }

    @Test("Whoever comes and goes while others save knows of the latest save in the end", .timeLimit(.minutes(15)))
    func comingAndGoing() async throws {
        try save(open(program: "first", listens: false).engine)
        for round in 0..<12 {
            let done = News()
            try await withThrowingTaskGroup(of: Void.self) { group in
                // Some of them listen, too.
                for saver in 0..<3 {
                    group.addTask {
                        let engine = try open(program: "saver_\(round)_\(saver)", listens: saver == round % 3).engine
                        for _ in 0..<20 { try save(engine) }
                        engine.close()
                        done.count.add(1, ordering: .relaxed)
                    }
                }
                for listener in 0..<3 {
                    group.addTask {
                        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<60)))
                        let program = try open(program: "listener_\(round)_\(listener)")
                        let (engine, news) = (program.engine, program.news)
                        // What has been read so far, and when something was heard before.
                        var (seen, heard) = (try engine.fetchCount(Notes.plan()), 0)
                        var isQuiet = 0
                        while isQuiet < 60 || done.count.load(ordering: .relaxed) < 3 {
                            try await Task.sleep(for: .milliseconds(5))
                            let now = news.count.load(ordering: .relaxed)
                            isQuiet = now == heard ? isQuiet + 1 : 0
                            guard now != heard else { continue }
                            heard = now
                            seen = try engine.fetchCount(Notes.plan())
                        }
                        #expect(try engine.fetchCount(Notes.plan()) == seen)
                        engine.close()
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
