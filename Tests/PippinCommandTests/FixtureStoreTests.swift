import CoreData
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Apple-made stores", .enabled(if: Fixtures.areThere, StoreFixtures.skipped))
struct FixtureStoreTests {
    @Test("dump --json has every object that plain SQL counts, under its own entity", arguments: StoreFixtures.stores)
    func counts(store: String) throws {
        try StoreFixtures.withCopy(of: store) { copy in
            let objects = try CommandRun("dump", "--json", copy.path).objects()
            let entities = try SQLEntity.rows(in: copy)
            #expect(objects.keys.sorted() == entities.compactMap { $0[1] }.sorted())
            for entity in entities {
                let stored = try SQLEntity(entity, among: entities)
                #expect(try objects[stored.name]?.count == stored.count(in: copy), "\(entity)")
            }
        }
    }

    @Test("dump --json has the values of every column", arguments: StoreFixtures.stores)
    func values(store: String) throws {
        try StoreFixtures.withCopy(of: store) { copy in
            let uuid = try #require(try plainSQL("SELECT Z_UUID FROM Z_METADATA", in: copy).first)
            let objects = try CommandRun("dump", "--json", copy.path).objects()
            let entities = try SQLEntity.rows(in: copy)
            var hasObjects = false
            for row in entities {
                let entity = try SQLEntity(row, among: entities)
                let shown = try #require(objects[entity.name])
                let byURI = Dictionary(
                    uniqueKeysWithValues: try shown.map { (try #require($0["objectID"] as? String), $0) })
                let storedRows = try entity.rows(in: copy)
                #expect(storedRows.count == shown.count, "\(entity.name)")
                for stored in storedRows {
                    let object = try #require(byURI["x-coredata://\(uuid)/\(entity.name)/p\(stored.key)"])
                    #expect(try stored.compare(with: object, entity: entity) > 0, "\(entity.name)/p\(stored.key)")
                    hasObjects = true
                }
            }
            #expect(hasObjects)
        }
    }

    @Test("To-many relationships are what their columns and join tables say, in order where they have one")
    func toMany() throws {
        try StoreFixtures.withCopy(of: "cars/SampleModel_V1.sqlite") { copy in
            let objects = try CommandRun("dump", "--json", copy.path, "--entity", "Person").objects()
            #expect(Array(objects.keys) == ["Person"])
            let people = try #require(objects["Person"])
            #expect(people.count == 20)
            for person in people {
                let sql = "SELECT Z_PK FROM ZCAR WHERE ZOWNER = \(try key(person["objectID"]))"
                let cars = try #require(person["cars"] as? [Any]).map(key)
                #expect(try Set(cars) == Set(plainSQL(sql, in: copy)))
            }
            #expect(try plainNumber("SELECT COUNT(*) FROM ZCAR WHERE ZOWNER NOT NULL", in: copy) ?? 0 > 0)
        }
        try StoreFixtures.withCopy(of: "bookmarks/Bookmarks_V3.sqlite") { copy in
            let objects = try CommandRun("dump", "--json", copy.path).objects()
            let bookmarks = try #require(objects["BookmarkEntity"])
            #expect(bookmarks.count == 10)
            for bookmark in bookmarks {
                let parent = try key(bookmark["objectID"])
                let sql = "SELECT Z_PK FROM ZBOOKMARKENTITY WHERE ZPARENT = \(parent) ORDER BY Z_FOK_PARENT"
                let children = try #require(bookmark["children"] as? [Any]).map(key)
                #expect(try children == plainSQL(sql, in: copy))
            }
            #expect(try plainNumber("SELECT COUNT(*) FROM ZBOOKMARKENTITY WHERE ZPARENT NOT NULL", in: copy) ?? 0 > 0)
        }
    }

    /// The primary key at the end of an object's URI.
    private func key(_ uri: Any?) throws -> String {
        String(try #require((uri as? String)?.split(separator: "/p").last))
    }

    @Test(
        "Neither command changes a byte or leaves a file, and what is only in the log is seen",
        arguments: StoreFixtures.stores)
    func untouched(store: String) throws {
        try StoreFixtures.withCopy(of: store) { copy in
            let folder = copy.deletingLastPathComponent()
            func contents() throws -> [String: Data] {
                let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                return try Dictionary(
                    uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.appendingPathComponent($0))) })
            }
            let before = try contents()
            #expect(CommandRun("info", copy.path).status == 0)
            #expect(CommandRun("dump", copy.path).status == 0)
            #expect(CommandRun("dump", "--json", copy.path).status == 0)
            #expect(try contents() == before)
        }
    }

    @Test("Objects that are only in the write-ahead log are shown")
    func log() throws {
        try StoreFixtures.withCopy(of: "bookmarks/Bookmarks_V3.sqlite") { copy in
            func count() throws -> Int? {
                try CommandRun("dump", "--json", copy.path).objects()["BookmarkEntity"]?.count
            }
            #expect(try count() == 10)
            try FileManager.default.removeItem(atPath: copy.path + "-wal")
            #expect(try count() == 0)
        }
    }

    @Test("info says what the store is, and what is in it")
    func info() throws {
        let run = CommandRun("info", StoreFixtures.path("cars/SampleModel_V1.sqlite"))
        #expect(
            run.output == """
                SampleModel_V1.sqlite

                  UUID         753753D3-A961-4901-AB05-8CC48B1D3853
                  size         45 KB
                  model        the copy that the store keeps, version “1”
                  written by   Core Data, framework version 1044
                  entities     4, with 145 objects

                Car   115 objects, 125 with subentities
                    color                   Transformable   optional, by ColorTransformer
                    currentDrivingSpeed     Integer 64      optional, transient, default 0
                    maker                   String          optional
                    markedForDeletionAsOf   Date            optional
                    model                   String          optional
                    numberPlate             String
                    owner                   → Person        to one, optional, inverse cars
                    unique                  numberPlate

                  SportCar : Car   5 objects, 10 with subentities

                    ExpensiveSportCar : SportCar   5 objects
                        isLimitedEdition   Boolean   optional, default no

                Person   20 objects
                    firstName   String                optional
                    id          UUID
                    isDriving   Boolean               transient, default no
                    lastName    String                optional
                    updatedAt   Date
                    cars        → Car                 to many, optional, inverse owner
                    unique      firstName, lastName

                """)
    }

