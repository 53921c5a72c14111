import CoreDataPostgres
import Foundation
import PippinPostgres
import PostgresConnection
import PostgresServer
import Testing

/// Versions of one shop's models.
private enum V1 {
    struct Book: CoreModel {
        let id: String
        var title: String
        var pages: Int32 = 0
        var note: String?
    }
}

private enum V2 {
    struct Book: CoreModel {
        let id: String
        var title: String
        var pages: Int64 = 0
        var note: String?
        var price: Double = 9.5
        var reviews: [Review] = []

        static var schema: Schema<Book> { Schema(.defaultValue(\.price, 9.5)) }
    }

    struct Review: CoreModel {
        let id: String
        var stars: Int
    }
}

private enum V3 {
    struct Book: CoreModel {
        let id: String
        var name: String
    }
}

@Suite("Structs that change, in PostgreSQL", .needsPostgres)
struct MigrationTests {
    private let database: TestDatabase
    private var store: StoreLocation { .postgres(database.uri()) }

    init() throws { database = try TestDatabase() }

    private func makeFirst(_ count: Int = 3) async throws -> PersistenceManager {
        let manager = PersistenceManager(models: V1.Book.self, store: store)
        try await manager.save((0..<count).map { V1.Book(id: "\($0)", title: "Title \($0)", pages: Int32($0)) })
        return manager
    }

    @Test("get their columns and tables, and lose nothing")
    func adding() async throws {
        _ = try await makeFirst()
        let manager = PersistenceManager(models: V2.Book.self, V2.Review.self, store: store)
        let books = try await manager.fetch(V2.Book.self, sortedBy: .ascending(\.id))
        #expect(books.map(\.title) == ["Title 0", "Title 1", "Title 2"])
        #expect(books.map(\.pages) == [0, 1, 2])
        #expect(books.map(\.price) == [9.5, 9.5, 9.5])
        var book = books[0]
        book.pages = 1 << 40
        book.reviews = [V2.Review(id: "r", stars: 5)]
        try await manager.save(book)
        #expect(try await manager.find(V2.Book.self, id: "0")?.reviews.map(\.stars) == [5])
    }

    @Test("are refused, with what it is, if they would lose what is stored; the store is as it was")
    func losing() async throws {
        _ = try await makeFirst()
        let manager = PersistenceManager(models: V3.Book.self, store: store)
        let error = await #expect(throws: PersistenceError.self) { try await manager.load() }
        #expect(error?.code == .wouldLose)
        #expect(try database.rows("SELECT title FROM public.book ORDER BY 1").count == 3)
    }

    @Test("follow a plan with a step in Swift")
    func plan() async throws {
        _ = try await makeFirst()
        let plan = MigrationPlan(from: ModelVersion("1", models: V1.Book.self))
            .changing(
                to: ModelVersion("3", models: V3.Book.self),
                .model(V1.Book.self, to: V3.Book.self) { V3.Book(id: $0.id, name: $0.title.uppercased()) })
        let manager = PersistenceManager(models: V3.Book.self, store: store)
        try await manager.load(migratingBy: plan)
        let books = try await manager.fetch(V3.Book.self, sortedBy: .ascending(\.id))
        #expect(books.map(\.name) == ["TITLE 0", "TITLE 1", "TITLE 2"])
        #expect(try database.rows("SELECT nspname FROM pg_namespace WHERE nspname LIKE '%successor%'").isEmpty)
    }

    @Test("leave nothing of a plan whose step fails")
    func failingPlan() async throws {
        struct Stop: Error {}
        _ = try await makeFirst()
        let plan = MigrationPlan(from: ModelVersion("1", models: V1.Book.self))
            .changing(
                to: ModelVersion("3", models: V3.Book.self),
                .model(V1.Book.self, to: V3.Book.self) { _ in throw Stop() })
        let manager = PersistenceManager(models: V3.Book.self, store: store)
        await #expect(throws: (any Error).self) { try await manager.load(migratingBy: plan) }
        #expect(try database.rows("SELECT title FROM public.book").count == 3)
        #expect(try database.rows("SELECT schema_name FROM pippin.stores").count == 1)
    }

