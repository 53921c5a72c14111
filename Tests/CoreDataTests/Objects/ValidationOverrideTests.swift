import CoreData
import Testing

/// Code of apps that overrides `validateValue(_:forKey:)`, such as Maccy's `HistoryItem`.
@Suite("Overrides of validateValue(_:forKey:)")
struct ValidationOverrideTests {
    private let context: NSManagedObjectContext

    init() throws { context = try Library.inMemory(Clipping.model()).newBackgroundContext() }

    private func clipping(_ values: [String: Any] = [:]) throws -> Clipping {
        try #require(context.make("Clipping", ["title": "First"].merging(values) { $1 }) as? Clipping)
    }

    @Test("are called by a save of a new object, whose error is thrown as it is")
    func inserting() throws {
        try context.performAndWait {
            let clipping = try clipping(["pin": "q"])
            #expect(throws: Clipping.Refusal.pin("q")) { try context.save() }
            clipping.setValue("a", forKey: "pin")
            try context.save()
            #expect(try context.all("Clipping") == [clipping])
        }
    }

    @Test("are called by a save of a changed object")
    func updating() throws {
        try context.performAndWait {
            let clipping = try clipping()
            try context.save()
            clipping.setValue("q", forKey: "pin")
            #expect(throws: Clipping.Refusal.pin("q")) { try context.save() }
            #expect(clipping.isUpdated)
        }
    }

    @Test("check the model's rules by super, each of which is reported once")
    func rules() throws {
        try context.performAndWait {
            let clipping = try clipping(["title": "F"])
            let tooShort = #expect(throws: NSError.self) { try context.save() }
            #expect(tooShort?.code == NSManagedObjectValidationError)
            clipping.setValue(nil, forKey: "title")
            let missing = #expect(throws: NSError.self) { try context.save() }
            #expect(missing?.code == NSValidationMissingMandatoryPropertyError)
            clipping.setValue(5, forKey: "title")
            let wrong = #expect(throws: NSError.self) { try context.save() }
            #expect(wrong?.userInfo[NSValidationKeyErrorKey] as? String == "title")
            clipping.setValue("", forKey: "title")
            clipping.setValue("q", forKey: "pin")
            let both = #expect(throws: NSError.self) { try context.save() }
            #expect((both?.userInfo[NSDetailedErrorsKey] as? [NSError])?.count == 2)
        }
    }

    @Test("replace the model's rules if they do not call super")
    func withoutSuper() throws {
        try context.performAndWait {
            let clipping = try clipping(["title": "F"])
            clipping.asksSuper = false
            try context.save()
            #expect(try context.all("Clipping").count == 1)
        }
    }

    @Test("are asked about each property once, about further keys, and about to-many relationships that have changes")
    func keys() throws {
        try context.performAndWait {
            let clipping = try clipping()
            try context.save()
            #expect(clipping.take() == ["pin", "shout", "tags", "title"])
            clipping.setValue("Second", forKey: "title")
            try context.save()
            #expect(clipping.take() == ["pin", "shout", "title"])
            context.make("Tag", ["clipping": clipping])
            try context.save()
            #expect(clipping.take() == ["pin", "shout", "tags", "title"])
        }
    }

    @Test("are inherited by subclasses, also by those that have properties and methods of their own")
    func inherited() {
        context.performAndWait {
            context.make("LongClipping", ["title": "First", "pin": "q"])
            #expect(throws: Clipping.Refusal.pin("q")) { try context.save() }
        }
    }

    @Test("are not assumed of a class that overrides other methods: the model's rules are checked without it")
    func none() throws {
        try context.performAndWait {
            let tag = try #require(context.make("Tag") as? ClippingTag)
            try context.save()
            #expect(tag.saves == 1)
            tag.setValue(5, forKey: "name")
            #expect(throws: NSError.self) { try context.save() }
        }
    }
}

class Clipping: NSManagedObject {
    enum Refusal: Error, Equatable { case pin(String) }

    var asksSuper = true
    private var asked: [String] = []

    static func model() -> NSManagedObjectModel {
        let title = Library.attribute("title", .stringAttributeType)
        title.isOptional = false
        title.setValidationPredicates(
            [NSPredicate(format: "length >= 2")], withValidationWarnings: ["too short"])
        let clipping = Library.entity("Clipping", [title, Library.attribute("pin", .stringAttributeType)])
        clipping.managedObjectClassName = NSStringFromClass(Clipping.self)
        let long = Library.entity("LongClipping", [])
        long.managedObjectClassName = NSStringFromClass(LongClipping.self)
        clipping.subentities = [long]
        let tag = Library.entity("Tag", [Library.attribute("name", .stringAttributeType)])
        tag.managedObjectClassName = NSStringFromClass(ClippingTag.self)
        Library.connect(clipping, "tags", toMany: true, tag, "clipping")
        let model = NSManagedObjectModel()
        model.entities = [clipping, long, tag]
        return model
    }

    /// The keys that were asked about since the last time, in alphabetical order.
    func take() -> [String] {
        defer { asked = [] }
        return asked.sorted()
    }

    override class var customValidationKeys: [String] { ["shout", "title"] }

    override func value(forUndefinedKey key: String) -> Any? { key == "shout" ? "FIRST" : nil }

    override func validateValue(
        _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
    ) throws {
        asked.append(key)
        if asksSuper, key != "shout" { try super.validateValue(value, forKey: key) }
        if key == "pin", let pin = value.pointee as? String, pin == "q" { throw Refusal.pin(pin) }
    }
}

final class LongClipping: Clipping {
    var pages = 0

    override func willSave() {
        super.willSave()
        pages += 1
    }

    func turn() { pages += 1 }
}

final class ClippingTag: NSManagedObject {
    var saves = 0

    override func didSave() {
        super.didSave()
        saves += 1
    }
}
