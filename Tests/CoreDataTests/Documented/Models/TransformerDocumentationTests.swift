import CoreData
import TestSupport
import Testing

/// Checks from the pages of `NSSecureUnarchiveFromDataTransformer` and `NSValueTransformerName`, and of what only
/// SQLite stores do.
@MainActor @Suite("Documented: transformers")
struct TransformerDocumentationTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("NSSecureUnarchiveFromDataTransformer: archives of basic classes, both ways; nil for anything else")
    func archives() throws {
        let transformer = NSSecureUnarchiveFromDataTransformer()
        let data = try #require(transformer.reverseTransformedValue(["a", "b"]) as? Data)
        #expect(transformer.transformedValue(data) as? [String] == ["a", "b"])
        #expect(transformer.transformedValue(Data([1, 2, 3])) == nil && transformer.transformedValue(nil) == nil)
        #expect(NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses.contains { $0 == NSArray.self })
    }

    @Test("allowedTopLevelClasses: a subclass that allows fewer classes does not give objects of others")
    func allowedClasses() throws {
        final class Strings: NSSecureUnarchiveFromDataTransformer {
            override class var allowedTopLevelClasses: [AnyClass] { [NSString.self] }
        }
        let archiver = NSSecureUnarchiveFromDataTransformer()
        let (text, number) = (archiver.reverseTransformedValue("text"), archiver.reverseTransformedValue(Date()))
        #expect(Strings().transformedValue(text) as? String == "text")
        #expect(Strings().transformedValue(number) == nil)
    }

    // CoreDataPlus names transformers after the class that they transform.
    @Test("classForCoder() of a class: the class that archives name, by which transformers are called")
    func classesForCoder() {
        let type: NSObject.Type = NSString.self
        #expect(ObjectIdentifier(type.classForCoder()) == ObjectIdentifier(NSString.self))
    }

    @Test("Names of the transformers that there are, and what they do")
    func names() {
        let secure = NSValueTransformerName.secureUnarchiveFromDataTransformerName
        #expect(ValueTransformer(forName: secure) is NSSecureUnarchiveFromDataTransformer)
        let values: [(NSValueTransformerName, Any?, Bool)] = [
            (.isNilTransformerName, nil, true), (.isNotNilTransformerName, nil, false),
            (.negateBooleanTransformerName, true, false),
        ]
        for (name, value, expected) in values {
            #expect(ValueTransformer(forName: name)?.transformedValue(value) as? Bool == expected)
        }
        #expect(NSValueTransformerName("own").rawValue == "own")
    }

    @Test(
        "A store that does not compute derived attributes is not added where the model has one",
        arguments: ["XML", "Binary"])
    func derivedAttributes(type: String) {
        let derived = NSDerivedAttributeDescription()
        derived.name = "saved"
        derived.attributeType = .dateAttributeType
        derived.derivationExpression = NSExpression(format: "now()")
        let model = NSManagedObjectModel()
        model.entities = [Library.entity("E", [derived])]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(type: .init(rawValue: type), at: folder.file("Store"))
        }
        #expect(throws: Never.self) { try coordinator.addPersistentStore(type: .sqlite, at: folder.file("SQLite")) }
    }
}
