import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Saving rows")
struct SavingTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func allTypes() -> NSManagedObjectModel {
        let blob = makeAttribute("blob", .binaryDataAttributeType)
        blob.allowsExternalBinaryDataStorage = true
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.isOptional = true
        place.elements = [makeAttribute("city", .stringAttributeType), makeAttribute("zip", .integer32AttributeType)]
        return makeModel(
            makeEntity(
                "Thing", makeAttribute("count", .integer64AttributeType), makeAttribute("flag", .booleanAttributeType),
                makeAttribute("ratio", .doubleAttributeType), makeAttribute("half", .floatAttributeType),
                makeAttribute("date", .dateAttributeType), makeAttribute("price", .decimalAttributeType),
                makeAttribute("name", .stringAttributeType), makeAttribute("link", .URIAttributeType),
                makeAttribute("token", .UUIDAttributeType), makeAttribute("bytes", .binaryDataAttributeType),
                makeAttribute("list", .transformableAttributeType), blob, place))
    }

    @Test("Values of all types come back as they went in")
    func values() throws {
        let store = try openStore(allTypes(), at: folder.store)
        let uuid = UUID()
        let values: [String: StoredValue] = [
            "count": .integer(-5), "flag": .integer(1), "ratio": .double(0.1), "half": .double(0.5),
            "date": .date(1.25),
            "price": .object(NSDecimalNumber(string: "10.11")), "name": .string("Zoë"),
            "link": .object(try #require(NSURL(string: "https://a.b/c?d=e"))), "token": .uuid(uuid),
            "bytes": .data(Data([1, 2])), "blob": .data(Data([1, 2, 3])), "list": .object(["a", "b"] as NSArray),
            "place": .object(CompositeValue(["city": "Rome", "zip": NSNumber(value: 100)])),
        ]
        try store.save(inserted: [store.insertion("Thing", values)])
        let row = try #require(try store.fetchRows(store.plan("Thing")).first)
        #expect(row.version == 1)
        for (name, value) in values where name != "list" { #expect(try store.value(row, name) == value, "\(name)") }
        guard case .object(let list) = try store.value(row, "list") else { throw StopTest() }
        #expect(list as? [String] == ["a", "b"])
        let columns =
            "Z_PK, Z_ENT, Z_OPT, ZCOUNT, ZFLAG, ZRATIO, ZDATE, ZPRICE, typeof(ZPRICE), ZLINK, ZTOKEN, ZBYTES, ZBLOB, ZCITY, ZZIP"
        let token = uuid.uuidString.replacing("-", with: "")
        #expect(
            try plainSQL("SELECT \(columns) FROM ZTHING", in: folder.store)
                == ["1|1|1|-5|1|0.1|1.25|10.11|real|https://a.b/c?d=e|\(token)|0102|01010203|Rome|100"])
    }

    private struct StopTest: Error {}

    @Test("Nil of every type is NULL")
    func nulls() throws {
        let store = try openStore(allTypes(), at: folder.store)
        try store.save(inserted: [store.insertion("Thing", [:])])
        let row = try #require(try store.fetchRows(store.plan("Thing")).first)
        #expect(row.values.filter { !$0.isNull }.isEmpty)
        #expect(
            try plainSQL(
                "SELECT count(*) FROM ZTHING WHERE ZBLOB IS NULL AND ZPRICE IS NULL AND ZCITY IS NULL",
                in: folder.store) == ["1"])
    }

    @Test("A value of a wrong type is refused by name, and nothing is saved")
    func wrongType() throws {
        let store = try openStore(allTypes(), at: folder.store)
        let good = try store.insertion("Thing", ["name": .string("good")])
        let bad = try store.insertion("Thing", ["count": .string("five")])
        let error = #expect(throws: NSError.self) { try store.save(inserted: [good, bad]) }
        #expect(error?.localizedDescription.contains("“Thing.count”") == true)
        #expect(try store.fetchCount(store.plan("Thing")) == 0)
    }

    @Test("Primary keys count up in the root entity's row, for subentities too")
    func keys() throws {
        let store = try openStore(FixtureModel.cars(), at: folder.store)
        let layouts = try ["Car", "SportCar", "Person", "Car"].map { try store.layout($0) }
        #expect(try store.makePermanentIdentifiers(for: layouts, isSavedLater: false).map(\.key) == [1, 2, 1, 3])
        #expect(try store.makePermanentIdentifiers(for: layouts, isSavedLater: false).map(\.key) == [4, 5, 2, 6])
        #expect(
            try plainSQL("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY", in: folder.store)
                == ["Car|6", "SportCar|0", "ExpensiveSportCar|0", "Person|2"])
    }

    @Test("An update writes what changed, and raises Z_OPT")
    func update() throws {
        let store = try openStore(FixtureModel.users(), at: folder.store)
        try store.save(inserted: [store.insertion("User", ["name": .string("a"), "petName": .string("p")])])
        let other = try Connection(path: folder.store.path, mode: .readWrite)
        try other.execute("UPDATE ZUSER SET ZPETNAME = 'changed elsewhere'")
        let row = try #require(try store.fetchRows(store.plan("User")).first)
        try store.save(updated: [store.update(row, ["name": .string("b")])])
        #expect(
            try plainSQL("SELECT Z_PK, Z_OPT, ZNAME, ZPETNAME FROM ZUSER", in: folder.store) == [
                "1|2|b|changed elsewhere"
            ])
    }

    @Test(
        "Somebody else's change or deletion is found by Z_OPT; nothing is saved, and the refusal has the current rows")
    func optimisticLocking() throws {
        let store = try openStore(FixtureModel.users(), at: folder.store)
        let insertions = try (1...3).map { try store.insertion("User", ["name": .string("\($0)")]) }
        try store.save(inserted: insertions)
        let rows = try store.fetchRows(store.plan("User"))
        let other = try openStore(FixtureModel.users(), at: folder.store)
        let others = try other.fetchRows(other.plan("User"))
        try other.save(updated: [other.update(others[0], ["name": .string("theirs")])], deleted: [others[1]])
        do {
            try store.save(updated: [
                store.update(rows[0], ["name": .string("mine")]), store.update(rows[1], ["name": .string("mine")]),
                store.update(rows[2], ["name": .string("mine")]),
            ])
            Issue.record("the save should have been refused")
        } catch SaveRefusal.optimisticLocking(let conflicts) {
            #expect(conflicts.map(\.objectID.key) == [1, 2])
            #expect(conflicts[0].current.map { [$0.version] } == [2])
            #expect(conflicts[1].current == nil)
        }
        #expect(try plainSQL("SELECT ZNAME FROM ZUSER ORDER BY Z_PK", in: folder.store) == ["theirs", "3"])
    }

    @Test("A deletion takes the row, and its pairs in join tables")
    func deletion() throws {
        let model = makeModel(
            makeEntity("Note", makeToMany("tags", "Tag", inverse: "notes")),
            makeEntity("Tag", makeToMany("notes", "Note", inverse: "tags")))
        let store = try openStore(model, at: folder.store)
        let tag = try store.insertion("Tag", [:])
        let note = try store.insertion("Note", [:], toMany: [store.toManyChange("Note", "tags", added: [tag.objectID])])
        try store.save(inserted: [note, tag])
        #expect(try plainSQL("SELECT * FROM Z_1TAGS", in: folder.store) == ["1|1"])
        let row = try #require(try store.row(for: tag.objectID))
        try store.save(deleted: [row])
        #expect(try plainSQL("SELECT count(*) FROM ZTAG", in: folder.store) == ["0"])
        #expect(try plainSQL("SELECT count(*) FROM Z_1TAGS", in: folder.store) == ["0"])
    }

    @Test("A relationship that is its own inverse stores each pair both ways, and gives both up")
    func reflexive() throws {
        let store = try openStore(
            makeModel(makeEntity("Person", makeToMany("friends", "Person", inverse: "friends"))), at: folder.store)
        let first = try store.insertion("Person", [:])
        let second = try store.insertion(
            "Person", [:], toMany: [store.toManyChange("Person", "friends", added: [first.objectID])])
        try store.save(inserted: [first, second])
        #expect(try plainSQL("SELECT * FROM Z_1FRIENDS ORDER BY 1", in: folder.store) == ["1|2", "2|1"])
        let relationship = try #require(try store.layout("Person").relationship(named: "friends"))
        #expect(try store.destinations(of: relationship, for: first.objectID).map(\.key) == [2])
        let row = try #require(try store.row(for: first.objectID))
        try store.save(deleted: [row])
        #expect(try plainSQL("SELECT * FROM Z_1FRIENDS", in: folder.store).isEmpty)
    }

    @Test("A to-one relationship to an entity with subentities stores the destination's entity too")
    func polymorphicToOne() throws {
        let pagesCount = makeAttribute("pagesCount", .integer64AttributeType)
        let store = try openStore(FixtureModel.books(pagesCount: pagesCount), at: folder.store)
        let novel = try store.insertion("GraphicNovel", ["isBlackAndWhite": .integer(1)])
        let page = try store.insertion("Page", ["book": .identifier(novel.objectID)])
        try store.save(inserted: [novel, page])
        #expect(try plainSQL("SELECT ZBOOK, Z1_BOOK FROM ZPAGE", in: folder.store) == ["1|2"])
        let row = try #require(try store.fetchRows(store.plan("Page")).first)
        guard case .identifier(let book) = try store.value(row, "book") else { throw StopTest() }
        #expect(book.layout.name == "GraphicNovel")
        #expect(try store.fetchRows(store.plan("Book")).map(\.objectID.layout.name) == ["GraphicNovel"])
    }

    @Test("A row is found under its entity's ID and under its superentity's")
    func rowOfSubentity() throws {
        let store = try openStore(FixtureModel.cars(), at: folder.store)
        let car = try store.insertion(
            "ExpensiveSportCar", ["isLimitedEdition": .integer(1), "numberPlate": .string("X")])
        try store.save(inserted: [car])
        let asCar = NSManagedObjectID(layout: try store.layout("Car"), store: store.identity, key: car.objectID.key)
        #expect(try store.row(for: asCar)?.objectID.layout.name == "ExpensiveSportCar")
        let many = try store.rows(for: [asCar, NSManagedObjectID(layout: asCar.layout, store: store.identity, key: 99)])
        #expect(many.count == 1)
    }

    // MARK: Order

    private func ordered() throws -> (SQLiteEngine, RowChange, [RowChange]) {
        let store = try openStore(FixtureModel.bookmarks(), at: folder.store)
        let parent = try store.insertion("BookmarkEntity", ["title": .string("folder")])
        let children = try ["a", "b", "c"].map {
            try store.insertion("BookmarkEntity", ["title": .string($0), "parent": .identifier(parent.objectID)])
        }
        let order = children.map(\.objectID)
        let change = try store.toManyChange("BookmarkEntity", "children", added: order, order: order)
        let folderChange = RowChange(
            objectID: parent.objectID, version: 0, values: parent.values, changedSlots: parent.changedSlots,
            toManyChanges: [change])
        try store.save(inserted: [folderChange] + children)
        return (store, folderChange, children)
    }

    @Test("An ordered relationship gets order keys with room between them, and is read in order")
    func order() throws {
        let (store, parent, children) = try ordered()
        #expect(
            try plainSQL(
                "SELECT ZTITLE, Z_FOK_PARENT FROM ZBOOKMARKENTITY WHERE ZPARENT NOT NULL ORDER BY Z_PK",
                in: folder.store)
                == ["a|2048", "b|3072", "c|4096"])
        let relationship = try #require(try store.layout("BookmarkEntity").relationship(named: "children"))
        #expect(
            try store.destinations(of: relationship, for: parent.objectID).map(\.key)
                == children.map(\.objectID.key))
    }

    @Test("Moving one of them changes one order key")
    func move() throws {
        let (store, parent, children) = try ordered()
        let order = [children[2], children[0], children[1]].map(\.objectID)
        let row = try #require(try store.row(for: parent.objectID))
        try store.save(updated: [
            store.update(row, [:], toMany: [store.toManyChange("BookmarkEntity", "children", order: order)])
        ])
        #expect(
            try plainSQL(
                "SELECT ZTITLE, Z_FOK_PARENT, Z_OPT FROM ZBOOKMARKENTITY WHERE ZPARENT NOT NULL ORDER BY Z_PK",
                in: folder.store)
                == ["a|2048|1", "b|3072|1", "c|1024|1"])
    }

    @Test("Leaving an ordered relationship clears the order key")
    func leave() throws {
        let (store, _, children) = try ordered()
        let row = try #require(try store.row(for: children[1].objectID))
        try store.save(updated: [store.update(row, ["parent": .null])])
        let sql = "SELECT ZTITLE, ZPARENT, Z_FOK_PARENT FROM ZBOOKMARKENTITY WHERE ZTITLE = 'b'"
        #expect(try plainSQL(sql, in: folder.store) == ["b||"])
    }

    @Test("Thousands of values in a list are fetched by, and their SQL is not kept")
    func longLists() throws {
        let store = try openStore(FixtureModel.users(), at: folder.store)
        try store.save(inserted: (0..<10).map { try store.insertion("User", ["name": .string("n\($0)")]) })
        let names = (5..<20_000).map { "n\($0)" }
        let found = try store.fetchRows(store.plan("User", NSPredicate(format: "name IN %@", names)))
        #expect(found.count == 5)
        #expect(try store.current().fetches.isEmpty)
    }

    @Test("Order keys: as few change as possible, and all where there is no room")
    func orderKeys() {
        func keys(_ order: [Int64], _ existing: [Int64: Int64]) -> [Int64: Int64] {
            Dictionary(
                OrderKeys.changes(order: order, existing: existing).map { ($0.destination, $0.key) },
                uniquingKeysWith: { $1 })
        }
        #expect(keys([1, 2, 3], [:]) == [1: 2048, 2: 3072, 3: 4096])
        #expect(keys([1, 2, 3], [1: 2048, 2: 3072, 3: 4096]) == [:])
        #expect(keys([1, 4, 2], [1: 2048, 2: 3072]) == [4: 2560])
        #expect(keys([1, 2, 5], [1: 2048, 2: 3072]) == [5: 4096])
        #expect(keys([9, 1], [1: 1]) == [9: 2048, 1: 3072])
        #expect(keys([1, 9, 2], [1: 5, 2: 6]) == [1: 2048, 9: 3072, 2: 4096])
    }

    @Test("An ordered many-to-many relationship has its order in the join table")
    func orderedManyToMany() throws {
        let model = makeModel(
            makeEntity("Album", makeToMany("assets", "Asset", inverse: "albums", ordered: true)),
            makeEntity("Asset", makeToMany("albums", "Album", inverse: "assets")))
        let store = try openStore(model, at: folder.store)
        let assets = try (0..<3).map { _ in try store.insertion("Asset", [:]) }
        let order = [assets[1], assets[2], assets[0]].map(\.objectID)
        let album = try store.insertion(
            "Album", [:], toMany: [store.toManyChange("Album", "assets", added: order, order: order)])
        try store.save(inserted: [album] + assets)
        #expect(
            try plainSQL("SELECT Z_2ASSETS, Z_FOK_2ASSETS FROM Z_1ASSETS ORDER BY Z_FOK_2ASSETS", in: folder.store)
                == ["2|2048", "3|3072", "1|4096"])
        let relationship = try #require(try store.layout("Album").relationship(named: "assets"))
        #expect(try store.destinations(of: relationship, for: album.objectID).map(\.key) == [2, 3, 1])
    }

    // MARK: Constraints

    @Test("Values that must be unique are refused, with the objects and the row that have them")
    func constraints() throws {
        let store = try openStore(FixtureModel.cars(), at: folder.store)
        let first = try store.insertion("Car", ["numberPlate": .string("A")])
        try store.save(inserted: [first])
        let second = try store.insertion("SportCar", ["numberPlate": .string("A")])
        let third = try store.insertion("Car", ["numberPlate": .string("A")])
        do {
            try store.save(inserted: [second, third])
            Issue.record("the save should have been refused")
        } catch SaveRefusal.constraints(let violations) {
            let violation = try #require(violations.first)
            #expect(violations.count == 1)
            #expect(violation.entity.name == "Car")
            #expect(violation.constraint == ["numberPlate"])
            #expect(violation.values == [.string("A")])
            #expect(violation.conflicting.map(\.key) == [2, 3])
            #expect(violation.stored?.objectID.key == 1)
        }
        #expect(try store.fetchCount(store.plan("Car")) == 1)
    }

    @Test("Two objects may trade their unique values in one save, and nils are never equal")
    func trade() throws {
        let store = try openStore(FixtureModel.cars(), at: folder.store)
        let changes = try ["A", "B"].map { try store.insertion("Car", ["numberPlate": .string($0)]) }
        try store.save(inserted: changes + [store.insertion("Car", [:]), store.insertion("Car", [:])])
        let rows = try store.fetchRows(store.plan("Car", NSPredicate(format: "numberPlate != nil")))
        try store.save(updated: [
            store.update(rows[0], ["numberPlate": .string("B")]), store.update(rows[1], ["numberPlate": .string("A")]),
        ])
        #expect(
            try plainSQL("SELECT ZNUMBERPLATE, Z_OPT FROM ZCAR ORDER BY Z_PK", in: folder.store) == [
                "B|2", "A|2", "|1", "|1",
            ])
    }

    // MARK: External data

    @Test("Large data lie in a file of their own, which goes when they are replaced")
    func externalData() throws {
        let store = try openStore(allTypes(), at: folder.store)
        let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try store.save(inserted: [store.insertion("Thing", ["blob": .data(large)])])
        let support = folder.url.appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA")
        let names = try FileManager.default.contentsOfDirectory(atPath: support.path)
        #expect(names.count == 1)
        #expect(try Data(contentsOf: support.appendingPathComponent(names[0])) == large)
        let column = "02" + names[0].utf8.map { String(format: "%02X", $0) }.joined() + "00"
        #expect(try plainSQL("SELECT ZBLOB FROM ZTHING", in: folder.store) == [column])
        let row = try #require(try store.fetchRows(store.plan("Thing")).first)
        #expect(try store.value(row, "blob") == .data(large))
        try store.save(updated: [store.update(row, ["blob": .data(Data([7]))])])
        #expect(try FileManager.default.contentsOfDirectory(atPath: support.path).isEmpty)
        #expect(try plainSQL("SELECT ZBLOB FROM ZTHING", in: folder.store) == ["0107"])
    }

    @Test("A save that fails leaves no file behind")
    func externalDataOfFailedSave() throws {
        let store = try openStore(allTypes(), at: folder.store)
        let good = try store.insertion("Thing", ["blob": .data(Data(count: 200_000))])
        let bad = try store.insertion("Thing", ["count": .string("five")])
        #expect(throws: NSError.self) { try store.save(inserted: [good, bad]) }
        let support = folder.url.appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA")
        #expect(try FileManager.default.contentsOfDirectory(atPath: support.path).isEmpty)
    }

    // MARK: Derived attributes

    @Test("What triggers compute is stored and reported")
    func derivedAttributes() throws {
        let pagesCount = makeDerived("pagesCount", .integer64AttributeType, .init(forKeyPath: "pages.@count"))
        let store = try openStore(FixtureModel.books(pagesCount: pagesCount), at: folder.store)
        let book = try store.insertion("Book", ["title": .string("t")])
        let pages = try (0..<3).map { _ in try store.insertion("Page", ["book": .identifier(book.objectID)]) }
        let result = try store.save(inserted: [book] + pages)
        let slot = try #require(try store.layout("Book").slotIndex(forName: "pagesCount"))
        #expect(result.computed.map(\.slot) == [slot])
        #expect(result.computed.map(\.value) == [.integer(3)])
        #expect(result.computed.map(\.objectID.key) == [1])
        let row = try #require(try store.row(for: pages[0].objectID))
        #expect(try store.save(deleted: [row]).computed.map(\.value) == [.integer(2)])
        #expect(try plainSQL("SELECT ZPAGESCOUNT FROM ZBOOK", in: folder.store) == ["2"])
    }

    @Test("A full disk is 640, and nothing is changed")
    func full() throws {
        let store = try openStore(FixtureModel.users(), at: folder.store)
        try store.current().connection.execute("PRAGMA max_page_count = 20")
        let many = try (0..<2000).map {
            try store.insertion("User", ["name": .string(String(repeating: "x", count: 100) + "\($0)")])
        }
        let error = #expect(throws: NSError.self) { try store.save(inserted: many) }
        #expect(error?.code == 640)
        #expect(try store.fetchCount(store.plan("User")) == 0)
    }

    @Test("Two stores on one file see each other's saves")
    func twoStores() throws {
        let first = try openStore(FixtureModel.users(), at: folder.store)
        let second = try openStore(FixtureModel.users(), at: folder.store)
        try first.save(inserted: [first.insertion("User", ["name": .string("1")])])
        try second.save(inserted: [second.insertion("User", ["name": .string("2")])])
        #expect(try first.fetchCount(first.plan("User")) == 2)
        #expect(try plainSQL("SELECT Z_MAX FROM Z_PRIMARYKEY", in: folder.store) == ["2"])
    }
}
