import Foundation
import SQLiteConnection
import TestSupport
import Testing
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@_spi(GeneratedCode) @testable import CoreData

/// A store with two tags and a book with three chapters, closed, and then damaged.
private struct DamagedStore {
    let folder: TestFolder
    let url: URL
    private let options: [AnyHashable: Any]

    /// - Parameters:
    ///   - damage: the SQL that somebody ran.
    ///   - tracksHistory: whether the store has a history.
    /// - Throws: what making and damaging the store throw.
    init(_ damage: String, tracksHistory: Bool = false) throws {
        folder = try TestFolder()
        url = folder.file("library.sqlite")
        options = tracksHistory ? [NSPersistentHistoryTrackingKey: true] : [:]
        try work { context in
            context.make("Tag", ["name": "a"])
            context.make("Tag", ["name": "b"])
            let book = context.make("Book", ["title": "t"])
            for title in ["1", "2", "3"] {
                book.mutableOrderedSetValue(forKey: "chapters").add(context.make("Chapter", ["title": title]))
                try context.save()
            }
        }
        let connection = try Connection(path: url.path, mode: .readWrite)
        try connection.execute(damage)
    }

    /// Opens the store, and closes it again.
    func work<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let result = try context.performAndWait { try body(context) }
        try coordinator.remove(store)
        return result
    }

    /// The error of a save.
    func failure(_ body: (NSManagedObjectContext) throws -> Void) throws -> NSError? {
        try work { context in
            try body(context)
            do { try context.save() } catch { return error as NSError }
            return nil
        }
    }

    func rows(_ sql: String) throws -> [String] { try plainSQL(sql, in: url) }
}

@Suite("What a damaged store says is an error, or a value, and never ends the program")
struct DamagedStoreTests {
    @Test(
        "Where no keys are left, or Z_PRIMARYKEY counts none, an insertion fails and names the table",
        arguments: ["9223372036854775807", "9223372036854775806", "'many'", "NULL", "x'00'"])
    func noKeys(maximum: String) throws {
        let store = try DamagedStore("UPDATE Z_PRIMARYKEY SET Z_MAX = \(maximum) WHERE Z_NAME = 'Tag'")
        let error = try store.failure { $0.make("Tag", ["name": "c"]) }
        #expect(error?.code == CocoaError.Code.fileReadCorruptFile.rawValue)
        #expect(error?.localizedDescription.contains("ZTAG") == true)
        #expect(try store.rows("SELECT ZNAME FROM ZTAG") == ["a", "b"])
        let found = try store.work { try $0.all("Tag", by: "name").map { $0.string("name") } }
        #expect(found == ["a", "b"])
    }

    @Test("A row with the greatest key there is leaves none for others")
    func greatestKey() throws {
        let store = try DamagedStore("UPDATE ZTAG SET Z_PK = 9223372036854775807 WHERE Z_PK = 2")
        let error = try store.failure { $0.make("Tag", ["name": "c"]) }
        #expect(error?.code == CocoaError.Code.fileReadCorruptFile.rawValue)
        #expect(try store.rows("SELECT ZNAME FROM ZTAG") == ["a", "b"])
    }

    @Test(
        "Rows that Z_PRIMARYKEY has not counted keep their keys: new objects get others", arguments: ["0", "1", "-7"])
    func uncountedRows(maximum: String) throws {
        let store = try DamagedStore("UPDATE Z_PRIMARYKEY SET Z_MAX = \(maximum)", tracksHistory: true)
        let error = try store.failure { $0.make("Tag", ["name": "c"]) }
        #expect(error == nil)
        #expect(try store.rows("SELECT Z_PK, ZNAME FROM ZTAG ORDER BY Z_PK") == ["1|a", "2|b", "3|c"])
        #expect(try store.rows("SELECT COUNT(*), MAX(Z_PK) FROM ATRANSACTION") == ["4|4"])
    }

    @Test("A batch insertion that updates rows with the same values does not write over rows that were not counted")
    func uncountedRowsInBatch() throws {
        let store = try BatchStore(BatchStore.uniqueModel())
        try store.save { $0.make("Item", ["code": "a", "title": "first"]) }
        let connection = try Connection(path: store.url.path, mode: .readWrite)
        try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 0")
        store.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        _ = try store.execute(
            NSBatchInsertRequest(entityName: "Item", objects: [["code": "b", "title": "second"]]),
            NSBatchInsertResult.self)
        #expect(try store.rows("SELECT Z_PK, ZCODE, ZTITLE FROM ZITEM ORDER BY Z_PK") == ["1|a|first", "2|b|second"])
    }

