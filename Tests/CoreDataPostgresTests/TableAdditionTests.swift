import CoreDataPostgres
import Foundation
import PostgresConnection
import PostgresServer
import Synchronization
import Testing

/// Does what others might do while a store is migrated.
final class Meddling: NSEntityMigrationPolicy {
    static let works = Mutex<[@Sendable () throws -> Void]>([])
    /// The states of the server's errors.
    static let states = Mutex<[String]>([])

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        for work in Self.works.withLock({ $0 }) {
            do { try work() } catch let error as PostgresError { Self.states.withLock { $0.append(error.state) } }
        }
        try super.begin(mapping, with: manager)
    }
}

@Suite("What others have added to a table", .needsPostgres)
struct TableAdditionTests {
    private let database: TestDatabase

    init() throws {
        database = try TestDatabase()
        try open(model()) { context in
            _ = context.insert("Book", ["title": "A"])
            _ = context.insert("Novel", ["title": "B"])
            try context.save()
        }
    }

    struct Addition: CustomTestStringConvertible {
        let sql: String
        let text: String
        let removal: String
        var testDescription: String { text }
    }

    private static let additions = [
        Addition(
            sql: "ALTER TABLE book ADD COLUMN note text; UPDATE book SET note = 'kept'", text: "the column “note”",
            removal: "ALTER TABLE book DROP COLUMN note"),
        Addition(
            sql: """
                CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
                CREATE TRIGGER audited BEFORE UPDATE ON book FOR EACH ROW EXECUTE FUNCTION audit()
                """, text: "the trigger “audited”", removal: "DROP TRIGGER audited ON book"),
        Addition(
            sql: "CREATE POLICY readers ON book USING (true)", text: "the policy “readers”",
            removal: "DROP POLICY readers ON book"),
        Addition(
            sql: "ALTER TABLE book ENABLE ROW LEVEL SECURITY", text: "the row-level security",
            removal: "ALTER TABLE book DISABLE ROW LEVEL SECURITY"),
    ]

    /// Books, and novels, which are books or have a table of their own.
    private func model(novelsAreBooks: Bool = true, _ further: String...) -> NSManagedObjectModel {
        let (book, novel) = (NSEntityDescription(), NSEntityDescription())
        (book.name, novel.name) = ("Book", "Novel")
        func attributes(_ names: [String]) -> [NSAttributeDescription] {
            names.map { name in
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .stringAttributeType, true)
                return attribute
            }
        }
        book.properties = attributes(["title"] + further)
        if novelsAreBooks { book.subentities = [novel] } else { novel.properties = attributes(["title"]) }
        let model = NSManagedObjectModel()
        model.entities = [book, novel]
        return model
    }

    private func open(
        _ model: NSManagedObjectModel, _ work: (NSManagedObjectContext) throws -> Void = { _ in }
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(),
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try work(context)
        try coordinator.remove(store)
    }

    private func expectRefusal(_ addition: Addition, _ migrate: () throws -> Void) throws {
        try database.connect().execute(addition.sql)
        let error = #expect(throws: NSError.self) { try migrate() }
        #expect(error?.code == 134110)
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("book: \(addition.text)"), "\(text)")
        #expect(try database.rows("SELECT title FROM book ORDER BY 1") == [["A"], ["B"]])
        try database.connect().execute(addition.removal)
        try migrate()
    }

    @Test("stops a migration that makes the table anew, and is named", arguments: additions)
    func rebuilding(_ addition: Addition) throws {
        try expectRefusal(addition) { try open(model(novelsAreBooks: false)) }
        #expect(try database.rows("SELECT title FROM novel") == [["B"]])
    }

    @Test("stops a migration by a mapping model, and is named", arguments: additions)
    func mapping(_ addition: Addition) throws {
        let new = model("subtitle")
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model(), destinationModel: new)
        try expectRefusal(addition) {
            try StoreMigration(of: NSPostgreSQLStoreType, at: database.url(), to: new, mapping: mapping).run()
        }
        #expect(try database.rows("SELECT title FROM book ORDER BY 1") == [["A"], ["B"]])
    }

    @Test("waits for the end of a migration that makes the tables anew, as rows that plain SQL writes do")
    func duringMapping() throws {
        let new = model("subtitle")
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model(), destinationModel: new)
        mapping.entityMappings.first?.entityMigrationPolicyClassName = NSStringFromClass(Meddling.self)
        let database = database
        Meddling.works.withLock { works in
            works = ["INSERT INTO book (title, _entity) VALUES ('C', 1)", "ALTER TABLE book ADD note text"].map { sql in
                { try database.connect().execute("SET lock_timeout = 100; \(sql)") }
            }
        }
        try StoreMigration(of: NSPostgreSQLStoreType, at: database.url(), to: new, mapping: mapping).run()
        #expect(Meddling.states.withLock { $0 } == ["55P03", "55P03"])
        #expect(try database.rows("SELECT title FROM book ORDER BY 1") == [["A"], ["B"]])
    }

    @Test("stays with a table that stays", arguments: additions)
    func altering(_ addition: Addition) throws {
        try database.connect().execute(addition.sql)
        try open(model("subtitle"))
        let found = try database.rows(
            """
            SELECT attname FROM pg_attribute WHERE attrelid = 'book'::regclass AND attname = 'note' \
            UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal UNION ALL SELECT polname FROM pg_policy \
            UNION ALL SELECT 'enabled' FROM pg_class WHERE relrowsecurity
            """)
        #expect(found.count == 1)
    }
}
