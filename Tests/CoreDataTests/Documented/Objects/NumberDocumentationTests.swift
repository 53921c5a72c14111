import CoreData
import TestSupport
import Testing

/// A number is stored as the number that it is, or refused when the object is validated; never as another one.
@MainActor @Suite("Documented: numbers in attributes")
struct NumberDocumentationTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        container = try Notebook.inMemory()
    }

    private struct Refusal: CustomTestStringConvertible {
        let key: String
        let value: any Sendable
        let code: Int
        var testDescription: String { "\(key), code \(code)" }
    }

    nonisolated private static let refusals: [Refusal] = [
        Refusal(key: "stars", value: 70_000, code: 1610), Refusal(key: "stars", value: 32_768, code: 1610),
        Refusal(key: "stars", value: -32_769, code: 1620), Refusal(key: "stars", value: Int64.max, code: 1610),
        Refusal(key: "stars", value: 2.5, code: 1550), Refusal(key: "stars", value: Double.nan, code: 1550),
        Refusal(key: "stars", value: Double.infinity, code: 1610), Refusal(key: "stars", value: 1e300, code: 1610),
        Refusal(key: "pages", value: Int(Int32.max) + 1, code: 1610),
        Refusal(key: "pages", value: Int(Int32.min) - 1, code: 1620),
        Refusal(key: "pages", value: Float(0.5), code: 1550), Refusal(key: "bytes", value: UInt64.max, code: 1610),
        Refusal(key: "bytes", value: UInt64(Int64.max) + 1, code: 1610),
        Refusal(key: "bytes", value: 9.3e18, code: 1610), Refusal(key: "bytes", value: "12", code: 1550),
        Refusal(key: "bytes", value: Decimal(string: "1.5") ?? 0, code: 1550),
        Refusal(key: "bytes", value: Decimal(string: "12345678901234567890") ?? 0, code: 1610),
        Refusal(key: "weight", value: Double.nan, code: 1550), Refusal(key: "weight", value: "heavy", code: 1550),
        Refusal(key: "ratio", value: Float.nan, code: 1550), Refusal(key: "ratio", value: 1e300, code: 1610),
        Refusal(key: "ratio", value: -1e300, code: 1620), Refusal(key: "price", value: Double.nan, code: 1550),
        Refusal(key: "price", value: Decimal.nan, code: 1550), Refusal(key: "isDone", value: 0.5, code: 1550),
        Refusal(key: "Date", value: Date(timeIntervalSinceReferenceDate: .nan), code: 1550),
    ]

    @Test(
        "A number that the attribute's type cannot hold is refused by the save, with entity, key, value and range",
        arguments: refusals)
    private func refused(_ refusal: Refusal) {
        let note = context.make("Note", [refusal.key: refusal.value])
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == refusal.code)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == refusal.key)
        #expect(error?.localizedDescription.contains("“Note.\(refusal.key)”") == true)
        // What was set is still there, as it was.
        #expect(note.value(forKey: refusal.key) != nil)
    }

    @Test("The same through NSNumber", arguments: refusals.filter { $0.value is any Numeric })
    private func refusedAsNumber(_ refusal: Refusal) {
        let number: NSNumber? =
            switch refusal.value {
            case let value as Int: NSNumber(value: value)
            case let value as Int64: NSNumber(value: value)
            case let value as UInt64: NSNumber(value: value)
            case let value as Double: NSNumber(value: value)
            case let value as Float: NSNumber(value: value)
            case let value as Decimal: NSDecimalNumber(decimal: value)
            default: nil
            }
        context.make("Note", [refusal.key: number])
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == refusal.key)
    }

    @Test("validateValue refuses what the save refuses")
    func validateValue() {
        let note = context.make("Note")
        var value: AnyObject? = NSNumber(value: 70_000)
        #expect(throws: NSError.self) { try note.validateValue(&value, forKey: "stars") }
        value = NSNumber(value: 7)
        #expect(throws: Never.self) { try note.validateValue(&value, forKey: "stars") }
    }

    @Test("The limits of each type are stored as they are, and so are -1 and whole numbers of other types")
    func limits() throws {
        let values: [(String, Any, Int64)] = [
            ("stars", 32_767, 32_767), ("stars", -32_768, -32_768), ("stars", -1, -1), ("stars", 3.0, 3),
            ("stars", true, 1), ("stars", UInt8(255), 255), ("stars", NSDecimalNumber(string: "12"), 12),
            ("pages", Int32.max, Int64(Int32.max)), ("pages", NSNumber(value: Float(4)), 4),
            ("bytes", Int64.max, .max), ("bytes", Int64.min, .min), ("bytes", UInt64(Int64.max), .max),
            ("bytes", -1, -1),
        ]
        for (key, value, _) in values { context.make("Note", ["title": key, key: value]) }
        for (key, value, expected) in values {
            let note = context.make("Note", [key: value])
            try context.save()
            context.refresh(note, mergeChanges: false)
            #expect(note.value(forKey: key) as? Int64 == expected, "\(key) = \(value)")
        }
    }

    @Test("A Boolean attribute takes any whole number, 0 for false")
    func booleans() throws {
        for (value, expected) in [(0, false), (1, true), (2, true), (-1, true)] {
            let note = context.make("Note", ["isDone": value])
            try context.save()
            #expect(note.value(forKey: "isDone") as? Bool == expected)
            #expect(
                try context.all(
                    "Note", NSPredicate(format: "SELF == %@ AND isDone == %@", note, NSNumber(value: expected))
                ).count == 1)
        }
    }

    @Test("Infinity is a number that Double and Float attributes hold")
    func infinity() throws {
        let note = context.make("Note", ["weight": Double.infinity, "ratio": -Float.infinity])
        try context.save()
        context.refresh(note, mergeChanges: false)
        #expect(note.value(forKey: "weight") as? Double == .infinity)
        #expect(note.value(forKey: "ratio") as? Float == -.infinity)
    }

    @Test("A batch insertion refuses such numbers, of dictionaries and of objects, and inserts nothing")
    func batchInsertion() throws {
        let dictionaries = NSBatchInsertRequest(entityName: "Note", objects: [["stars": 1], ["stars": 70_000]])
        let error = #expect(throws: NSError.self) { try context.execute(dictionaries) }
        #expect(error?.code == 1610)
        #expect(error?.localizedDescription.contains("“Note.stars”") == true)
        var count = 0
        let objects = NSBatchInsertRequest(entityName: "Note") { (object: NSManagedObject) in
            object.setValue(Double.nan, forKey: "weight")
            count += 1
            return count > 1
        }
        #expect(throws: NSError.self) { try context.execute(objects) }
        #expect(try context.all("Note").isEmpty)
    }

    @Test("A batch update refuses such numbers, given and computed, and changes nothing")
    func batchUpdate() throws {
        context.make("Note", ["stars": 30_000])
        try context.save()
        let values: [Any] = [70_000, 2.5, NSExpression(format: "stars + 30000"), NSExpression(format: "stars / 7.0")]
        for value in values {
            let request = NSBatchUpdateRequest(entityName: "Note")
            request.propertiesToUpdate = ["stars": value]
            let error = #expect(throws: NSError.self) { try context.execute(request) }
            #expect(error?.localizedDescription.contains("Note.stars") == true, "\(value)")
        }
        context.reset()
        #expect(try context.all("Note").first?.value(forKey: "stars") as? Int == 30_000)
    }

    @Test("A batch update computes with whole numbers to the ends of a type, and not beyond")
    func computedWholeNumbers() throws {
        context.make("Note", ["stars": 32_000, "bytes": Int64.max - 1])
        try context.save()
        func update(_ key: String, _ format: String) throws {
            let request = NSBatchUpdateRequest(entityName: "Note")
            request.propertiesToUpdate = [key: NSExpression(format: format)]
            try context.execute(request)
            context.reset()
        }
        try update("stars", "stars + 767")
        try update("bytes", "bytes + 1")
        for (key, format) in [
            ("stars", "stars + 1"), ("stars", "0 - stars - 2"), ("bytes", "bytes + 1"), ("bytes", "bytes * 3"),
        ] {
            let error = #expect(throws: NSError.self) { try update(key, format) }
            #expect(error?.localizedDescription.contains("Note.\(key)") == true, "\(format)")
        }
        let note = try #require(try context.all("Note").first)
        #expect(note.value(forKey: "stars") as? Int == 32_767)
        #expect(note.value(forKey: "bytes") as? Int64 == .max)
        try update("stars", "-1 - stars")
        try update("bytes", "-1 - bytes")
        #expect(try context.all("Note").first?.value(forKey: "stars") as? Int == -32_768)
        #expect(try context.all("Note").first?.value(forKey: "bytes") as? Int64 == .min)
        #expect(throws: NSError.self) { try update("bytes", "bytes - 1") }
        #expect(try context.all("Note").first?.value(forKey: "bytes") as? Int64 == .min)
    }

    @Test("A number that somebody else wrote into the file, too large for the type, is shown as it is")
    func tooLargeInTheFile() throws {
        let file = try Notebook.File()
        let context = try file.container().viewContext
        let note = context.make("Note", ["stars": 1])
        try context.save()
        try execute("UPDATE ZNOTE SET ZSTARS = 70000", in: file.url)
        context.reset()
        let read = try #require(try context.all("Note").first)
        #expect(read.value(forKey: "stars") as? Int == 70_000)
        read.setValue("T", forKey: "title")
        try context.save()
        #expect(try context.all("Note", NSPredicate(format: "stars == 70000")).count == 1)
        withExtendedLifetime(note) {}
    }
}
