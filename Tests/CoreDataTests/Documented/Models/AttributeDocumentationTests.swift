import CoreData
import TestSupport
import Testing

/// Checks from the pages of `NSAttributeDescription`, `NSAttributeType`, `NSDerivedAttributeDescription` and
/// `NSCompositeAttributeDescription`.
@MainActor @Suite("Documented: attributes")
struct AttributeDocumentationTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func model(_ attributes: [NSAttributeDescription]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = [Library.entity("E", attributes)]
        return model
    }

    private func stored(_ attributes: [NSAttributeDescription], type: String = NSSQLiteStoreType) throws
        -> NSManagedObjectContext
    {
        let description = NSPersistentStoreDescription(url: folder.file("Store"))
        description.type = type
        return try Library.container(model(attributes), description).viewContext
    }

    // MARK: Types

    @Test("type and attributeType are one property: each of the types has two spellings")
    func types() {
        let pairs: [(NSAttributeDescription.AttributeType, NSAttributeType, UInt)] = [
            (.undefined, .undefinedAttributeType, 0), (.integer16, .integer16AttributeType, 100),
            (.integer32, .integer32AttributeType, 200), (.integer64, .integer64AttributeType, 300),
            (.decimal, .decimalAttributeType, 400), (.double, .doubleAttributeType, 500),
            (.float, .floatAttributeType, 600), (.string, .stringAttributeType, 700),
            (.boolean, .booleanAttributeType, 800), (.date, .dateAttributeType, 900),
            (.binaryData, .binaryDataAttributeType, 1000), (.uuid, .UUIDAttributeType, 1100),
            (.uri, .URIAttributeType, 1200), (.transformable, .transformableAttributeType, 1800),
            (.objectID, .objectIDAttributeType, 2000), (.composite, .compositeAttributeType, 2100),
        ]
        let attribute = NSAttributeDescription()
        for (type, oldType, number) in pairs {
            attribute.type = type
            #expect(attribute.attributeType == oldType && oldType.rawValue == number && type.rawValue == oldType)
        }
    }

    @Test("Each type keeps its values through a save")
    func values() throws {
        let values: [(NSAttributeType, any Hashable)] = [
            (.integer16AttributeType, -5), (.integer32AttributeType, 70_000), (.integer64AttributeType, 1 << 40),
            (.doubleAttributeType, 1.5), (.floatAttributeType, 2.5), (.booleanAttributeType, true),
            (.stringAttributeType, "text"), (.dateAttributeType, Date(timeIntervalSinceReferenceDate: 7)),
            (.binaryDataAttributeType, Data([1, 2])), (.UUIDAttributeType, UUID()),
            (.URIAttributeType, try #require(URL(string: "https://example.org"))),
            (.decimalAttributeType, NSDecimalNumber(string: "12.345")),
        ]
        let attributes = values.indices.map { Library.attribute("a\($0)", values[$0].0) }
        let context = try stored(attributes)
        let object = context.make("E")
        for (index, value) in values.enumerated() { object.setValue(value.1, forKey: "a\(index)") }
        try context.save()
        context.refresh(object, mergeChanges: false)
        for (index, value) in values.enumerated() {
            #expect(
                object.value(forKey: "a\(index)").map { "\($0)" } == "\(value.1)".replacing("true", with: "1")
                    || index == 5)
        }
        #expect(object.value(forKey: "a5") as? Bool == true && object.value(forKey: "a11") is NSDecimalNumber)
    }

    @Test("The undefined type is for transient attributes, which take any value; undo minds them")
    func undefinedType() throws {
        let attribute = Library.attribute("any", .undefinedAttributeType, transient: true)
        let context = try stored([attribute])
        context.undoManager = UndoManager()
        let object = context.make("E")
        try context.save()
        object.setValue([1, 2], forKey: "any")
        #expect(object.value(forKey: "any") as? [Int] == [1, 2])
        context.undo()
        #expect(object.value(forKey: "any") == nil)
    }

    @Test("defaultValue and attributeValueClassName: what new objects have, and the class of the values")
    func defaults() throws {
        let attribute = Library.attribute("n", .integer32AttributeType, defaultValue: 7)
        #expect(attribute.defaultValue as? Int == 7 && attribute.attributeValueClassName == "NSNumber")
        #expect(try stored([attribute]).make("E").value(forKey: "n") as? Int == 7)
    }

    @Test("allowsExternalBinaryDataStorage: large values are in files beside the store")
    func externalData() throws {
        let attribute = Library.attribute("data", .binaryDataAttributeType)
        #expect(!attribute.allowsExternalBinaryDataStorage)
        attribute.allowsExternalBinaryDataStorage = true
        let context = try stored([attribute])
        let object = context.make("E", ["data": Data(repeating: 1, count: 300_000)])
        try context.save()
        let files = FileManager.default.enumerator(atPath: folder.url.path)?.compactMap { $0 as? String }
        #expect(files?.contains { $0.contains("_EXTERNAL_DATA/") } == true)
        context.refresh(object, mergeChanges: false)
        #expect((object.value(forKey: "data") as? Data)?.count == 300_000)
    }

    @Test(
        "preservesValueInHistoryOnDeletion: the value is in the tombstone of a deletion; allowsCloudEncryption is kept")
    func tombstones() throws {
        let (kept, other) = (
            Library.attribute("kept", .stringAttributeType), Library.attribute("b", .stringAttributeType)
        )
        #expect(!kept.preservesValueInHistoryOnDeletion && !kept.allowsCloudEncryption)
        kept.preservesValueInHistoryOnDeletion = true
        other.allowsCloudEncryption = true
        #expect(other.allowsCloudEncryption)
        let description = NSPersistentStoreDescription(url: folder.file("Store"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        let context = try Library.container(model([kept, other]), description).viewContext
        let object = context.make("E", ["kept": "K", "b": "B"])
        try context.save()
        context.delete(object)
        try context.save()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        request.resultType = .changesOnly
        let changes = (try context.execute(request) as? NSPersistentHistoryResult)?.result
        let deletion = (changes as? [NSPersistentHistoryChange])?.first { $0.changeType == .delete }
        #expect(deletion?.tombstone as? [String: String] == ["kept": "K"])
    }

    @Test("valueTransformerName: the transformer whose output is stored, and which is asked for the reverse")
    func transformers() throws {
        final class Reversed: ValueTransformer {
            override class func allowsReverseTransformation() -> Bool { true }
            override func transformedValue(_ value: Any?) -> Any? {
                (value as? String).map { Data($0.reversed().map(String.init).joined().utf8) }
            }
            override func reverseTransformedValue(_ value: Any?) -> Any? {
                (value as? Data).map { String(String(decoding: $0, as: UTF8.self).reversed()) }
            }
        }
        let name = NSValueTransformerName("DocumentedReversed")
        ValueTransformer.setValueTransformer(Reversed(), forName: name)
        let attribute = Library.attribute("t", .transformableAttributeType)
        #expect(attribute.valueTransformerName == nil)
        attribute.valueTransformerName = name.rawValue
        let context = try stored([attribute])
        let object = context.make("E", ["t": "abc"])
        try context.save()
        #expect(try plainSQL("SELECT ZT FROM ZE", in: folder.file("Store")) == ["636261"])
        context.refresh(object, mergeChanges: false)
        #expect(object.value(forKey: "t") as? String == "abc")
    }

    @Test("Without a transformer's name, values are archived: an attribute without one keeps arrays and dictionaries")
    func archived() throws {
        let context = try stored([Library.attribute("t", .transformableAttributeType)])
        let object = context.make("E", ["t": ["a", "b"]])
        try context.save()
        context.refresh(object, mergeChanges: false)
        #expect(object.value(forKey: "t") as? [String] == ["a", "b"])
    }

    // MARK: Derived attributes

    private func derived(_ name: String, _ type: NSAttributeType, _ format: String) -> NSDerivedAttributeDescription {
        let attribute = NSDerivedAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.derivationExpression = NSExpression(format: format)
        return attribute
    }

    @Test("A derived attribute is computed by the save, and shows once the object is refreshed")
    func derivedAttributes() throws {
        let context = try stored([
            Library.attribute("name", .stringAttributeType), derived("copied", .stringAttributeType, "name"),
            derived("search", .stringAttributeType, "canonical:(name)"),
            derived("upper", .stringAttributeType, "uppercase:(name)"), derived("saved", .dateAttributeType, "now()"),
        ])
        let object = context.make("E", ["name": "Élan"])
        try context.save()
        context.refresh(object, mergeChanges: false)
        #expect(object.shown("copied") == "Élan" && object.shown("search") == "elan" && object.shown("upper") == "ÉLAN")
        #expect(object.value(forKey: "saved") is Date)
    }

    @Test("A derived attribute of a to-many relationship: @count and @sum")
    func derivedOfMembers() throws {
        let model = Library.model()
        let author = try #require(model.entitiesByName["Author"])
        author.properties += [
            derived("number", .integer64AttributeType, "books.@count"),
            derived("total", .doubleAttributeType, "books.@sum.price"),
        ]
        #expect((author.attributesByName["number"] as? NSDerivedAttributeDescription)?.derivationExpression != nil)
        let context = try Library.stored(at: folder.file("Store"), model).viewContext
        let object = context.make("Author", ["name": "A"])
        for price in [1.5, 2] { context.make("Book", ["author": object, "price": price]) }
        try context.save()
        context.refresh(object, mergeChanges: false)
        #expect(object.value(forKey: "number") as? Int == 2 && object.value(forKey: "total") as? Double == 3.5)
    }

    // MARK: Composite attributes

    @Test("A composite attribute: a dictionary of its elements, which a predicate reaches by key path")
    func composites() throws {
        let composite = NSCompositeAttributeDescription()
        composite.name = "magnitude"
        composite.elements = [
            Library.attribute("richter", .doubleAttributeType), Library.attribute("unit", .stringAttributeType),
        ]
        #expect(composite.type == .composite && composite.elements.map(\.name) == ["richter", "unit"])
        let context = try stored([composite])
        context.make("E", ["magnitude": ["richter": 4.6, "unit": "M"]])
        context.make("E", ["magnitude": ["richter": 1.0]])
        try context.save()
        context.reset()
        let found = try context.all("E", NSPredicate(format: "magnitude.richter > 4.5"))
        #expect(found.count == 1)
        let value = found.first?.value(forKey: "magnitude") as? [String: Any]
        #expect(value?["unit"] as? String == "M" && value?["richter"] as? Double == 4.6)
    }
}
