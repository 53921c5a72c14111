import CoreData
import TestSupport
import Testing

/// Checks from the pages of `NSPropertyDescription`, `NSRelationshipDescription`, `NSDeleteRule` and
/// `NSFetchedPropertyDescription`.
@MainActor @Suite("Documented: properties and relationships")
struct PropertyDocumentationTests {
    private let model = Library.model()
    private let author: NSEntityDescription
    private let name: NSPropertyDescription

    init() throws {
        author = try #require(model.entitiesByName["Author"])
        name = try #require(author.propertiesByName["name"])
    }

    // MARK: NSPropertyDescription

    @Test("entity, name and userInfo: what a property belongs to and is called; userInfo is the developer's")
    func basics() {
        #expect(name.entity === author && name.name == "name" && name.userInfo?.isEmpty == true)
        name.userInfo = ["key": "value"]
        #expect(name.userInfo?["key"] as? String == "value")
    }

    @Test("isIndexed, isIndexedBySpotlight and isStoredInExternalRecord: off at first, and kept as they are set")
    func marks() {
        #expect(!name.isIndexed && !name.isIndexedBySpotlight && !name.isStoredInExternalRecord)
        name.isIndexed = true
        name.isIndexedBySpotlight = true
        name.isStoredInExternalRecord = true
        #expect(name.isIndexed && name.isIndexedBySpotlight && name.isStoredInExternalRecord)
    }