    @Test("dump shows an entity and those that inherit from it")
    func dumpEntity() {
        let run = CommandRun("dump", StoreFixtures.path("cars/SampleModel_V1.sqlite"), "--entity", "SportCar")
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(lines[1] == "SportCar   5 objects")
        #expect(lines[2].hasPrefix("  SportCar/p"))
        #expect(lines[3] == "    color                   –")
        #expect(lines.contains("ExpensiveSportCar   5 objects"))
        #expect(!run.output.contains("Person   20"))
    }

    @Test(
        "A model file may be given: compiled or source, the version that fits is found",
        arguments: [
            ("cars/SampleModel_V1.sqlite", "cars/SampleModel.momd"),
            ("cars/SampleModel_V1.sqlite", "cars/SampleModel.xcdatamodeld"),
            ("users/SampleModel3_V1.sqlite", "users/SampleModel3.momd"),
            ("bookmarks/Bookmarks_V1.sqlite", "bookmarks/BookmarksModel.xcdatamodeld"),
            ("bookmarks/Bookmarks_V3.sqlite", "bookmarks/BookmarksModel.xcdatamodeld"),
        ])
    func model(store: String, model: String) throws {
        let given = CommandRun("dump", "--json", StoreFixtures.path(store), "--model", StoreFixtures.path(model))
        #expect(given.errors.isEmpty)
        let cached = CommandRun("dump", "--json", StoreFixtures.path(store))
        let (left, right) = (try given.objects(), try cached.objects())
        #expect(!left.isEmpty)
        #expect(NSDictionary(dictionary: left) == NSDictionary(dictionary: right))
    }

    @Test("A model that we compiled fits the store that Apple made with it")
    func compiledHere() throws {
        try inTestFolder { folder in
            let compiled = folder.appendingPathComponent("SampleModel.momd")
            let source = URL(fileURLWithPath: StoreFixtures.path("cars/SampleModel.xcdatamodeld"))
            try SourceModelCompiler.compileModel(at: source, to: compiled)
            let run = CommandRun("info", StoreFixtures.path("cars/SampleModel_V1.sqlite"), "--model", compiled.path)
            #expect(run.errors.isEmpty)
            #expect(run.output.contains("  model        “SampleModel.momd”, version “SampleModel”\n"))
        }
    }
}