    @Test("are migrated by one of many programs that start at once, and the others go on")
    func together() async throws {
        _ = try await makeFirst()
        let store = store
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let manager = PersistenceManager(models: V2.Book.self, V2.Review.self, store: store)
                    return try await manager.count(V2.Book.self)
                }
            }
            for try await count in group { #expect(count == 3) }
        }
    }

    @Test("give a program that still has the former ones a clear error when it saves")
    func former() async throws {
        let old = try await makeFirst()
        let new = PersistenceManager(models: V2.Book.self, V2.Review.self, store: store)
        try await new.load()
        let error = await #expect(throws: PersistenceError.self) {
            try await old.save(V1.Book(id: "9", title: "Late"))
        }
        #expect(
            "\(error.map { "\($0)" } ?? "")".contains("migrated to another version of its model"),
            "\(String(describing: error))")
        #expect(try await new.count(V2.Book.self) == 3)
    }

    @Test("leave programs alone whose own models are as they were")
    func others() async throws {
        struct Note: CoreModel {
            let id: String
            var text: String
        }
        let old = try await makeFirst()
        let other = PersistenceManager(models: Note.self, store: store)
        try await other.save(Note(id: "n", text: "Hello"))
        try await old.save(V1.Book(id: "9", title: "Late"))
        #expect(try await old.count(V1.Book.self) == 4)
        #expect(try await other.count(Note.self) == 1)
    }

    @Test("name the statements that a role may not run")
    func rights() async throws {
        let owner = "owner_\(database.name)"
        let application = "application_\(database.name)"
        let administrator = try database.connect()
        try administrator.execute(
            """
            CREATE ROLE \(owner) LOGIN; CREATE ROLE \(application) LOGIN;
            GRANT CREATE ON DATABASE \(database.name) TO \(owner); GRANT CREATE, USAGE ON SCHEMA public TO \(owner)
            """)
        let made = PersistenceManager(models: V1.Book.self, store: .postgres(database.uri(user: owner)))
        try await made.save(V1.Book(id: "1", title: "Emma"))
        try database.connect(user: owner).execute(
            """
            GRANT USAGE ON SCHEMA public, pippin TO \(application);
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public, pippin TO \(application);
            GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO \(application)
            """)
        let changed = PersistenceManager(
            models: V2.Book.self, V2.Review.self, store: .postgres(database.uri(user: application)))
        do {
            try await changed.load()
            Issue.record("The role may change tables.")
        } catch {
            let text = "\(error)\((error as NSError).localizedDescription)"
            #expect(text.contains("ADD COLUMN \"price\""), "\(text)")
        }
        // The owner's program migrates; the application may use the new table, too.
        try await PersistenceManager(
            models: V2.Book.self, V2.Review.self, store: .postgres(database.uri(user: owner))
        ).load()
        try await changed.save(V2.Book(id: "2", title: "Persuasion", reviews: [V2.Review(id: "r", stars: 4)]))
        #expect(try await changed.count(V2.Book.self) == 2)
    }

    @Test("A constraint that is given up goes, also where a table has the usual name of its index")
    func releasedConstraint() async throws {
        let first = PersistenceManager(models: Unique.Book.self, Unique.BookTitleUnique.self, store: store)
        try await first.save(Unique.Book(id: "1", title: "Emma"))
        let second = PersistenceManager(models: Released.Book.self, Unique.BookTitleUnique.self, store: store)
        try await second.save(Released.Book(id: "2", title: "Emma"))
        #expect(try database.rows("SELECT id::text FROM book ORDER BY 1") == [["1"], ["2"]])
    }
}

private enum Unique {
    struct Book: CoreModel {
        let id: String
        var title: String
        static var schema: Schema<Book> { Schema(.unique(\.title)) }
    }

    struct BookTitleUnique: CoreModel {
        let id: String
    }
}

private enum Released {
    struct Book: CoreModel {
        let id: String
        var title: String
        static var schema: Schema<Book> { Schema(.notUnique(\.title)) }
    }
}
