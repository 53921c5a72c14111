import CoreData
import TestSupport
import Testing

/// Checks from the pages of Core Data's error codes and of the keys in their user info.
@MainActor @Suite("Documented: errors")
struct SaveErrorDocumentationTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// An object of an entity with one attribute, as the model editor writes it.
    private func object(_ attribute: String) throws -> NSManagedObject {
        let url = folder.file("Rules.xcdatamodel")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let xml = "<model><entity name=\"E\"><attribute name=\"a\" optional=\"YES\" \(attribute)/></entity></model>"
        try Data(xml.utf8).write(to: url.appendingPathComponent("contents"))
        return try Library.inMemory(try #require(NSManagedObjectModel(contentsOf: url))).viewContext.make("E")
    }

    private func code(_ object: NSManagedObject, _ value: Any) -> Int? {
        object.setValue(value, forKey: "a")
        do { try object.validateForInsert() } catch { return (error as NSError).code }
        return nil
    }

    // MARK: Validation

    @Test("Numbers: NSValidationNumberTooSmallError and NSValidationNumberTooLargeError")
    func numbers() throws {
        let object = try object(#"attributeType="Integer 16" minValueString="1" maxValueString="5""#)
        #expect(code(object, 0) == NSValidationNumberTooSmallError)
        #expect(code(object, 6) == NSValidationNumberTooLargeError)
        #expect(code(object, 5) == nil)
    }

    @Test("A bound may be a number that the attribute's type cannot hold")
    func boundsOutOfRange() throws {
        let object = try object(#"attributeType="Integer 32" minValueString="0" maxValueString="99999999999""#)
        #expect(code(object, -1) == NSValidationNumberTooSmallError)
        #expect(code(object, Int(Int32.max)) == nil)
    }

    @Test("Dates: NSValidationDateTooSoonError and NSValidationDateTooLateError")
    func dates() throws {
        let object = try object(#"attributeType="Date" minDateTimeInterval="100" maxDateTimeInterval="200""#)
        #expect(code(object, Date(timeIntervalSinceReferenceDate: 50)) == NSValidationDateTooSoonError)
        #expect(code(object, Date(timeIntervalSinceReferenceDate: 250)) == NSValidationDateTooLateError)
        #expect(code(object, Date(timeIntervalSinceReferenceDate: 150)) == nil)
    }

    @Test(
        "Texts: NSValidationStringTooShortError, NSValidationStringTooLongError and NSValidationStringPatternMatchingError"
    )
    func texts() throws {
        let length = try object(#"attributeType="String" minValueString="2" maxValueString="4""#)
        #expect(code(length, "a") == NSValidationStringTooShortError)
        #expect(code(length, "abcde") == NSValidationStringTooLongError)
        #expect(code(length, "abc") == nil)
        let pattern = try object(#"attributeType="String" regularExpressionString="[a-z]+""#)
        #expect(code(pattern, "A1") == NSValidationStringPatternMatchingError && code(pattern, "abc") == nil)
    }

    @Test("Keys of a validation error: object, key, value, predicate; several errors are under NSDetailedErrorsKey")
    func userInfo() throws {
        let object = try object(#"attributeType="Integer 16" minValueString="1" maxValueString="5""#)
        object.setValue(9, forKey: "a")
        let error = #expect(throws: NSError.self) { try object.validateForInsert() }
        #expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === object)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "a")
        #expect(error?.userInfo[NSValidationValueErrorKey] as? Int == 9)
        #expect(error?.userInfo[NSValidationPredicateErrorKey] is NSPredicate)
        #expect(error?.userInfo[NSDetailedErrorsKey] == nil)
    }

    // MARK: Saving

    @Test("NSManagedObjectExternalRelationshipError: a relationship to an object of another store")
    func externalRelationships() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let stores = try (1...2).map { try coordinator.addPersistentStore(type: .sqlite, at: folder.file("\($0)")) }
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = coordinator
        let (author, book) = (context.make("Author", ["name": "A"]), context.make("Book"))
        context.assign(author, to: stores[0])
        context.assign(book, to: stores[1])
        book.setValue(author, forKey: "author")
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSManagedObjectExternalRelationshipError)
    }

    @Test("NSManagedObjectReferentialIntegrityError: existingObject(with:) for an object that does not exist")
    func referentialIntegrity() throws {
        let context = try Library.inMemory().viewContext
        let book = context.make("Book")
        try context.save()
        let identifier = book.objectID
        context.delete(book)
        try context.save()
        let error = #expect(throws: NSError.self) { try context.existingObject(with: identifier) }
        #expect(error?.code == NSManagedObjectReferentialIntegrityError)
    }

    @Test("NSPersistentStoreInvalidTypeError: there is no such type of store")
    func invalidType() {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let error = #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(type: .init(rawValue: "None"), at: folder.file("Store"))
        }
        #expect(error?.code == NSPersistentStoreInvalidTypeError)
    }

    @Test("An error of SQLite has its code in NSSQLiteErrorDomain, or under that key")
    func sqlite() throws {
        try Data(repeating: 7, count: 8192).write(to: folder.file("Store"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let error = try #require(
            #expect(throws: NSError.self) {
                try coordinator.addPersistentStore(type: .sqlite, at: folder.file("Store"))
            })
        #expect(error.domain == NSSQLiteErrorDomain || error.userInfo[NSSQLiteErrorDomain] as? Int == 26)
    }
}
