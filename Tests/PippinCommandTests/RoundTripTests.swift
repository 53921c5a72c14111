import CoreData
import TestSupport
import Testing
@testable import StoreReading

@testable import PippinCommand

/// A store of things with an attribute of each kind, whose owner is needed, and which are in an order somewhere.
private struct Cupboard {
    let folder: TestFolder
    var path: String { folder.store.path }

    static func model(isOrdered: Bool = false) -> NSManagedObjectModel {
        let (thing, owner) = (NSEntityDescription(), NSEntityDescription())
        (thing.name, owner.name) = ("Thing", "Owner")
        let types: [(String, NSAttributeType)] = [
            ("text", .stringAttributeType), ("whole", .integer64AttributeType), ("real", .doubleAttributeType),
            ("exact", .decimalAttributeType), ("flag", .booleanAttributeType), ("day", .dateAttributeType),
            ("bytes", .binaryDataAttributeType), ("uuid", .UUIDAttributeType), ("site", .URIAttributeType),
        ]
        let (one, many) = (NSRelationshipDescription(), NSRelationshipDescription())
        (one.name, one.destinationEntity, one.maxCount, one.isOptional) = ("owner", owner, 1, false)
        (many.name, many.destinationEntity, many.isOptional, many.isOrdered) = ("things", thing, true, isOrdered)
        (one.inverseRelationship, many.inverseRelationship) = (many, one)
        thing.properties =
            types.map { name, type in
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
                if name == "whole" {
                    attribute.setValidationPredicates(
                        [NSPredicate(format: "SELF < 100")], withValidationWarnings: ["Too many."])
                }
                return attribute
            } + [one]
        let name = NSAttributeDescription()
        (name.name, name.attributeType, name.isOptional) = ("name", .stringAttributeType, false)
        owner.properties = [name, many]
        let model = NSManagedObjectModel()
        model.entities = [thing, owner]
        return model
    }

    /// With one owner, and a thing for each text.
    init(_ texts: [String?] = [], isOrdered: Bool = false, hasHistory: Bool = false) throws {
        folder = try TestFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(isOrdered: isOrdered))
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
            options: [NSPersistentHistoryTrackingKey: hasHistory])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
            owner.setValue("Mary", forKey: "name")
            for (number, text) in texts.enumerated() {
                let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
                thing.setValue(text, forKey: "text")
                thing.setValue(owner, forKey: "owner")
                guard let text else { continue }
                thing.setValue(-number, forKey: "whole")
                thing.setValue(-0.5 * Double(number), forKey: "real")
                thing.setValue(NSDecimalNumber(string: "-\(number).25"), forKey: "exact")
                thing.setValue(number % 2 == 0, forKey: "flag")
                thing.setValue(Date(timeIntervalSinceReferenceDate: Double(number) * -4e9 + 0.25), forKey: "day")
                // Base64 of it begins with a plus sign.
                thing.setValue(Data([0xF8, UInt8(number)]) + Data(text.utf8), forKey: "bytes")
                thing.setValue(UUID(), forKey: "uuid")
                thing.setValue(URL(string: "@x/\(number)"), forKey: "site")
                try context.save()
            }
            try context.save()
        }
        try coordinator.remove(store)
    }

    func rows() throws -> [String] {
        try plainSQL(
            "SELECT ZTEXT IS NULL, hex(ZTEXT), ZWHOLE, ZREAL, ZEXACT, ZFLAG, ZDAY, hex(ZBYTES), hex(ZUUID), ZSITE, ZOWNER FROM ZTHING ORDER BY Z_PK",
            in: folder.store)
    }

    /// Moves a file's references to a store's objects to those of another store.
    static func readdress(_ file: URL, from source: Cupboard, to target: Cupboard) throws {
        func uuid(_ store: Cupboard) throws -> String {
            try plainSQL("SELECT Z_UUID FROM Z_METADATA", in: store.folder.store)[0]
        }
        let text = try String(contentsOf: file, encoding: .utf8)
        try text.replacing(uuid(source), with: uuid(target)).write(to: file, atomically: true, encoding: .utf8)
    }
}