    @Test("isOptional: whether an object can be saved without a value")
    func optionality() throws {
        let context = try Library.inMemory(model).viewContext
        context.make("Author", ["age": 1])
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSValidationMissingMandatoryPropertyError && !name.isOptional)
    }

    @Test("isTransient: not saved, and yet a part of undo and of validation")
    func transience() throws {
        author.attributesByName["nickname"]?.setValidationPredicates(
            [NSPredicate(format: "length < 5")], withValidationWarnings: ["long"])
        #expect(author.attributesByName["nickname"]?.isTransient == true)
        let context = try Library.inMemory(model).viewContext
        context.undoManager = UndoManager()
        let object = context.make("Author", ["name": "A"])
        try context.save()
        context.undoManager?.removeAllActions()
        object.setValue("Nickname", forKey: "nickname")
        object.setValue(3, forKey: "age")
        #expect(throws: NSError.self) { try context.save() }
        context.undo()
        #expect(object.value(forKey: "nickname") == nil)
        object.setValue("Nick", forKey: "nickname")
        try context.save()
        context.refresh(object, mergeChanges: false)
        #expect(object.value(forKey: "nickname") == nil)
    }

    @Test("renamingIdentifier: the name, unless it is set")
    func renaming() {
        #expect(name.renamingIdentifier == "name" && author.renamingIdentifier == "Author")
        name.renamingIdentifier = "title"
        #expect(name.renamingIdentifier == "title")
    }

    @Test("versionHash: changes with name, optionality, transience, type and the modifier; not with rules")
    func versionHash() {
        func hash(_ change: (NSAttributeDescription) -> Void) -> Data {
            let attribute = Library.attribute("a", .stringAttributeType)
            change(attribute)
            return attribute.versionHash
        }
        let plain = hash { _ in }
        #expect(hash { $0.name = "b" } != plain && hash { $0.isOptional = false } != plain)
        #expect(hash { $0.isTransient = true } != plain && hash { $0.attributeType = .integer16AttributeType } != plain)
        #expect(hash { $0.versionHashModifier = "2" } != plain)
        #expect(hash { $0.defaultValue = "x" } == plain && hash { $0.renamingIdentifier = "c" } == plain)
        #expect(hash { $0.setValidationPredicates([NSPredicate(value: true)], withValidationWarnings: ["w"]) } == plain)
        #expect((name as NSPropertyDescription).versionHash == author.attributesByName["name"]?.versionHash)
    }

    @Test("setValidationPredicates(_:withValidationWarnings:): each predicate has the message at the same place")
    func validationPredicates() throws {
        name.setValidationPredicates(
            [NSPredicate(format: "length > 1"), NSPredicate(format: "SELF BEGINSWITH 'A'")],
            withValidationWarnings: ["too short", "not with A"])
        #expect(name.validationPredicates.count == 2)
        #expect(name.validationWarnings as? [String] == ["too short", "not with A"])
        let object = try Library.inMemory(model).viewContext.make("Author", ["name": "B"])
        let error = #expect(throws: NSError.self) { try object.validateForInsert() }
        let details = error?.userInfo[NSDetailedErrorsKey] as? [NSError]
        #expect(details?.map(\.localizedDescription) == ["too short", "not with A"])
    }

    // MARK: NSRelationshipDescription

    @Test("A relationship's destination, inverse, delete rule, counts and order, and what they are at first")
    func relationships() throws {
        let new = NSRelationshipDescription()
        #expect(new.maxCount == 0 && new.minCount == 0 && new.isToMany && !new.isOrdered)
        #expect(new.deleteRule == .nullifyDeleteRule && new.destinationEntity == nil && new.inverseRelationship == nil)
        let books = try #require(author.relationshipsByName["books"])
        let book = try #require(model.entitiesByName["Book"])
        #expect(books.destinationEntity === book && books.inverseRelationship === book.relationshipsByName["author"])
        #expect(book.relationshipsByName["chapters"]?.isOrdered == true)
    }

    @Test("versionHash of a relationship: changes with destination, inverse and counts")
    func versionHashOfRelationships() throws {
        func hash(_ change: (NSRelationshipDescription) throws -> Void) throws -> Data {
            let model = Library.model()
            let books = try #require(model.entitiesByName["Author"]?.relationshipsByName["books"])
            try change(books)
            return withExtendedLifetime(model) { books.versionHash }
        }
        let plain = try hash { _ in }
        #expect(try hash { $0.minCount = 1 } != plain && hash { $0.maxCount = 5 } != plain)
        #expect(try hash { $0.inverseRelationship?.name = "writer" } != plain)
        #expect(try hash { $0.destinationEntity = $0.entity } != plain)
    }

    @Test("minCount and maxCount: a save refuses fewer and more; an optional relationship may be empty")
    func counts() throws {
        let chapters = try #require(model.entitiesByName["Book"]?.relationshipsByName["chapters"])
        chapters.minCount = 2
        chapters.maxCount = 3
        let context = try Library.inMemory(model).viewContext
        let book = context.make("Book")
        try context.save()
        func save(chapters count: Int) -> Int? {
            let wanted = NSOrderedSet(array: (0..<count).map { _ in context.make("Chapter") })
            book.setValue(wanted, forKey: "chapters")
            do { try context.save() } catch {
                #expect((error as NSError).userInfo[NSValidationValueErrorKey] as? NSOrderedSet == wanted)
                return (error as NSError).code
            }
            return nil
        }
        #expect(save(chapters: 1) == NSValidationRelationshipLacksMinimumCountError)
        #expect(save(chapters: 4) == NSValidationRelationshipExceedsMaximumCountError)
        #expect(save(chapters: 3) == nil)
    }

    @Test("Delete rules: cascade deletes, nullify lets go, deny refuses, and no action leaves all as it is")
    func deleteRules() throws {
        let rules: [(NSDeleteRule, UInt)] = [
            (.noActionDeleteRule, 0), (.nullifyDeleteRule, 1), (.cascadeDeleteRule, 2), (.denyDeleteRule, 3),
        ]
        for (rule, number) in rules {
            #expect(rule.rawValue == number)
            let model = Library.model()
            model.entitiesByName["Author"]?.relationshipsByName["books"]?.deleteRule = rule
            let context = try Library.inMemory(model).viewContext
            let author = context.make("Author", ["name": "A"])
            let book = context.make("Book", ["author": author])
            try context.save()
            context.delete(author)
            if rule == .denyDeleteRule {
                #expect(throws: NSError.self) { try context.save() }
                context.rollback()
            } else {
                try context.save()
            }
            #expect(try context.all("Book").count == (rule == .cascadeDeleteRule ? 0 : 1))
            if rule == .nullifyDeleteRule { #expect(book.value(forKey: "author") == nil) }
        }
    }

    // MARK: NSFetchedPropertyDescription

    @Test(
        "A fetched property: an array in the request's order; $FETCH_SOURCE is the object, $FETCHED_PROPERTY the property"
    )
    func fetchedProperties() throws {
        let property = NSFetchedPropertyDescription()
        property.name = "bestBooks"
        property.userInfo = ["best": 2]
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = model.entitiesByName["Book"]
        request.predicate = NSPredicate(
            format: "author == $FETCH_SOURCE AND price >= $FETCHED_PROPERTY.userInfo.best")
        request.sortDescriptors = [NSSortDescriptor(key: "price", ascending: false)]
        property.fetchRequest = request
        author.properties = author.properties + [property]
        #expect(property.fetchRequest?.entityName == "Book")
        let context = try Library.inMemory(model).viewContext
        let object = context.make("Author", ["name": "A"])
        for price in [1.0, 2, 3] { context.make("Book", ["price": price, "author": object]) }
        context.make("Book", ["price": 9.0])
        try context.save()
        let found = object.value(forKey: "bestBooks") as? [NSManagedObject]
        #expect(found?.map { $0.shown("price") } == ["3.0", "2.0"])
    }
}
