import CoreDataModel
import Foundation
import PostgresConnection
import PostgresEngine
import PostgresServer
import StoreEngine
import Testing

@Suite(
    "A store behind PgBouncer in transaction mode", .needsPostgres,
    .enabled(
        if: Bouncer.program != nil, "PgBouncer is not installed; Scripts/install-dependencies --cluster installs it"))
struct PgBouncerTests {
    @Test("Many save and read at once over two connections, and nothing is lost")
    func many() async throws {
        let database = try TestDatabase()
        let bouncer = try Bouncer(database)
        let url = try #require(URL(string: "postgresql:///\(database.name)?host=\(bouncer.folder)&user=postgres"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<8 {
                group.addTask {
                    let engine = PostgresEngine(
                        StoreFacts(
                            url: url, options: [NSPostgreSQLPooledOption: true, NSPersistentHistoryTrackingKey: true]))
                    try engine.open(Notes.model)
                    for save in 0..<10 {
                        _ = try engine.save(Notes.changes(engine, ["\(client)-\(save)", "\(client)-\(save)"]))
                        let rows = try engine.fetchRows(Notes.plan("text == '\(client)-\(save)'"))
                        #expect(rows.count == 2)
                        _ = try engine.save(Notes.update(rows.prefix(1), to: "changed"))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try database.rows("SELECT count(*) FROM note") == [["160"]])
        #expect(try database.rows("SELECT count(*) FROM note WHERE text = 'changed'") == [["80"]])
        #expect(try database.rows("SELECT latest FROM pippin.stores") == [["160"]])
        #expect(try database.rows("SELECT sum(count) FROM pippin.saves") == [["160"]])
    }

    @Test("What servers say of themselves includes the pools of PgBouncer, where it is used")
    func report() throws {
        let database = try TestDatabase()
        let bouncer = try Bouncer(database)
        let url = try #require(URL(string: "postgresql:///\(database.name)?host=\(bouncer.folder)&user=postgres"))
        let engine = PostgresEngine(StoreFacts(url: url, options: [NSPostgreSQLPooledOption: true]))
        try engine.open(Notes.model)
        let lines = try ServerReport.lines(of: url)
        let pool = lines.first { $0.contains("PgBouncer, \(database.name) as postgres (transaction mode)") }
        #expect(pool?.contains("clients 2 active, 0 waiting") == true, "\(lines)")
        let direct = try ServerReport.lines(of: database.url())
        #expect(!direct.contains { $0.contains("PgBouncer") })
        #expect(direct.contains { $0.contains("connections: ") && $0.contains("longest transaction") }, "\(direct)")
    }

    @Test("Nothing stays prepared or set on the connections that others get next")
    func leavesNothing() throws {
        let database = try TestDatabase()
        let bouncer = try Bouncer(database)
        let url = try #require(URL(string: "postgresql:///\(database.name)?host=\(bouncer.folder)&user=postgres"))
        let engine = PostgresEngine(StoreFacts(url: url, options: [NSPostgreSQLPooledOption: true]))
        try bouncer.explaining {
            try engine.open(Notes.model)
            _ = try engine.save(Notes.changes(engine, ["a"]))
        }
        let other = try PostgresConnection(ConnectionTarget(url.absoluteString), keepsStatements: false)
        #expect(try other.queryOnce("SELECT count(*) FROM pg_prepared_statements").integer(0, 0) == 0)
        #expect(try other.queryOnce("SELECT current_setting('search_path')").string(0, 0).contains("public"))
        #expect(try other.queryOnce("SELECT current_setting('lock_timeout')").string(0, 0) == "0")
    }

    @Test("Neither does it by a store that is copied in one transaction, nor by one that is replaced again")
    func copies() throws {
        let database = try TestDatabase()
        let bouncer = try Bouncer(database)
        let url = try #require(URL(string: "postgresql:///\(database.name)?host=\(bouncer.folder)&user=postgres"))
        let copy = try #require(URL(string: url.absoluteString + "&schema=copy"))
        let engine = PostgresEngine(StoreFacts(url: url, options: [NSPostgreSQLPooledOption: true]))
        try bouncer.explaining {
            try engine.open(Notes.model)
            _ = try engine.save(Notes.changes(engine, ["a"]))
        }
        for _ in 0..<3 { try PostgresFormat.replace(at: copy, from: url, options: [NSPostgreSQLPooledOption: true]) }
        #expect(try database.rows("SELECT text FROM copy.note") == [["a"]])
        let other = try PostgresConnection(ConnectionTarget(url.absoluteString), keepsStatements: false)
        #expect(try other.queryOnce("SELECT count(*) FROM pg_prepared_statements").integer(0, 0) == 0)
        #expect(try other.queryOnce("SELECT current_setting('search_path')").string(0, 0).contains("public"))
        #expect(try other.queryOnce("SELECT current_setting('lock_timeout')").string(0, 0) == "0")
    }
}
