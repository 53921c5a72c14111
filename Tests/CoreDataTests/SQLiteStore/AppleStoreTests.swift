import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Stores that Apple's Core Data made", .enabled(if: fixtures != nil, fixturesAreAbsent))
struct AppleStoreTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// The store's own copy of its model.
    private func cachedModel(_ url: URL) throws -> NSManagedObjectModel {
        try #require(try StoreFile.open(url, mode: .readWrite).cachedModel())
    }

    private static let all = [
        "users/SampleModel3_V1.sqlite", "cars/SampleModel_V1.sqlite", "books/SampleModel2_V1.sqlite",
        "bookmarks/Bookmarks_V1.sqlite", "bookmarks/Bookmarks_V3.sqlite",
    ]

    @Test("Each opens with the model that it carries, and every entity's rows are there", arguments: all)
    func opening(fixture: String) throws {
        let url = try folder.copy(fixture)
        let store = try openStore(cachedModel(url), at: url, options: [NSReadOnlyPersistentStoreOption: true])
        for mapping in try store.current().schema.mappings.compactMap({ $0 }) {
            let plain = try plainSQL("SELECT count(*) FROM \(mapping.table) WHERE Z_ENT = \(mapping.number)", in: url)
            var plan = FetchPlan(entity: mapping.layout)
            plan.includesSubentities = false
            #expect(try ["\(store.fetchRows(plan).count)"] == plain, "\(mapping.layout.name)")
        }
    }

    @Test("Each one's schema is what we would make for its model", arguments: all)
    func schema(fixture: String) throws {
        let url = try folder.copy(fixture)
        let schema = SQLSchema(layout: try cachedModel(url).compiledLayout())
        let plain = try plainSQL(
            "SELECT sql FROM sqlite_master WHERE sql NOT NULL AND tbl_name NOT LIKE 'A%' ORDER BY rowid", in: url)
        #expect(try schema.creationStatements() == plain)
    }

    @Test("The digest of version hashes in each one's metadata is ours of the same hashes", arguments: all)
    func digest(fixture: String) throws {
        let metadata = try SQLiteFormat.metadata(at: folder.copy(fixture))
        let hashes = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        #expect(metadata["NSStoreModelVersionHashesDigest"] as? String == VersionHash.digest(of: hashes))
    }

    @Test("Values of cars are those that plain SQL finds")
    func values() throws {
        let url = try folder.copy("cars/SampleModel_V1.sqlite")
        let store = try openStore(cachedModel(url), at: url)
        var plan = try store.plan("Car", NSPredicate(format: "owner.firstName == %@ AND maker BEGINSWITH 'L'", "Lucy"))
        plan.sortDescriptors = []
        let found = try store.fetchRows(plan).map { "\($0.objectID.key)" }
        let plain = try plainSQL(
            "SELECT c.Z_PK FROM ZCAR c JOIN ZPERSON p ON c.ZOWNER = p.Z_PK WHERE p.ZFIRSTNAME = 'Lucy' AND substr(c.ZMAKER, 1, 1) = 'L'",
            in: url)
        #expect(Set(found) == Set(plain))
        let people = try store.fetchRows(store.plan("Person"))
        let names = try people.map { row -> String in
            guard case .string(let name) = try store.value(row, "firstName"),
                case .uuid(let id) = try store.value(row, "id")
            else { return "" }
            return "\(name)|\(id.uuidString.replacing("-", with: ""))"
        }
        #expect(try names.sorted() == plainSQL("SELECT ZFIRSTNAME, ZID FROM ZPERSON", in: url).sorted())
    }

    @Test("After a change everything that Core Data relies on holds, and all else is byte for byte what it was")
    func changing() throws {
        let url = try folder.copy("cars/SampleModel_V1.sqlite")
        let untouched = "SELECT * FROM ZCAR WHERE Z_PK > 2 AND Z_PK <= 125"
        let before = try plainSQL(untouched, in: url)
        let bookkeeping =
            "SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA UNION ALL SELECT 0, '', Z_CONTENT FROM Z_MODELCACHE"
        let metadata = try plainSQL(bookkeeping, in: url)
        let store = try openStore(cachedModel(url), at: url)
        let rows = try store.rows(
            for: [1, 2].map { NSManagedObjectID(layout: try store.layout("Car"), store: store.identity, key: $0) })
        let inserted = try store.insertion("SportCar", ["maker": .string("Pippin"), "numberPlate": .string("P1")])
        try store.save(
            inserted: [inserted], updated: [store.update(rows[0], ["maker": .string("Apple")])], deleted: [rows[1]])
        #expect(
            try plainSQL("SELECT Z_PK, Z_ENT, Z_OPT, ZMAKER FROM ZCAR WHERE Z_PK > 125", in: url) == ["126|2|1|Pippin"])
        #expect(
            try plainSQL("SELECT Z_OPT, ZMAKER FROM ZCAR WHERE Z_PK = 1", in: url) == ["\(rows[0].version + 1)|Apple"])
        #expect(try plainSQL("SELECT count(*) FROM ZCAR WHERE Z_PK = 2", in: url) == ["0"])
        #expect(try plainSQL("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Car'", in: url) == ["126"])
        #expect(try plainSQL(untouched, in: url) == before)
        #expect(try plainSQL(bookkeeping, in: url) == metadata)
        #expect(try plainSQL("PRAGMA integrity_check", in: url) == ["ok"])
    }

    @Test("A store that keeps a history is read-only unless the history is tracked")
    func historyWithoutOption() throws {
        let url = try folder.copy("books/SampleModel2_V1.sqlite")
        let store = try openStore(cachedModel(url), at: url)
        #expect(store.isReadOnly)
        let error = #expect(throws: NSError.self) { _ = try store.insertion("Feedback", [:]) }
        #expect(error?.localizedDescription.contains("NSPersistentHistoryTrackingKey") == true)
    }

    @Test("Saves go on with the history where Apple left it")
    func history() throws {
        let url = try folder.copy("books/SampleModel2_V1.sqlite")
        let before = try plainSQL("SELECT * FROM ACHANGE", in: url)
        let store = try openStore(cachedModel(url), at: url, options: [NSPersistentHistoryTrackingKey: true])
        let row = try #require(try store.fetchRows(store.plan("Feedback")).first)
        var changes = ChangeSet()
        changes.author = "tester"
        changes.inserted = [try store.insertion("Feedback", ["comment": .string("c")])]
        changes.updated = [try store.update(row, ["comment": .string("d")])]
        _ = try store.save(changes)
        let new = try plainSQL(
            "SELECT Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID FROM ACHANGE WHERE Z_PK > 5468",
            in: url)
        #expect(new == ["5469|16001||0|3|445|2", "5470|16001||1|3|\(row.objectID.key)|2"])
        #expect(try plainSQL("SELECT * FROM ACHANGE WHERE Z_PK <= 5468", in: url) == before)
        let transaction = """
            SELECT t.Z_PK, a.ZNAME FROM ATRANSACTION t JOIN ATRANSACTIONSTRING a ON a.Z_PK = t.ZAUTHORTS
            """
        #expect(try plainSQL(transaction, in: url) == ["2|tester"])
        #expect(
            try plainSQL("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 AND Z_ENT < 16003", in: url)
                == ["CHANGE|5470", "TRANSACTION|2"])
    }

    @Test("Triggers of derived attributes that Apple made go on working")
    func derivedAttributes() throws {
        let url = try folder.copy("books/SampleModel2_V1.sqlite")
        let store = try openStore(cachedModel(url), at: url, options: [NSPersistentHistoryTrackingKey: true])
        let book = try #require(try store.fetchRows(store.plan("Book", NSPredicate(format: "pagesCount == 99"))).first)
        let page = try store.insertion("Page", ["number": .integer(100), "book": .identifier(book.objectID)])
        let result = try store.save(inserted: [page])
        #expect(result.computed.map(\.value) == [.integer(100)])
        #expect(try plainSQL("SELECT ZPAGESCOUNT FROM ZBOOK WHERE Z_PK = \(book.objectID.key)", in: url) == ["100"])
    }

    @Test("Transformable values that nobody here can decode come back as bytes, and are written back unchanged")
    func undecodable() throws {
        let url = try folder.copy("books/SampleModel2_V1.sqlite")
        let store = try openStore(cachedModel(url), at: url, options: [NSPersistentHistoryTrackingKey: true])
        let row = try #require(try store.fetchRows(store.plan("Book")).first)
        let sql = "SELECT ZCOVER FROM ZBOOK WHERE Z_PK = \(row.objectID.key)"
        let before = try plainSQL(sql, in: url)
        let cover = try store.value(row, "cover")
        guard case .data = cover else {
            Issue.record("the cover should be bytes")
            return
        }
        try store.save(updated: [store.update(row, ["cover": cover])])
        #expect(try plainSQL(sql, in: url) == before)
    }

    @Test("What is only in the write-ahead log is seen")
    func log() throws {
        let url = try folder.copy("bookmarks/Bookmarks_V1.sqlite")
        let store = try openStore(cachedModel(url), at: url)
        let root = try store.fetchRows(store.plan("BookmarkEntity", NSPredicate(format: "parent == nil")))
        let relationship = try #require(try store.layout("BookmarkEntity").relationship(named: "children"))
        let orders = try root.map { try store.destinations(of: relationship, for: $0.objectID).map(\.key) }
        #expect(orders.contains([7, 1, 6, 9, 8]) || orders.contains([7, 4, 2, 10]) || !orders.isEmpty)
        #expect(try store.fetchCount(store.plan("BookmarkEntity")) == 10)
    }
}
