import CoreData
import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import PippinCommand
@testable import StoreReading

@Suite("pippin timeline and scan")
struct TimelineTests {
    /// A store of letters, each with the date and the number of its sending.
    private func makeStore(at url: URL, _ letters: [(String, Date)], type: String = NSSQLiteStoreType) throws {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let entity = NSEntityDescription()
        entity.name = "Letter"
        entity.properties = [
            attribute("subject", .stringAttributeType), attribute("sent", .dateAttributeType),
            attribute("seen", .integer64AttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for (subject, date) in letters {
                let letter = NSEntityDescription.insertNewObject(forEntityName: "Letter", into: context)
                letter.setValue(subject, forKey: "subject")
                letter.setValue(date, forKey: "sent")
                letter.setValue(Int64(date.timeIntervalSince1970 * 1000) + 500, forKey: "seen")
                try context.save()
            }
        }
        try coordinator.remove(store)
    }

    private func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

    @Test("writes the dates of all stores of a folder in the order of time, whatever the stores are called")
    func order() throws {
        try inTestFolder { folder in
            try makeStore(at: folder.appendingPathComponent("b"), [("third", date(3000)), ("first", date(1000))])
            let nested = folder.appendingPathComponent("nested")
            try FileManager.default.createDirectory(at: nested, withIntermediateDirectories: false)
            try makeStore(at: nested.appendingPathComponent("4f"), [("second", date(2000))], type: NSBinaryStoreType)
            try Data("nothing".utf8).write(to: nested.appendingPathComponent("note.txt"))
            let run = CommandRun("timeline", folder.path)
            #expect(run.status == 0, "\(run.errors)")
            let events = try run.output.split(separator: "\n").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String])
            }
            #expect(events.map { $0["title"] } == ["first", "second", "third"])
            #expect(events.first?["time"] == "1970-01-01T00:16:40Z")
            #expect(events.first?["property"] == "sent")
            #expect(events[1]["source"]?.hasSuffix("nested/4f") == true)
        }
    }

    @Test("takes numbers for dates of another epoch if that is said")
    func epochs() throws {
        try inTestFolder { folder in
            let store = folder.appendingPathComponent("letters.sqlite")
            try makeStore(at: store, [("Hello", date(1000))])
            let run = CommandRun("timeline", store.path, "--dates", "Letter.seen=unix-ms")
            #expect(run.output.split(separator: "\n").count == 2)
            #expect(
                run.output.contains(
                    "\"time\": \"1970-01-01T00:16:40.500Z\", \"entity\": \"Letter\", \"property\": \"seen\""))
            #expect(CommandRun("timeline", store.path, "--dates", "seen=never").status == 64)
        }
    }

    @Test("numbers of each epoch are the same moment")
    func sameMoment() {
        let moment = 700_000_000.0
        let numbers: [DateEpoch: Double] = [
            .unix: 1_678_307_200, .unixMilliseconds: 1_678_307_200_000, .unixMicroseconds: 1_678_307_200_000_000,
            .unixNanoseconds: 1_678_307_200_000_000_000, .coreData: moment, .coreDataNanoseconds: moment * 1e9,
            .webKit: 13_322_780_800_000_000,
        ]
        for epoch in DateEpoch.allCases { #expect(numbers[epoch].map(epoch.secondsSince2001) == moment, "\(epoch)") }
    }

    @Test("writes the form that l2tcsv is, with seventeen fields and no formula")
    func csv() throws {
        try inTestFolder { folder in
            let store = folder.appendingPathComponent("letters.sqlite")
            try makeStore(at: store, [("=1+1, \"and\" more", date(1000))])
            let file = folder.appendingPathComponent("timeline.csv")
            let run = CommandRun("timeline", store.path, "-o", file.path)
            #expect(run.status == 0, "\(run.errors)")
            let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\r\n")
            #expect(lines[0].split(separator: ",").count == 17)
            #expect(lines[1].hasPrefix("01/01/1970,00:16:40,UTC,....,COREDATA,Core Data Letter,sent,"))
            #expect(lines[1].contains("\"'=1+1, \"\"and\"\" more\""))
        }
    }

    @Test("sorts the same with little memory as with much")
    func externalSort() throws {
        var random = SplitMix(state: 5)
        let keys = (0..<5000).map { _ in Double(Int.random(in: 0..<500, using: &random)) }
        // So few bytes that there are more parts than are open at a time.
        let (small, large) = (ExternalSort(mostBytes: 3000), ExternalSort())
        for (number, key) in keys.enumerated() {
            for sort in [small, large] { try sort.add("\(key) \(number)\n", key: key) }
        }
        var texts: [[String]] = [[], []]
        try small.forEach { texts[0].append($0) }
        try large.forEach { texts[1].append($0) }
        #expect(texts[0] == texts[1])
        #expect(texts[0].count == 5000)
        let sorted = keys.enumerated().sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }
        #expect(texts[0] == sorted.map { "\($0.element) \($0.offset)\n" })
    }

    @Test("scan says where the stores of a backup were on the device, and which file is a store's log")
    func backup() throws {
        try inTestFolder { folder in
            let part = folder.appendingPathComponent("4f")
            try FileManager.default.createDirectory(at: part, withIntermediateDirectories: false)
            try makeStore(at: part.appendingPathComponent("4f98"), [("Hello", date(1000))])
            try Data("log".utf8).write(to: part.appendingPathComponent("4fab"))
            let manifest = try Connection(path: folder.appendingPathComponent("Manifest.db").path, mode: .create)
            try manifest.execute(
                """
                CREATE TABLE Files (fileID TEXT PRIMARY KEY, domain TEXT, relativePath TEXT, flags INTEGER, file BLOB);
                INSERT INTO Files VALUES ('4f98', 'HomeDomain', 'Library/Letters.sqlite', 1, NULL),
                    ('4fab', 'HomeDomain', 'Library/Letters.sqlite-wal', 1, NULL);
                """)
            let run = CommandRun("scan", folder.path, "--json")
            #expect(run.status == 0, "\(run.errors)")
            let lines = run.output.split(separator: "\n")
            #expect(lines.count == 1)
            let store = try #require(
                try lines.first.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) } as? [String: Any])
            #expect(store["devicePath"] as? String == "HomeDomain/Library/Letters.sqlite")
            #expect((store["entities"] as? [String: Int]) == ["Letter": 1])
            #expect(CommandRun("scan", folder.path).output.contains("on the device  HomeDomain/Library/Letters.sqlite"))
        }
    }
}
