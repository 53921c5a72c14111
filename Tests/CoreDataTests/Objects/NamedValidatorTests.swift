@_spi(GeneratedCode) import CoreData
import Testing

/// Code of apps with methods such as `validateTitle(_:)`, as in ReadingList's `Book`.
@Suite("Validators by name")
struct NamedValidatorTests {
    private let context: NSManagedObjectContext

    init() throws { context = try Library.inMemory(Pamphlet.model()).newBackgroundContext() }

    @discardableResult
    private func make(_ values: [String: Any], entity: String = "Pamphlet") throws -> Pamphlet {
        try #require(context.make(entity, values) as? Pamphlet)
    }

    @Test("are called by a save of a new object and of a changed one, whose error is thrown as it is")
    func saving() throws {
        try context.performAndWait {
            let pamphlet = try make(["title": " "])
            #expect(throws: Pamphlet.Refusal.blank) { try context.save() }
            pamphlet.setValue("News", forKey: "title")
            try context.save()
            pamphlet.setValue("  ", forKey: "title")
            #expect(throws: Pamphlet.Refusal.blank) { try context.save() }
        }
    }

    @Test("are called by validateValue(_:forKey:)")
    func asked() throws {
        try context.performAndWait {
            let pamphlet = try make([:])
            var title: AnyObject? = " " as AnyObject
            #expect(throws: Pamphlet.Refusal.blank) { try pamphlet.validateValue(&title, forKey: "title") }
        }
    }

    @Test("get numbers, and the set of a to-many relationship")
    func values() throws {
        try context.performAndWait {
            let pamphlet = try make(["title": "News", "pages": Int64(3)])
            #expect(throws: Pamphlet.Refusal.pages(3)) { try context.save() }
            pamphlet.setValue(Int64(4), forKey: "pages")
            pamphlet.setValue(Set([try make(["title": "More", "pages": Int64(4)])]), forKey: "sequels")
            #expect(throws: Pamphlet.Refusal.sequels(1)) { try context.save() }
        }
    }

    @Test("are not called for a value that the model's rules refuse")
    func rules() throws {
        try context.performAndWait {
            try make(["pages": Int64(4)])
            let missing = #expect(throws: NSError.self) { try context.save() }
            #expect(missing?.code == NSValidationMissingMandatoryPropertyError)
        }
    }

    @Test("are inherited, and those of a subclass go first")
    func inherited() throws {
        try context.performAndWait {
            let leaflet = try make(["title": " ", "pages": Int64(3)], entity: "Leaflet")
            #expect(throws: Pamphlet.Refusal.blank) { try context.save() }
            leaflet.setValue("News", forKey: "title")
            try context.save()
            leaflet.setValue(Int64(5), forKey: "pages")
            #expect(throws: Pamphlet.Refusal.pages(5)) { try context.save() }
        }
    }
}

class Pamphlet: NSManagedObject {
    enum Refusal: Error, Equatable { case blank, pages(Int64), sequels(Int) }

    static func model() -> NSManagedObjectModel {
        let title = Library.attribute("title", .stringAttributeType)
        title.isOptional = false
        let pamphlet = Library.entity("Pamphlet", [title, Library.attribute("pages", .integer64AttributeType)])
        pamphlet.managedObjectClassName = NSStringFromClass(Pamphlet.self)
        let leaflet = Library.entity("Leaflet", [])
        leaflet.managedObjectClassName = NSStringFromClass(Leaflet.self)
        pamphlet.subentities = [leaflet]
        Library.connect(pamphlet, "sequels", toMany: true, pamphlet, "sequelOf")
        let model = NSManagedObjectModel()
        model.entities = [pamphlet, leaflet]
        return model
    }

    func validateTitle(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        let title = value.pointee as? String
        if title?.allSatisfy({ $0 == " " }) ?? true { throw Refusal.blank }
    }

    func validatePages(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        if let pages = value.pointee as? Int64, pages % 4 != 0 { throw Refusal.pages(pages) }
    }

    func validateSequels(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        if let sequels = value.pointee as? Set<NSManagedObject>, !sequels.isEmpty {
            throw Refusal.sequels(sequels.count)
        }
    }
}

final class Leaflet: Pamphlet {
    func validateThePages(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        if let pages = value.pointee as? Int64, pages > 4 { throw Refusal.pages(pages) }
    }
}

// As CoreDataPlugin writes them, which this target does without.

final class _ValidatorsOf_Pamphlet: NamedValidators {
    static var validatedClass: NSManagedObject.Type { Pamphlet.self }

    static func validate(
        _ object: NSManagedObject, _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forCapitalizedKey key: String
    ) throws -> Bool {
        guard let object = object as? Pamphlet else { return false }
        switch key {
        case "Title": try object.validateTitle(value)
        case "Pages": try object.validatePages(value)
        case "Sequels": try object.validateSequels(value)
        default: return false
        }
        return true
    }
}

final class _ValidatorsOf_Leaflet: NamedValidators {
    static var validatedClass: NSManagedObject.Type { Leaflet.self }

    static func validate(
        _ object: NSManagedObject, _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forCapitalizedKey key: String
    ) throws -> Bool {
        guard let object = object as? Leaflet else { return false }
        switch key {
        case "Pages": try object.validateThePages(value)
        default: return false
        }
        return true
    }
}
