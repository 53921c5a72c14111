import CoreData
import SQLiteConnection
import TestSupport
import Testing

@testable import PippinCommand

@Suite("A store that a program with a rollback journal was writing to when it was interrupted")
struct InterruptedWriterTests {
    private let folder: TestFolder
    private var path: String { folder.file("interrupted.sqlite").path }

    /// Copies a store and its journal in the midst of a transaction, a part of which is in the file already.
    init() throws {
        let store = try SmallStore()
        folder = try TestFolder()
        let connection = try Connection(path: store.path, mode: .readWrite)
        try connection.execute(
            """
            PRAGMA journal_mode = DELETE; PRAGMA cache_size = 10;
            WITH RECURSIVE numbers(n) AS (SELECT 4 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000)
            INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE)
            SELECT n, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'), 1, printf('%.*c', 500, 'x') FROM numbers;
            UPDATE Z_PRIMARYKEY SET Z_MAX = 1000 WHERE Z_NAME = 'Book';
            BEGIN IMMEDIATE; UPDATE ZBOOK SET ZPAGES = -1
            """)
        for suffix in ["", "-journal"] {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: path + suffix)
        }
        try #require(try Data(contentsOf: URL(fileURLWithPath: path + "-journal")).count > 100_000)
        withExtendedLifetime(connection) {}
    }

    private func contents() throws -> [Data] {
        try ["", "-journal"].map { try Data(contentsOf: URL(fileURLWithPath: path + $0)) }
    }

    @Test("is read as it was before, and stays as it is", arguments: ["query", "copy"])
    func reading(command: String) throws {
        let before = try contents()
        var source = path
        if command == "copy" {
            source = folder.file("copy.sqlite").path
            #expect(CommandRun("copy", path, source).status == 0)
        }
        let run = CommandRun("query", source, "Book where pages == -1", "--format", "jsonl")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "")
        #expect(try contents() == before)
    }

    @Test("is not read in place, since that would change it, which says what to do instead")
    func inPlace() throws {
        let before = try contents()
        let run = CommandRun("query", path, "Book", "--in-place")
        #expect(run.status == 1)
        #expect(run.output == "")
        #expect(run.errors.contains("a program was interrupted while it wrote to it"), "\(run.errors)")
        #expect(run.errors.contains("Leave out --in-place"))
        #expect(try contents() == before)
    }

    @Test("has its former values in a program that opens it for reading only")
    func readOnly() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SmallStore.model())
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path),
            options: [NSReadOnlyPersistentStoreOption: true])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        let count = try context.performAndWait { () throws in try context.count(for: request) }
        #expect(count == 1000)
        request.predicate = NSPredicate(format: "pages == -1")
        let changed = try context.performAndWait { () throws in try context.count(for: request) }
        #expect(changed == 0)
    }
}
