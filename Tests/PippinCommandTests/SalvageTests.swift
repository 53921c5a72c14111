import CoreData
import TestSupport
import Testing

@testable import PippinCommand

@Suite("What is copied of a damaged store that has more than Core Data's tables")
struct SalvageTests {
    @Test("Virtual tables, whose modules need not be there, tables without row IDs, and columns that are computed")
    func otherTables() throws {
        let store = try SmallStore()
        try execute(
            """
            CREATE VIRTUAL TABLE WORDS USING fts5(content); INSERT INTO WORDS VALUES ('an apple'), ('a pear');
            CREATE TABLE PLACES (NAME TEXT PRIMARY KEY, SIZE INTEGER, TWICE AS (SIZE * 2)) WITHOUT ROWID;
            INSERT INTO PLACES (NAME, SIZE) VALUES ('here', 3), ('there', 4);
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_master VALUES ('table', 'MADE', 'MADE', 0, 'CREATE VIRTUAL TABLE MADE USING nobody(a)')
            """, in: store.folder.store)
        try damage("ZBOOK", in: store.folder.store)
        let copy = store.folder.file("mended.sqlite")
        let run = CommandRun("check", store.path, "--repair", copy.path)
        #expect(run.errors.isEmpty, "\(run.errors)")
        #expect(run.output.contains("of the table “ZBOOK”, the rows cannot be read, and are left out"), "\(run.output)")
        #expect(try plainSQL("SELECT content FROM WORDS WHERE WORDS MATCH 'apple'", in: copy) == ["an apple"])
        #expect(try plainSQL("SELECT * FROM PLACES", in: copy) == ["here|3|6", "there|4|8"])
        #expect(try plainNumber("SELECT COUNT(*) FROM sqlite_master WHERE name = 'MADE'", in: copy) == 1)
        #expect(try plainSQL("SELECT ZNAME FROM ZAUTHOR", in: copy) == ["Jane Austen"])
    }

    @Test("An index whose collation is another program's is left out, and named, of an intact store, too")
    func unknownCollation() throws {
        let store = try SmallStore()
        try execute(
            """
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_master SELECT 'index', 'TITLES', 'ZBOOK', rootpage, 'CREATE INDEX TITLES ON ZBOOK (ZTITLE COLLATE NOBODYS)'
            FROM sqlite_master WHERE name = 'Z_Author_UNIQUE_name'
            """, in: store.folder.store)
        let copy = store.folder.file("mended.sqlite")
        let run = CommandRun("check", store.path, "--repair", copy.path)
        #expect(run.errors.isEmpty, "\(run.errors)")
        #expect(
            run.output.contains("the index “TITLES” cannot be made: no such collation sequence: NOBODYS"),
            "\(run.output)")
        #expect(try plainNumber("SELECT COUNT(*) FROM ZBOOK", in: copy) == 3)
    }

    @Test("Metadata that cannot be read leave a copy whose objects can be, and that check finds wanting")
    func metadata() throws {
        let store = try SmallStore()
        try damage("Z_METADATA", in: store.folder.store)
        let copy = store.folder.file("mended.sqlite")
        let run = CommandRun("check", store.path, "--repair", copy.path)
        #expect(run.status == 3)
        #expect(run.errors.isEmpty, "\(run.errors)")
        #expect(
            run.output.hasSuffix(
                """
                mended.sqlite: one thing is wrong
                  file       there are no metadata, without which no program opens the store: the table Z_METADATA is empty

                """), "\(run.output)")
        #expect(CommandRun("query", copy.path, "Book where pages == 474").output.contains("Emma"))
    }

    @Test("Rows are copied where what makes a store of them is gone, which is said of the copy")
    func rest() throws {
        let store = try SmallStore()
        try execute("DROP TABLE Z_METADATA", in: store.folder.store)
        try damage("ZBOOK", in: store.folder.store)
        let copy = store.folder.file("mended.sqlite")
        let run = CommandRun("check", store.path, "--repair", copy.path)
        #expect(run.status == 3)
        #expect(
            run.output.hasSuffix("without which no program opens the store: there is no table Z_METADATA\n"), "\(run)")
        #expect(try plainSQL("SELECT ZNAME FROM ZAUTHOR", in: copy) == ["Jane Austen"])
    }

    @Test("A history that cannot be read is named by info, which shows the rest")
    func history() throws {
        let store = try SmallStore()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SmallStore.model())
        let opened = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store.folder.store,
            options: [NSPersistentHistoryTrackingKey: true])
        try coordinator.remove(opened)
        try damage("ACHANGE", in: store.folder.store)
        let run = CommandRun("info", store.path)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("of the table “ACHANGE”, the rows cannot be read"), "\(run.output)")
        #expect(run.output.contains("Book   3 objects"))
        #expect(CommandRun("dump", store.path).output.contains("\"Emma\""))
    }
}
