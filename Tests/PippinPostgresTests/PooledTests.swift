import PippinPostgres
import PostgresConnection
import PostgresServer
import Testing

private enum Former {
    struct Book: CoreModel {
        let id: String
        var name: String
    }
}

@Suite(
    "Structs behind PgBouncer in transaction mode", .needsPostgres,
    .enabled(
        if: Bouncer.program != nil, "PgBouncer is not installed; Scripts/install-dependencies --cluster installs it"))
struct PooledTests {
    @Test("are saved, changed and read by several programs at once, and nothing is lost")
    func many() async throws {
        let database = try TestDatabase()
        let bouncer = try Bouncer(database)
        let pool = "postgresql:///\(database.name)?host=\(bouncer.folder)&user=postgres"
        try await PersistenceManager(models: Book.self, store: .postgres(pool, isPooled: true)).save(
            Book(id: "all", title: "All", pages: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<4 {
                group.addTask {
                    let manager = PersistenceManager(models: Book.self, store: .postgres(pool, isPooled: true))
                    for save in 0..<10 {
                        try await manager.write { books in
                            try books.insert(Book(id: "\(client)-\(save)", title: "One"))
                            guard var all = try books.find(Book.self, id: "all") else { return }
                            all.pages += 1
                            try books.update(all)
                        }
                        _ = try await manager.read { try $0.fetch(Book.self, where: \.title == "One") }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try database.rows("SELECT count(*) FROM public.book WHERE title = 'One'") == [["40"]])
        #expect(try database.rows("SELECT pages FROM public.book WHERE id = 'all'") == [["40"]])
    }

    @Test("are migrated by a plan, and destroyed, with nothing left set on the connections that others get next")
    func plan() async throws {
        let database = try TestDatabase()
        let bouncer = try Bouncer(database)
        let pool = "postgresql:///\(database.name)?host=\(bouncer.folder)&user=postgres"
        let former = PersistenceManager(models: Former.Book.self, store: .postgres(pool, isPooled: true))
        try await former.save(Former.Book(id: "1", name: "Emma"))
        let plan = MigrationPlan(from: ModelVersion("1", models: Former.Book.self)).changing(
            to: ModelVersion("2", models: Book.self),
            .model(Former.Book.self, to: Book.self) { Book(id: $0.id, title: $0.name) })
        let manager = PersistenceManager(models: Book.self, store: .postgres(pool, isPooled: true))
        try await manager.load(migratingBy: plan)
        #expect(try await manager.fetch(Book.self).map(\.title) == ["Emma"])
        try await manager.destroy()
        let connections = try (0..<2).map { _ in try PostgresConnection(ConnectionTarget(pool), keepsStatements: false)
        }
        for connection in connections { try connection.execute("BEGIN") }
        for connection in connections {
            #expect(try connection.query("SELECT current_setting('search_path')").string(0, 0) == "\"$user\", public")
        }
    }
}
