import CoreData
import Foundation
import TestSupport
import Testing

@testable import PippinCommand
@testable import StoreReading

@Suite("How values are shown: --decode, --raw, --dates, --timezone")
struct ValueStyleTests {
    /// A store of letters: with a date, the number of another date, bytes that are JSON, and an archive.
    private func makeStore(at url: URL, archives: [Any] = ["Dear Jane"]) throws {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let text = attribute("text", .transformableAttributeType)
        text.valueTransformerName = "NSSecureUnarchiveFromData"
        let entity = NSEntityDescription()
        entity.name = "Letter"
        entity.properties = [
            attribute("sent", .dateAttributeType), attribute("seen", .integer64AttributeType),
            attribute("facts", .binaryDataAttributeType), attribute("page", .binaryDataAttributeType), text,
        ]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for archive in archives {
                let letter = NSEntityDescription.insertNewObject(forEntityName: "Letter", into: context)
                letter.setValue(Date(timeIntervalSinceReferenceDate: 736_263_015.25), forKey: "sent")
                letter.setValue(Int64(1_714_570_215_500), forKey: "seen")
                letter.setValue(Data("{\"missing\": 1}".utf8), forKey: "facts")
                letter.setValue(Data("Grüße".utf8), forKey: "page")
                letter.setValue(archive, forKey: "text")
                try context.save()
            }
        }
        try coordinator.remove(store)
    }

    private func withStore(archives: [Any] = ["Dear Jane"], _ body: (String) throws -> Void) throws {
        try inTestFolder { folder in
            let store = folder.appendingPathComponent("letters.sqlite")
            try makeStore(at: store, archives: archives)
            try body(store.path)
        }
    }

    private func object(_ run: CommandRun) throws -> [String: Any] {
        try #require(run.status == 0, "\(run.errors)")
        let line = try #require(run.output.split(separator: "\n").first)
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    @Test(
        "dates are in the time zone, with its offset at that time", arguments: ["dump", "query", "export", "timeline"])
    func timezone(command: String) throws {
        try withStore { store in
            var arguments = [command, store, "--timezone", "Europe/Berlin"]
            if ["query", "export"].contains(command) { arguments += ["Letter", "--format", "jsonl"] }
            let run = CommandRun(arguments: arguments)
            #expect(run.output.contains("2024-05-01T15:30:15.250+02:00"), "\(run.output) \(run.errors)")
            let unknown = CommandRun(arguments: arguments.map { $0 == "Europe/Berlin" ? "Nowhere" : $0 })
            #expect(unknown.status == 64)
            #expect(unknown.errors.contains("“Nowhere” is not a time zone"))
        }
    }

    @Test("a date with an offset is imported as the same moment")
    func roundTrip() throws {
        try withStore { store in
            try inTestFolder { folder in
                let file = folder.appendingPathComponent("letters.csv").path
                #expect(
                    CommandRun(
                        "export", store, "Letter", "--output", file, "--timezone", "America/New_York", "--raw",
                        "--decode"
                    ).status == 0)
                let run = CommandRun("import", store, "Letter", file, "--ignore", "text")
                #expect(run.status == 0, "\(run.errors)")
                let sent = CommandRun("query", store, "Letter", "--format", "csv", "--columns", "sent").output
                #expect(sent.components(separatedBy: "2024-05-01T13:30:15.250Z").count == 3, "\(sent)")
            }
        }
    }

    @Test("numbers of another epoch are dates where that is said", arguments: ["dump", "query", "export"])
    func dates(command: String) throws {
        try withStore { store in
            var arguments = [command, store, "--dates", "Letter.seen=unix-ms"]
            if command == "dump" { arguments.append("--json") } else { arguments += ["Letter", "--format", "csv"] }
            let run = CommandRun(arguments: arguments)
            #expect(run.output.contains("2024-05-01T13:30:15.500Z"), "\(run.output) \(run.errors)")
            #expect(!run.output.contains("1714570215500"))
        }
    }

    @Test("--raw has what the store has, beside what is shown")
    func raw() throws {
        try withStore { store in
            let object = try object(
                CommandRun("query", store, "Letter", "--format", "jsonl", "--raw", "--dates", "seen=unix-ms"))
            let raw = try #require(object["$raw"] as? [String: Any])
            #expect(raw["sent"] as? Double == 736_263_015.25)
            #expect(raw["seen"] as? Int == 1_714_570_215_500)
            #expect(raw["facts"] as? String == Data("{\"missing\": 1}".utf8).base64EncodedString())
            #expect((raw["text"] as? String)?.hasPrefix("YnBsaXN0MD") == true)
            #expect((object["text"] as? String)?.hasPrefix("YnBsaXN0MD") == true)
            let text = CommandRun("dump", store, "--raw").output
            #expect(text.contains("2024-05-01 13:30:15.250 UTC   [736263015.25]"))
            #expect(text.contains("\"Dear Jane\"   [62706c697374303"))
        }
    }

    @Test("--decode says what bytes hold, and leaves the bytes where they are", arguments: ["json", "jsonl", "csv"])
    func decode(format: String) throws {
        try withStore { store in
            let run = CommandRun("query", store, "Letter", "--format", format, "--decode")
            #expect(run.status == 0, "\(run.errors)")
            let quote = format == "csv" ? "\"\"" : "\""
            #expect(run.output.contains("$contents"))
            #expect(run.output.contains(#"page": {"form": "text", "content": "Grüße"}"#.replacing("\"", with: quote)))
            #expect(run.output.contains(Data("Grüße".utf8).base64EncodedString()))
            #expect(!CommandRun("query", store, "Letter", "--format", format).output.contains("$contents"))
        }
    }

    @Test("nothing that a store holds looks like what is said of an object")
    func forging() throws {
        try withStore(archives: [["$marks": ["sent": "gone"], "$class": "Letter"] as NSDictionary]) { store in
            let object = try #require(CommandRun("dump", store, "--json", "--decode").objects()["Letter"]?.first)
            #expect(Set(object.keys) == ["objectID", "sent", "seen", "facts", "page", "text", "$contents"])
            let contents = try #require((object["$contents"] as? [String: Any])?["text"] as? [String: Any])
            #expect((contents["content"] as? [String: Any])?.keys.sorted() == ["$$class", "$$marks"])
        }
    }

    @Test(
        "conditions on the text of an archive are those on texts",
        arguments: [
            ("text == \"Dear Jane\"", 1), ("text != \"Dear Jane\"", 2), ("text beginswith \"Dear\"", 2),
            ("text contains[c] \"jane\" or seen == 0", 1), ("not text like \"Dear*\"", 1),
            ("text in {\"Dear Jane\", \"Dear Emma\"}", 2), ("text == nil", 0),
        ])
    func conditions(condition: String, count: Int) throws {
        try withStore(archives: ["Dear Jane", "Dear Emma", ["a": 1] as NSDictionary]) { store in
            let run = CommandRun("query", store, "Letter where \(condition)", "--format", "jsonl")
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.split(separator: "\n").count == count, "\(run.output)")
        }
    }

    @Test("a text that is not UTF-8 is named with its bytes")
    func invalidText() throws {
        let store = try SmallStore()
        try execute(
            "UPDATE ZBOOK SET ZTITLE = CAST(x'41ff42' AS TEXT) WHERE ZTITLE = 'Emma'", in: store.folder.store)
        for arguments in [["dump", store.path], ["query", store.path, "Book"]] {
            #expect(CommandRun(arguments: arguments).errors.contains("(the bytes 41 ff 42)"))
        }
    }

    @Test("the report and a check name numbers that may be dates, and numbers without objects")
    func suggestions() throws {
        try withStore { store in
            try inTestFolder { folder in
                let report = folder.appendingPathComponent("report.html")
                #expect(CommandRun("report", store, "--output", report.path).status == 0)
                let page = try String(contentsOf: report, encoding: .utf8)
                #expect(page.contains("--dates Letter.seen=unix-ms"))
                #expect(page.contains("from 2024-05-01 to 2024-05-01"))
            }
            try execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 4 WHERE Z_NAME = 'Letter'", in: URL(fileURLWithPath: store))
            let check = CommandRun("check", store)
            #expect(check.status == 0)
            #expect(check.output.contains("deleted    Letter: 4 numbers handed out, 3 without an object: 2–4"))
        }
    }

    @Test("numbers of each epoch are recognized, and small numbers are not dates")
    func epochs() {
        let moment = 736_263_015.0
        let numbers: [DateEpoch: Double] = [
            .unix: 1_714_570_215, .unixMilliseconds: 1_714_570_215_000, .unixMicroseconds: 1_714_570_215_000_000,
            .unixNanoseconds: 1_714_570_215_000_000_000, .coreData: moment, .coreDataNanoseconds: moment * 1e9,
            .webKit: 13_359_043_815_000_000,
        ]
        for (epoch, number) in numbers {
            #expect(DateEpoch.suggestion(for: "lastSeenTime", from: number, to: number) == epoch)
        }
        #expect(DateEpoch.suggestion(for: "size", from: 1_714_570_215, to: 1_714_570_215) == nil)
        #expect(DateEpoch.suggestion(for: "lastSeenTime", from: 3, to: 1_714_570_215) == nil)
        #expect(DateEpoch.suggestion(for: "timeZone", from: 1_714_570_215, to: 1_714_570_215) == nil)
    }
}