    @Test(
        "Where the history has no numbers left, a save fails and writes nothing",
        arguments: [16001, 16002])
    func historyWithoutKeys(entity: Int) throws {
        let store = try DamagedStore(
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_ENT = \(entity)", tracksHistory: true)
        let error = try store.failure { $0.make("Tag", ["name": "c"]) }
        #expect(error?.code == CocoaError.Code.fileReadCorruptFile.rawValue)
        #expect(error?.localizedDescription.contains("\(entity)") == true)
        #expect(try store.rows("SELECT ZNAME FROM ZTAG") == ["a", "b"])
    }

    @Test("A token with the greatest number there is has expired: the store never had that transaction")
    func greatestToken() throws {
        let store = try DamagedStore("", tracksHistory: true)
        let error = try store.work { context in
            let identity = try #require(context.persistentStoreCoordinator?.persistentStores.first).identity
            let token = NSPersistentHistoryToken([identity.uuid: .max])
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            return #expect(throws: NSError.self) { try context.execute(request) }
        }
        #expect(error?.code == 134301)
    }

    @Test("A row whose version is the greatest number can be changed again and again")
    func greatestVersion() throws {
        let store = try DamagedStore("UPDATE ZTAG SET Z_OPT = 9223372036854775807")
        for name in ["c", "d"] {
            let error = try store.failure { context in
                for tag in try context.all("Tag") { tag.setValue(name, forKey: "name") }
            }
            #expect(error == nil)
        }
        #expect(try store.rows("SELECT ZNAME FROM ZTAG") == ["d", "d"])
    }

    @Test(
        "An order with keys at the ends of what an integer holds can be changed",
        arguments: [
            "9223372036854775807", "-9223372036854775808", "9223372036854775807 - Z_PK",
            "CASE Z_PK WHEN 1 THEN -9223372036854775808 ELSE 9223372036854775800 + Z_PK END", "5", "'x'", "NULL",
            "1e300",
        ])
    func orderKeys(key: String) throws {
        let store = try DamagedStore("UPDATE ZCHAPTER SET Z_FOK_BOOK = \(key)")
        let wanted = try store.work { context -> [String?] in
            let book = try #require(try context.all("Book").first)
            let chapters = book.mutableOrderedSetValue(forKey: "chapters")
            chapters.add(context.make("Chapter", ["title": "new"]))
            chapters.moveObjects(at: IndexSet(integer: 3), to: 1)
            try context.save()
            return chapters.map { ($0 as? NSManagedObject)?.string("title") }
        }
        let found = try store.work { context in
            let book = try #require(try context.all("Book").first)
            return (book.value(forKey: "chapters") as? NSOrderedSet)?.map { ($0 as? NSManagedObject)?.string("title") }
        }
        #expect(wanted.count == 4)
        #expect(found == wanted)
    }

    @Test("Metadata that ask for tables and columns of the model to be removed are not obeyed")
    func hostileCleanup() throws {
        let store = try DamagedStore("CREATE TABLE left (a)")
        let file = try StoreFile.open(store.url, mode: .readWrite)
        try file.write([
            "PippinDeferredMigrationTasks": [
                ["ZTAG"], ["ZTAG", "ZNAME"], ["ZTAG", "Z_OPT"], ["Z_METADATA"], ["Z_PRIMARYKEY", "Z_MAX"], ["left"],
            ]
        ])
        let names = try store.work { context in
            try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
            return try context.all("Tag", by: "name").map { $0.string("name") }
        }
        #expect(names == ["a", "b"])
        #expect(try store.rows("SELECT name FROM sqlite_master WHERE name IN ('ZTAG', 'left')") == ["ZTAG"])
        #expect(try store.rows("SELECT ZNAME, Z_OPT FROM ZTAG") == ["a|1", "b|1"])
    }

    @Test(
        "A relationship leads to objects of its destination, whatever entity the row says",
        arguments: [1, 2, 6, 99, -1])
    func wrongEntity(number: Int) throws {
        let store = try DamagedStore("")
        let connection = try Connection(path: store.url.path, mode: .readWrite)
        let column = try #require(
            try connection.columnNames(ofTable: "ZCHAPTER").first { $0.hasSuffix("_BOOK") && !$0.contains("FOK") })
        try connection.execute("UPDATE ZCHAPTER SET ZBOOK = 1, \(quoted(column)) = \(number)")
        let names = try store.work { context in
            try context.all("Chapter").map { ($0.value(forKey: "book") as? NSManagedObject)?.layout.root.name }
        }
        #expect(names == ["Book", "Book", "Book"])
    }

