import CoreData
import StoreReading
import TestSupport
import Testing

@testable import PippinCommand

/// A store of owners with pets, some of which are dogs.
private struct Kennel {
    let folder: TestFolder
    var path: String { folder.store.path }

    init(isFilled: Bool = true) throws {
        folder = try TestFolder()
        let (owner, pet, dog) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (owner.name, pet.name, dog.name) = ("Owner", "Pet", "Dog")
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let (pets, keeper) = (NSRelationshipDescription(), NSRelationshipDescription())
        (pets.name, pets.destinationEntity, pets.isOptional) = ("pets", pet, true)
        (keeper.name, keeper.destinationEntity, keeper.maxCount, keeper.isOptional) = ("owner", owner, 1, true)
        (pets.inverseRelationship, keeper.inverseRelationship) = (keeper, pets)
        owner.properties = [attribute("name", .stringAttributeType), pets]
        let tags = attribute("tags", .transformableAttributeType)
        tags.valueTransformerName = "NSSecureUnarchiveFromData"
        pet.properties = [
            attribute("born", .dateAttributeType), attribute("site", .URIAttributeType), tags, keeper,
        ]
        dog.properties = [attribute("trained", .dateAttributeType)]
        pet.subentities = [dog]
        let model = NSManagedObjectModel()
        model.entities = [owner, pet, dog]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store)
        defer { try? coordinator.remove(store) }
        guard isFilled else { return }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let ann = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
            ann.setValue("Ann", forKey: "name")
            for (kind, seconds) in [("Pet", 737_057_646.8430631), ("Dog", 0)] {
                let pet = NSEntityDescription.insertNewObject(forEntityName: kind, into: context)
                pet.setValue(ann, forKey: "owner")
                pet.setValue(Date(timeIntervalSinceReferenceDate: seconds), forKey: "born")
                pet.setValue(URL(string: "http://x/%C3%A4%20b"), forKey: "site")
                pet.setValue(["a", kind], forKey: "tags")
                if kind == "Dog" { pet.setValue(Date(timeIntervalSinceReferenceDate: 1), forKey: "trained") }
                try context.save()
            }
        }
    }

    func query(_ text: String) -> CommandRun { CommandRun("query", path, text, "--format", "jsonl") }
}

@Suite("Queries and files that are odd")
struct OddInputTests {
    @Test(
        "Dates and URLs are texts in a query wherever the key leads to one",
        arguments: [
            "Owner where any pets.born > \"2020-01-01\"", "Owner where any pets.site == \"http://x/ä b\"",
            "Pet where trained == \"2001-01-01 00:00:01\"", "Owner where any pets.trained < \"2002-01-01\"",
            "Owner where pets.@max.born > \"2020-01-01\"", "Pet where born == \"2024-05-10T18:14:06.8430631Z\"",
        ])
    func values(_ query: String) throws {
        let run = try Kennel().query(query)
        #expect(run.errors.isEmpty, "\(run.errors)")
        #expect(run.output.split(separator: "\n").count == 1)
    }

    @Test("A date is printed so that it finds its object, and is read back as it was")
    func dates() throws {
        let (source, target) = (try Kennel(), try Kennel(isFilled: false))
        let file = source.folder.file("pets.csv")
        #expect(CommandRun("export", source.path, "Pet", "--output", file.path).status == 0)
        let text = try String(contentsOf: file, encoding: .utf8)
        let uuid = try plainSQL("SELECT Z_UUID FROM Z_METADATA", in: source.folder.store)[0]
        try text.replacing("x-coredata://\(uuid)/Owner/p1", with: "").write(
            to: file, atomically: true, encoding: .utf8)
        let run = CommandRun("import", target.path, "Pet", file.path)
        #expect(run.errors.isEmpty, "\(run.errors)")
        let sql = "SELECT ZBORN, hex(ZTAGS) FROM ZPET ORDER BY Z_PK"
        #expect(try plainSQL(sql, in: target.folder.store) == plainSQL(sql, in: source.folder.store))
        #expect(run.output.hasPrefix("2 objects of “Pet” added\n"))
        #expect(run.output.contains("1 of them is of “Dog”"), "a dog is a pet now, which is said: \(run.output)")
    }

    @Test("A limit of none finds none, and no clause is there twice")
    func limits() throws {
        let store = try Kennel()
        #expect(store.query("Pet limit 0").output.isEmpty)
        #expect(store.query("Pet limit 1 offset 0").output.split(separator: "\n").count == 1)
        for clause in ["limit 1 limit 2", "offset 1 offset 0", "order by born order by born"] {
            let run = store.query("Pet \(clause)")
            #expect(run.status == 1, "\(clause)")
            #expect(run.errors.contains("twice"), "\(run.errors)")
        }
    }

