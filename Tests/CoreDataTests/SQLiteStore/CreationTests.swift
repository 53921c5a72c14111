import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Making and opening stores")
struct CreationTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("A new store has Core Data's page size, vacuum, journal, bookkeeping and metadata")
    func creation() throws {
        let store = try openStore(FixtureModel.cars(), at: folder.store)
        let connection = try store.current().connection
        #expect(try connection.integer("PRAGMA page_size") == 4096)
        #expect(try connection.integer("PRAGMA auto_vacuum") == 2)
        #expect(try connection.string("PRAGMA journal_mode") == "wal")
        #expect(
            try plainSQL("SELECT * FROM Z_PRIMARYKEY", in: folder.store)
                == ["1|Car|0|0", "2|SportCar|1|0", "3|ExpensiveSportCar|2|0", "4|Person|0|0"])
        #expect(
            try plainSQL("SELECT Z_VERSION, Z_UUID FROM Z_METADATA", in: folder.store) == [
                "1|\(store.identifier)"
            ])
        let metadata = try SQLiteFormat.metadata(at: folder.store)
        #expect(metadata[NSStoreTypeKey] as? String == "SQLite")
        #expect(metadata["NSStoreModelVersionHashesVersion"] as? Int == 3)
        #expect(metadata["_NSAutoVacuumLevel"] as? String == "2")
        let hashes = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        #expect(hashes.count == 4)
        #expect(metadata["NSStoreModelVersionHashesDigest"] as? String == VersionHash.digest(of: hashes))
    }

    @Test("The copy of the model in a new store is the model")
    func modelCache() throws {
        let store = try openStore(FixtureModel.cars(), at: folder.store)
        let cached = try #require(try store.current().file.cachedModel())
        #expect(cached.entitiesByName.keys.sorted() == ["Car", "ExpensiveSportCar", "Person", "SportCar"])
        #expect(cached.entitiesByName["Car"]?.uniquenessConstraintNames == [["numberPlate"]])
    }

    @Test("A store opens again with the same model, keeps its UUID and the metadata that were set")
    func reopening() throws {
        let first = try openStore(FixtureModel.users(), at: folder.store)
        let uuid = first.identifier
        first.metadata["owner"] = "me"
        try first.saveMetadata()
        let second = try openStore(FixtureModel.users(), at: folder.store)
        #expect(second.identifier == uuid)
        #expect(second.metadata["owner"] as? String == "me")
    }

    @Test("A model that does not fit is refused with 134100, the metadata and the entities that differ")
    func incompatible() throws {
        _ = try openStore(FixtureModel.users(), at: folder.store)
        let other = makeModel(
            makeEntity(
                "User", makeAttribute("name", .stringAttributeType), makeAttribute("age", .integer16AttributeType)))
        let error = #expect(throws: NSError.self) { _ = try openStore(other, at: folder.store) }
        #expect(error?.code == 134100)
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.userInfo["metadata"] is [String: Any])
        #expect(error?.localizedDescription.contains("entity User") == true)
    }

    @Test("A store whose table lacks a column opens; a fetch that compares it is refused, naming property and column")
    func missingColumn() throws {
        _ = try openStore(FixtureModel.users(), at: folder.store)
        let connection = try Connection(path: folder.store.path, mode: .readWrite)
        try connection.execute("ALTER TABLE ZUSER DROP COLUMN ZPETNAME")
        let store = try openStore(FixtureModel.users(), at: folder.store)
        #expect(store.findings.map(\.subject) == ["User.petName"])
        let plan = try store.plan("User", NSPredicate(format: "petName == 'x'"))
        let error = #expect(throws: NSError.self) { _ = try store.fetchRows(plan) }
        #expect(error?.code == 134020)
        #expect(error?.localizedDescription.contains("ZUSER.ZPETNAME") == true)
        #expect(error?.localizedDescription.contains("User.petName") == true)
    }

    @Test("A file that is not a database is damaged: 259, and stays as it is")
    func notADatabase() throws {
        let bytes = Data(repeating: 0x41, count: 5000)
        try bytes.write(to: folder.store)
        let error = #expect(throws: NSError.self) { _ = try openStore(FixtureModel.users(), at: folder.store) }
        #expect(error?.code == 259)
        #expect(try Data(contentsOf: folder.store) == bytes)
    }

    @Test("A database that is not a store is refused, not made into one")
    func foreignDatabase() throws {
        try Connection(path: folder.store.path, mode: .create).execute("CREATE TABLE other (a)")
        let error = #expect(throws: NSError.self) { _ = try openStore(FixtureModel.users(), at: folder.store) }
        #expect(error?.code == 134020)
        #expect(try plainSQL("SELECT name FROM sqlite_master", in: folder.store) == ["other"])
    }

    @Test("A truncated store is damaged")
    func truncated() throws {
        do { _ = try openStore(FixtureModel.users(), at: folder.store) }
        let connection = try Connection(path: folder.store.path, mode: .readWrite)
        try connection.checkpoint(.truncate)
        let bytes = try Data(contentsOf: folder.store)
        try bytes.prefix(4096 * 2 + 100).write(to: folder.store)
        let error = #expect(throws: NSError.self) { _ = try openStore(FixtureModel.users(), at: folder.store) }
        #expect(error?.code == 259)
    }

    @Test("A missing folder and a missing file that is only to be read are told apart from damage")
    func missing() throws {
        let nowhere = folder.url.appendingPathComponent("no/such/folder/store.sqlite")
        #expect(throws: NSError.self) { _ = try openStore(FixtureModel.users(), at: nowhere) }
        let options = [NSReadOnlyPersistentStoreOption: true]
        let error = #expect(throws: NSError.self) {
            _ = try openStore(FixtureModel.users(), at: folder.store, options: options)
        }
        #expect(error?.code == 260)
        #expect(!FileManager.default.fileExists(atPath: folder.store.path))
    }

    @Test("A store that is open for reading only refuses to save, and changes nothing")
    func readOnly() throws {
        _ = try openStore(FixtureModel.users(), at: folder.store)
        let store = try openStore(
            FixtureModel.users(), at: folder.store, options: [NSReadOnlyPersistentStoreOption: true])
        let error = #expect(throws: NSError.self) { _ = try store.insertion("User", ["name": .string("x")]) }
        #expect(error?.code == 513)
        #expect(try store.fetchCount(store.plan("User")) == 0)
    }

    @Test("A locked store is given up with 134090 after the timeout")
    func locked() throws {
        let store = try openStore(
            FixtureModel.users(), at: folder.store, options: [NSPersistentStoreTimeoutOption: 0.05])
        let other = try Connection(path: folder.store.path, mode: .readWrite)
        try other.begin(.immediate)
        let error = #expect(throws: NSError.self) { _ = try store.insertion("User", [:]) }
        #expect(error?.code == 134090)
        try other.rollback()
        _ = try store.insertion("User", [:])
    }

    @Test("Pragmas of the developer's are set")
    func pragmas() throws {
        let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": "DELETE", "synchronous": "FULL"]]
        let store = try openStore(FixtureModel.users(), at: folder.store, options: options)
        #expect(try store.current().connection.string("PRAGMA journal_mode") == "delete")
        #expect(try store.current().connection.integer("PRAGMA synchronous") == 2)
    }

    @Test("Readers wait for writers only without a write-ahead log", arguments: ["WAL", "DELETE"])
    func waiting(mode: String) throws {
        let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": mode]]
        let store = try openStore(FixtureModel.users(), at: folder.store, options: options)
        #expect(store.readsWithoutWaiting == (mode == "WAL"))
    }

    @Test("Destroying empties the file and takes the external data away; a new store can be made there")
    func destroy() throws {
        do {
            let store = try openStore(FixtureModel.users(), at: folder.store)
            try store.save(inserted: [store.insertion("User", ["name": .string("x")])])
        }
        try SQLiteFormat.destroy(at: folder.store, options: nil)
        #expect(try plainSQL("SELECT name FROM sqlite_master", in: folder.store).isEmpty)
        let again = try openStore(FixtureModel.cars(), at: folder.store)
        #expect(try again.fetchCount(again.plan("Car")) == 0)
    }

    @Test("Replacing puts a copy of one store in the place of another")
    func replace() throws {
        let source = folder.url.appendingPathComponent("source.sqlite")
        let store = try openStore(FixtureModel.users(), at: source)
        try store.save(inserted: [store.insertion("User", ["name": .string("x")])])
        try SQLiteFormat.replace(at: folder.store, from: source, options: nil)
        let copy = try openStore(FixtureModel.users(), at: folder.store)
        #expect(copy.identifier == store.identifier)
        #expect(try copy.fetchCount(copy.plan("User")) == 1)
    }

    @Test("Metadata can be read and replaced without opening the store")
    func metadata() throws {
        do { _ = try openStore(FixtureModel.users(), at: folder.store) }
        var metadata = try SQLiteFormat.metadata(at: folder.store)
        metadata["note"] = "n"
        try SQLiteFormat.setMetadata(metadata, at: folder.store)
        #expect(try SQLiteFormat.metadata(at: folder.store)["note"] as? String == "n")
        metadata["object"] = NSObject()
        let error = #expect(throws: NSError.self) {
            try SQLiteFormat.setMetadata(metadata, at: folder.store)
        }
        #expect(error?.localizedDescription.contains("object") == true)
    }

    @Test("Metadata that were set are written with the next save, and what Core Data needs among them stays")
    func metadataWithSave() throws {
        let store = try openStore(FixtureModel.users(), at: folder.store)
        store.metadata = ["note": "n"]
        try store.save(inserted: [store.insertion("User", [:])])
        let metadata = try SQLiteFormat.metadata(at: folder.store)
        #expect(metadata["note"] as? String == "n")
        #expect(metadata[NSStoreModelVersionHashesKey] is [String: Data])
        _ = try openStore(FixtureModel.users(), at: folder.store)
    }

    @Test("A new store that tracks its history has Core Data's history tables, and a row for each change")
    func history() throws {
        let options = [NSPersistentHistoryTrackingKey: true]
        let store = try openStore(FixtureModel.users(), at: folder.store, options: options)
        try store.save(inserted: [store.insertion("User", ["name": .string("a")])])
        let row = try #require(try store.fetchRows(store.plan("User")).first)
        try store.save(updated: [store.update(row, ["petName": .string("b")])])
        let again = try #require(try store.fetchRows(store.plan("User")).first)
        try store.save(deleted: [again])
        #expect(
            try plainSQL(
                "SELECT Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS FROM ACHANGE",
                in: folder.store)
                == ["1|16001|0|1|1|1|", "2|16001|1|1|1|2|40", "3|16001|2|1|1|3|"])
        #expect(
            try plainSQL("SELECT Z_ENT, Z_NAME, Z_MAX FROM Z_PRIMARYKEY", in: folder.store)
                == ["1|User|1", "16001|CHANGE|3", "16002|TRANSACTION|3", "16003|TRANSACTIONSTRING|1"])
        let tables = try plainSQL(
            "SELECT sql FROM sqlite_master WHERE tbl_name LIKE 'A%' ORDER BY rowid", in: folder.store)
        #expect(tables == StoreTables.history)
    }
}