    @Test(
        "Where Z_PRIMARYKEY gives entities other numbers than their rows have, the store is damaged, not empty",
        arguments: [
            "UPDATE ZBOOK SET Z_ENT = 99", "UPDATE ZBOOK SET Z_ENT = NULL",
            "INSERT INTO Z_PRIMARYKEY VALUES (77, 'Book', 0, 5)",
        ])
    func otherNumbers(damage: String) throws {
        let store = try DamagedStore(damage)
        let error = #expect(throws: NSError.self) { _ = try store.work { try $0.all("Book").count } }
        #expect(error?.code == CocoaError.Code.fileReadCorruptFile.rawValue)
        #expect(error?.localizedDescription.contains("Book") == true)
    }

    @Test("Rows without a version, as tools leave them that fill a store by SQL, are changed and deleted")
    func noVersion() throws {
        let store = try DamagedStore("UPDATE ZTAG SET Z_OPT = NULL; UPDATE ZBOOK SET Z_OPT = NULL")
        try store.work { context in
            let tags = try context.all("Tag", by: "name")
            tags[0].setValue("c", forKey: "name")
            context.delete(tags[1])
            try context.all("Book").first?.setValue("u", forKey: "title")
            try context.save()
            tags[0].setValue("d", forKey: "name")
            try context.save()
        }
        #expect(try store.rows("SELECT ZNAME, Z_OPT FROM ZTAG") == ["d|2"])
        #expect(try store.rows("SELECT ZTITLE, Z_OPT FROM ZBOOK") == ["u|1"])
    }

    @Test("A row without a version that another context has changed is a conflict")
    func noVersionInConflict() throws {
        let store = try DamagedStore("UPDATE ZTAG SET Z_OPT = NULL")
        let error = try store.failure { context in
            let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            other.persistentStoreCoordinator = context.persistentStoreCoordinator
            try context.all("Tag", by: "name").first?.setValue("c", forKey: "name")
            try other.performAndWait {
                try other.all("Tag", by: "name").first?.setValue("d", forKey: "name")
                try other.save()
            }
        }
        #expect(error?.code == CoreDataErrorCode.managedObjectMerge)
        #expect(try store.rows("SELECT ZNAME FROM ZTAG ORDER BY 1") == ["b", "d"])
    }

    private enum Kind: Int16 { case first, second }

    @Test("A number that is not a case of an enumeration is not a value, or the first case, and stays as it is")
    func noCase() throws {
        let store = try DamagedStore(
            "INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME, ZAGE) VALUES (1, 1, 1, 'Ann', 77)")
        try store.work { context in
            let author = try #require(try context.all("Author").first)
            let kind: Kind? = author.managedValue(ManagedPropertyKey("age"))
            let expected: Kind = author.managedValue(ManagedPropertyKey("age"))
            #expect(kind == nil)
            #expect(expected == .first)
            author.setValue("Bob", forKey: "name")
            try context.save()
        }
        #expect(try store.rows("SELECT ZNAME, ZAGE FROM ZAUTHOR") == ["Bob|77"])
    }

    @Test("An invalid UUID is not a value for a property of that type, and stays as it is")
    func noUUID() throws {
        let store = try DamagedStore(
            "INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME, ZTOKEN) VALUES (1, 1, 1, 'Ann', x'0102')")
        try store.work { context in
            let author = try #require(try context.all("Author").first)
            let token: UUID? = author.managedValue(ManagedPropertyKey("token"))
            #expect(token == nil)
            author.setValue("Bob", forKey: "name")
            try context.save()
        }
        #expect(try store.rows("SELECT ZNAME, ZTOKEN FROM ZAUTHOR") == ["Bob|0102"])
    }
}