@Suite("Export and import, there and back")
struct RoundTripTests {
    static let texts: [String?] = [
        "=1+1", "=cmd|' /C calc'!A0", "+SUM(A1)", "-2+3+cmd", "@import", "\t=1", "\r\n=1", "'=1", "''=1", "'",
        "'quoted'", "'+49", "+49 (30) 1234-5",
        "-5", "- a list", "a,b", "\"", "two\nlines", "\r", " blank ", "", nil, "é=1", "…",
        // One character each for Swift, and two for a reader of CSV.
        "\"\u{200C} hello", "a\"\u{301}, b", " \u{301}x", "'\u{301}=1",
    ]

    @Test("What an export writes, an import reads back equal", arguments: ["csv", "csv --verbatim", "json", "jsonl"])
    func everything(_ form: String) throws {
        let words = form.split(separator: " ").map(String.init)
        let (source, target) = (try Cupboard(Self.texts), try Cupboard())
        let file = source.folder.file("things.\(words[0])")
        let flags = Array(words.dropFirst())
        #expect(CommandRun(arguments: ["export", source.path, "Thing", "--output", file.path] + flags).errors.isEmpty)
        try Cupboard.readdress(file, from: source, to: target)
        let run = CommandRun(arguments: ["import", target.path, "Thing", file.path] + flags)
        #expect(run.errors.isEmpty)
        #expect(run.output == "\(Self.texts.count) objects of “Thing” added\n")
        #expect(try target.rows() == source.rows())
        #expect(CommandRun("check", target.path).status == 0)
    }

    @Test(
        "Bytes that are JSON, composite values, infinities and dates of no calendar come back as they were",
        arguments: ["csv", "json", "jsonl"])
    func unusualValues(_ format: String) throws {
        let folder = try TestFolder()
        func container(_ name: String) throws -> NSPersistentStoreCoordinator {
            let (street, spot, place) = (
                NSAttributeDescription(), NSAttributeDescription(), NSCompositeAttributeDescription()
            )
            (street.name, street.attributeType, street.isOptional) = ("street", .stringAttributeType, true)
            (spot.name, spot.attributeType, spot.isOptional) = ("spot", .doubleAttributeType, true)
            (place.name, place.isOptional, place.elements) = ("place", true, [street, spot])
            let entity = NSEntityDescription()
            entity.name = "Thing"
            entity.properties =
                [
                    ("bytes", NSAttributeType.binaryDataAttributeType), ("real", .doubleAttributeType),
                    ("day", .dateAttributeType),
                ]
                .map { name, type in
                    let attribute = NSAttributeDescription()
                    (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
                    return attribute
                } + [place]
            let model = NSManagedObjectModel()
            model.entities = [entity]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file(name), options: nil)
            return coordinator
        }
        let coordinator = try container("source.sqlite")
        _ = try container("target.sqlite")
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let values: [(String?, Double, Double, [String: Any]?)] = [
            (
                #"{"a" : [1, "x,}]", {"\"": null}]}"#, .infinity, 1e13,
                ["street": "a \"b\", c", "spot": -Double.infinity]
            ),
            ("[\n  1,\r\n  2\n]", -.infinity, -1e300, ["street": ""]), ("", 0.1, 3e11, nil),
            (nil, 5, 0, ["spot": 1.5]),
            ("{no json}", 1e-300, 0.25, ["street": "=1"]),
        ]
        try context.performAndWait {
            for (bytes, real, day, place) in values {
                let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
                thing.setValue(bytes.map { Data($0.utf8) }, forKey: "bytes")
                thing.setValue(real, forKey: "real")
                thing.setValue(Date(timeIntervalSinceReferenceDate: day), forKey: "day")
                thing.setValue(place, forKey: "place")
                try context.save()
            }
        }
        let file = folder.file("things.\(format)").path
        let (source, target) = (folder.file("source.sqlite"), folder.file("target.sqlite"))
        #expect(CommandRun("export", source.path, "Thing", "--output", file).errors.isEmpty)
        #expect(CommandRun("import", target.path, "Thing", file).errors.isEmpty)
        let sql =
            "SELECT hex(ZBYTES), ZBYTES IS NULL, ZREAL, ZDAY, ZSTREET, ZSTREET IS NULL, ZSPOT FROM ZTHING ORDER BY Z_PK"
        #expect(try plainSQL(sql, in: target) == plainSQL(sql, in: source))
    }