    @Test(
        "A file that would be read as something else than it has is refused with the line",
        arguments: [
            ("title\nok\nM\u{FC}ller\n", "line 3: this is not UTF-8"),
            ("title\n\"M\u{FC}ller\"\n", "line 2: this is not UTF-8"),
            ("t\u{EF}tle\nA\n", "line 1: this is not UTF-8"),
            ("title,pages,title\nA,1,B\n", "“title” is there twice"),
            ("title\n\"A\"b\n", "line 2: a comma or the end of the line was expected after a quotation mark"),
        ])
    func refusals(_ text: String, _ message: String) throws {
        let store = try SmallStore()
        let file = store.folder.file("books.csv")
        try #require(text.data(using: .isoLatin1)).write(to: file)
        let run = CommandRun("import", store.path, "Book", file.path)
        #expect(run.status == 1)
        #expect(run.errors.contains(message), "\(run.errors)")
        #expect(try plainNumber("SELECT COUNT(*) FROM ZBOOK", in: store.folder.store) == 3)
    }

    @Test("JSON that is not UTF-8 is refused, too", arguments: ["json", "jsonl"])
    func json(_ format: String) throws {
        let store = try SmallStore()
        let file = store.folder.file("books.\(format)")
        let text = "{\"title\": \"M\u{FC}ller\"}\n"
        try #require((format == "json" ? "[\(text)]" : text).data(using: .isoLatin1)).write(to: file)
        #expect(CommandRun("import", store.path, "Book", file.path).status == 1)
        #expect(try plainNumber("SELECT COUNT(*) FROM ZBOOK", in: store.folder.store) == 3)
    }

    @Test("An empty text alone in its line is an object")
    func emptyText() throws {
        let store = try SmallStore()
        let file = store.folder.file("books.csv")
        try "title\n\"\"\n\nB\n".write(to: file, atomically: true, encoding: .utf8)
        #expect(CommandRun("import", store.path, "Book", file.path).output == "2 objects of “Book” added\n")
        #expect(try plainSQL("SELECT ZTITLE FROM ZBOOK WHERE Z_PK > 3", in: store.folder.store) == ["", "B"])
    }

    @Test(
        "Nothing that a terminal would obey comes from a store",
        arguments: [["dump"], ["info"], ["query", "Thing"], ["model describe"]])
    func controls(_ command: [String]) throws {
        let store = try SmallStore { model in
            let bytes = NSAttributeDescription()
            (bytes.name, bytes.attributeType, bytes.isOptional) = ("by\u{1B}[2Jtes", .binaryDataAttributeType, true)
            let thing = NSEntityDescription()
            (thing.name, thing.properties, thing.managedObjectClassName) = ("Thing", [bytes], "Th\u{9B}2Jing")
            model.entities.append(thing)
        }
        try execute(
            "INSERT INTO ZTHING SELECT 1, Z_ENT, 1, CAST('{\"a\": \"' || char(155) || char(127) || '\"}' AS BLOB) FROM Z_PRIMARYKEY WHERE Z_NAME = 'Thing'",
            in: store.folder.store)
        let words = command[0].split(separator: " ").map(String.init)
        let run = CommandRun(arguments: words + [store.path] + command.dropFirst())
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Thing") || run.output.contains("tes"))
        #expect(!Self.hasControls(run.output))
        let unknown = CommandRun("query", store.path, "Thing", "--columns", "x")
        #expect(unknown.status == 1)
        #expect(!Self.hasControls(unknown.errors))
    }

    @Test(
        "Nothing that a terminal would obey comes from the tables of a store without a model",
        arguments: [["dump"], ["dump", "--json"], ["info"]])
    func rawControls(_ command: [String]) throws {
        let store = try SmallStore()
        try execute(
            """
            DELETE FROM Z_MODELCACHE; ALTER TABLE ZBOOK RENAME COLUMN ZTITLE TO "ZTI\u{1B}[2J\u{9B}TLE";
            UPDATE Z_PRIMARYKEY SET Z_NAME = 'Au\u{1B}thor' WHERE Z_NAME = 'Author'
            """, in: store.folder.store)
        let run = CommandRun(arguments: command + [store.path])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Book"))
        #expect(!Self.hasControls(run.output))
    }

    private static func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0 != "\n" && $0.properties.generalCategory == .control }
    }

    @Test("A store without a model, whose entity is its own parent, is queried as it is dumped")
    func ownParent() throws {
        let store = try SmallStore()
        try execute(
            "DELETE FROM Z_MODELCACHE; UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT WHERE Z_NAME = 'Book'",
            in: store.folder.store)
        #expect(CommandRun("dump", store.path).status == 0)
        let run = CommandRun("query", store.path, "Book", "--format", "jsonl")
        #expect(run.status == 0)
        #expect(run.errors.contains("keeps no copy of its model; its tables are shown as they are"), "\(run.errors)")
        #expect(run.output.split(separator: "\n").count == 3)
    }
}
