import PippinPostgres
import PostgresServer
import Testing

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
}
