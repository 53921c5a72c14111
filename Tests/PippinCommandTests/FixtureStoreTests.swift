import CoreData
import Testing

@testable import PippinCommand

@Suite("Apple-made stores", .enabled(if: StoreFixtures.areThere, StoreFixtures.skipped))
struct FixtureStoreTests {
    @Test("dump --json has every object that plain SQL counts, under its own entity", arguments: StoreFixtures.stores)
    func counts(store: String) throws {
        try StoreFixtures.withCopy(of: store) { copy in
            let objects = try CommandRun("dump", "--json", copy.path).objects()
            let entities = try StoreFixtures.rows(
                "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000", in: copy)
            #expect(objects.keys.sorted() == entities.compactMap { $0[1] }.sorted())
            for entity in entities {
                let count = try SQLEntity(entity, among: entities).count(in: copy)
                #expect(objects[entity[1] ?? ""]?.count == count, "\(entity)")
            }
        }
    }

    @Test("dump --json has the values of every column", arguments: StoreFixtures.stores)
    func values(store: String) throws {
        try StoreFixtures.withCopy(of: store) { copy in
            let uuid = try #require(try StoreFixtures.rows("SELECT Z_UUID FROM Z_METADATA", in: copy)[0][0])
            let objects = try CommandRun("dump", "--json", copy.path).objects()
            let entities = try StoreFixtures.rows(
                "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000", in: copy)
            for row in entities {
                let entity = SQLEntity(row, among: entities)
                let byURI = Dictionary(
                    uniqueKeysWithValues: (objects[entity.name] ?? []).map { ($0["objectID"] as? String ?? "", $0) })
                var compared = 0
                for stored in try entity.rows(in: copy) {
                    let object = try #require(byURI["x-coredata://\(uuid)/\(entity.name)/p\(stored.key)"])
                    compared += try stored.compare(with: object, entity: entity)
                }
                if !byURI.isEmpty { #expect(compared >= byURI.count, "\(entity.name)") }
            }
        }
    }

    @Test("To-many relationships are what their columns and join tables say, in order where they have one")
    func toMany() throws {
        try StoreFixtures.withCopy(of: "cars/SampleModel_V1.sqlite") { copy in
            let people = try CommandRun("dump", "--json", copy.path, "--entity", "Person").objects()
            #expect(Array(people.keys) == ["Person"])
            for person in people["Person"] ?? [] {
                let key = try #require((person["objectID"] as? String)?.split(separator: "p").last)
                let sql = "SELECT Z_PK FROM ZCAR WHERE ZOWNER = \(key) ORDER BY Z_PK"
                let expected = try StoreFixtures.rows(sql, in: copy).compactMap { $0[0] }.sorted()
                let cars = (person["cars"] as? [String] ?? []).compactMap {
                    $0.split(separator: "p").last.map(String.init)
                }
                #expect(cars.sorted() == expected)
            }
        }
        try StoreFixtures.withCopy(of: "bookmarks/Bookmarks_V3.sqlite") { copy in
            let bookmarks = try CommandRun("dump", "--json", copy.path).objects()["BookmarkEntity"] ?? []
            for bookmark in bookmarks {
                let key = try #require((bookmark["objectID"] as? String)?.split(separator: "p").last)
                let sql = "SELECT Z_PK FROM ZBOOKMARKENTITY WHERE ZPARENT = \(key) ORDER BY Z_FOK_PARENT"
                let expected = try StoreFixtures.rows(sql, in: copy).compactMap { $0[0] }
                let children = (bookmark["children"] as? [String] ?? []).compactMap {
                    $0.split(separator: "p").last.map(String.init)
                }
                #expect(children == expected)
            }
        }
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
            let all = try CommandRun("dump", "--json", copy.path).objects()["BookmarkEntity"]
            #expect(all?.count == 10)
            try FileManager.default.removeItem(atPath: copy.path + "-wal")
            let without = CommandRun("dump", "--json", copy.path)
            let fewer = (try? without.objects()["BookmarkEntity"])?.count ?? 0
            #expect(fewer < 10)
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
        #expect(NSDictionary(dictionary: left) == NSDictionary(dictionary: right))
    }

    @Test("A model that we compiled fits the store that Apple made with it")
    func compiledHere() throws {
        try StoreFixtures.inTemporaryFolder { folder in
            let compiled = folder.appendingPathComponent("SampleModel.momd")
            let source = URL(fileURLWithPath: StoreFixtures.path("cars/SampleModel.xcdatamodeld"))
            try SourceModelCompiler.compileModel(at: source, to: compiled)
            let run = CommandRun("info", StoreFixtures.path("cars/SampleModel_V1.sqlite"), "--model", compiled.path)
            #expect(run.errors.isEmpty)
            #expect(run.output.contains("  model        “SampleModel.momd”, version “SampleModel”\n"))
        }
    }
}