    @Test(
        "An invalid value of an attribute is reported with what it should be",
        arguments: [
            (#"[{"whole": [1]}]"#, "“whole” needs a single value, and is “[1]”"),
            (#"[{"things": []}]"#, "“Thing” has no property “things”"),
            (#"[{"owner": {}}]"#, "“owner” is “{}”, which is not an object of the store"),
        ])
    func wrongKinds(json: String, message: String) throws {
        let store = try Cupboard()
        let file = store.folder.file("things.json")
        try Data(json.utf8).write(to: file)
        let run = CommandRun("import", store.path, "Thing", file.path)
        #expect(run.status == 1)
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    @Test("No cell of text begins as a formula does, unless that was asked for; numbers are numbers")
    func formulas() throws {
        let store = try Cupboard(Self.texts)
        let guarded = CommandRun("query", store.path, "Thing", "--format", "csv", "--columns", "text,exact,bytes,site")
            .output
        #expect(guarded.contains(",'=1+1,-0.25,'+AA9MSsx,'@x/0\r\n"))
        #expect(guarded.contains(",'=cmd|' /C calc'!A0,"))
        #expect(guarded.contains(",''=1,"))
        #expect(guarded.contains(",+49 (30) 1234-5,"))
        #expect(guarded.contains(",'- a list,"))
        let verbatim = CommandRun("query", store.path, "Thing", "--format", "csv", "--verbatim").output
        #expect(verbatim.contains(",=cmd|' /C calc'!A0,"))
        for text in Self.texts.compactMap({ $0 }) {
            let cell = CSVText.guarded(text)
            #expect(CSVText.unguarded(cell) == text)
            #expect(!["=", "@", "\t", "\r", "\r\n"].contains { cell.hasPrefix($0) }, "\(cell)")
        }
    }

    @Test(
        "Rows are validated as objects are; then nothing is written",
        arguments: [
            ("owner,whole\nOWNER,99\nOWNER,100\n", "things.csv, line 3: Too many."),
            ("owner,whole\nOWNER,99\n,98\n", "things.csv, line 3:"), ("whole\n1\n", "things.csv, line 2:"),
            ("owner\nx-coredata://nowhere/Owner/p1\n", "which is not an object of the store"),
            ("owner\nMISSING\n", "which is not an object of the store"),
            ("owner\nTHING\n", "which is not an object of the store"),
        ])
    func refusals(_ text: String, _ message: String) throws {
        let store = try Cupboard(["one"])
        let uuid = try plainSQL("SELECT Z_UUID FROM Z_METADATA", in: store.folder.store)[0]
        let file = store.folder.file("things.csv")
        try text.replacing("OWNER", with: "x-coredata://\(uuid)/Owner/p1").replacing(
            "MISSING", with: "x-coredata://\(uuid)/Owner/p9"
        )
        .replacing("THING", with: "x-coredata://\(uuid)/Thing/p1").write(to: file, atomically: true, encoding: .utf8)
        let run = CommandRun("import", store.path, "Thing", file.path)
        #expect(run.status == 1)
        #expect(run.errors.contains(message), "\(run.errors)")
        #expect(try plainNumber("SELECT COUNT(*) FROM ZTHING", in: store.folder.store) == 1)
        #expect(try plainNumber("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Thing'", in: store.folder.store) == 1)
    }

    @Test("Where the other side has an order, objects come at its end")
    func ordered() throws {
        let store = try Cupboard(["one", "two"], isOrdered: true)
        let uuid = try plainSQL("SELECT Z_UUID FROM Z_METADATA", in: store.folder.store)[0]
        let file = store.folder.file("things.jsonl")
        try "{\"text\": \"three\", \"owner\": \"x-coredata://\(uuid)/Owner/p1\"}\n".write(
            to: file, atomically: true, encoding: .utf8)
        #expect(CommandRun("import", store.path, "Thing", file.path).errors.isEmpty)
        let order = try plainSQL("SELECT ZTEXT FROM ZTHING ORDER BY Z_FOK_OWNER", in: store.folder.store)
        #expect(order == ["one", "two", "three"])
    }

    @Test("The history has who imported what")
    func history() throws {
        let store = try Cupboard(["one"], hasHistory: true)
        let file = store.folder.file("owners.csv")
        try "name\nAnn\nBob\n".write(to: file, atomically: true, encoding: .utf8)
        #expect(CommandRun("import", store.path, "Owner", file.path).errors.isEmpty)
        let changes = try plainSQL(
            "SELECT s.ZNAME, COUNT(*) FROM ACHANGE c JOIN ATRANSACTION t ON c.ZTRANSACTIONID = t.Z_PK JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS "
                + "WHERE s.ZNAME = 'pippin import' GROUP BY t.Z_PK", in: store.folder.store)
        #expect(changes == ["pippin import|2"])
    }

    @Test(
        "Dates of all times are read as they are written",
        arguments: [0, -0.5, 1e9, -3e10, -7e10, 2.4e11, -2.8e11, 86_399.999])
    func dates(_ seconds: Double) throws {
        let date = try #require(DateText.date(TextTools.iso8601(seconds)))
        #expect(abs(date.timeIntervalSinceReferenceDate - seconds) < 1e-4)
    }

    @Test("Dates are texts that Foundation writes for them and reads back, from the year -3000 to the year 9000")
    func foundation() {
        let days = Array(stride(from: -1_826_000, to: 2_556_000, by: 997)) + Array(-152_800..<(-152_700))
        for day in days {
            let date = Date(timeIntervalSinceReferenceDate: Double(day) * 86_400)
            let text = date.ISO8601Format()
            #expect(TextTools.iso8601(date.timeIntervalSinceReferenceDate) == text)
            #expect(DateText.date(text) == date)
        }
        // Days that were left out, and a leap day of the Julian calendar only.
        for text in ["1582-10-05", "1582-10-14", "1500-02-29"] {
            #expect(DateText.date(text) == (try? Date("\(text)T00:00:00Z", strategy: .iso8601)))
        }
        #expect(DateText.date("1700-02-29") == nil)
    }

    @Test("The distant past is found by the text that Foundation writes for it, and is imported as it was exported")
    func distantPast() throws {
        let store = try SmallStore { model in
            let opened = NSAttributeDescription()
            (opened.name, opened.attributeType, opened.isOptional) = ("opened", .dateAttributeType, true)
            model.entitiesByName["Book"]?.properties.append(opened)
        }
        try execute("UPDATE ZBOOK SET ZOPENED = -63114076800 WHERE ZTITLE = 'Emma'", in: store.folder.store)
        let query = ["query", store.path, "Book where opened == \"0001-01-01T00:00:00Z\"", "--columns", "title,opened"]
        let found = CommandRun(arguments: query)
        #expect(found.output.contains("Emma"), "\(found.errors)")
        let file = store.folder.file("books.csv")
        try "title,opened\nAgain,0001-01-01T00:00:00Z\n".write(to: file, atomically: true, encoding: .utf8)
        #expect(CommandRun("import", store.path, "Book", file.path).errors.isEmpty)
        let stored = try plainSQL(
            "SELECT CAST(ZOPENED AS INTEGER) FROM ZBOOK WHERE ZTITLE = 'Again'", in: store.folder.store)
        #expect(stored == ["-63114076800"])
    }

    @Test(
        "An array of JSON is read element by element",
        arguments: [
            ("[]", []), (" [ ] ", []),
            ("[1, {\"a\": [1, \"]\\\"\"]} ,\"x\"]", ["1", " {\"a\": [1, \"]\\\"\"]} ", "\"x\""]),
            ("[[1],[2]]\n", ["[1]", "[2]"]),
        ] as [(String, [String])])
    func elements(_ text: String, _ expected: [String]) throws {
        let folder = try TestFolder()
        try Data(text.utf8).write(to: folder.file("a.json"))
        var reader = JSONArrayReader(try ByteReader(path: folder.file("a.json").path))
        var found: [String] = []
        while let element = try reader.next() { found.append(String(decoding: element, as: UTF8.self)) }
        #expect(found == expected)
    }

    @Test(
        "Text that is not an array of JSON is reported", arguments: ["", "{}", "[1", "[1}]", "[1] 2", "[1 \"", "[\"a"])
    func noArrays(_ text: String) throws {
        let folder = try TestFolder()
        try Data(text.utf8).write(to: folder.file("a.json"))
        var reader = JSONArrayReader(try ByteReader(path: folder.file("a.json").path))
        #expect(throws: JSONArrayReader.Mistake.self) { while try reader.next() != nil {} }
    }
}
