import CoreData
import Testing

/// Checks from the pages of `NSManagedObjectModel`, `NSEntityDescription` and the property descriptions.
@Suite("Documented: models")
struct ModelDocumentationTests {
    private let model = Library.model()

    @Test("entitiesByName has every entity under its name")
    func entities() {
        #expect(Set(model.entitiesByName.keys) == ["Author", "Book", "Comic", "Tag", "Chapter", "Shelf"])
        #expect(model.entities.allSatisfy { $0.managedObjectModel === model })
    }

    @Test("A configuration names a part of the entities; no name means all")
    func configurations() throws {
        let tags = try #require(model.entitiesByName["Tag"])
        model.setEntities([tags], forConfigurationName: "Tags")
        #expect(model.configurations == ["Tags"])
        #expect(model.entities(forConfigurationName: "Tags") == [tags])
        #expect(model.entities(forConfigurationName: nil)?.count == 6)
        #expect(model.entities(forConfigurationName: "Nothing") == nil)
    }

    @Test("A model that a coordinator uses names its default configuration, too, and one that none uses does not")
    func defaultConfiguration() {
        model.setEntities([], forConfigurationName: "Empty")
        #expect(model.configurations == ["Empty"])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        #expect(coordinator.managedObjectModel.configurations == ["Empty", "PF_DEFAULT_CONFIGURATION_NAME"])
    }

    @Test("A fetch request template is found by name, and filled in with values for its variables")
    func templates() throws {
        let template = NSFetchRequest<any NSFetchRequestResult>()
        template.entity = model.entitiesByName["Author"]
        template.predicate = NSPredicate(format: "name == $NAME")
        model.setFetchRequestTemplate(template, forName: "byName")
        #expect(model.fetchRequestTemplate(forName: "byName") != nil && model.fetchRequestTemplate(forName: "x") == nil)
        let request = model.fetchRequestFromTemplate(withName: "byName", substitutionVariables: ["NAME": "Ann"])
        #expect(request?.predicate == NSPredicate(format: "name == %@", "Ann"))
        #expect(model.fetchRequestTemplatesByName.count == 1)
    }

    @Test("A copy of a model is equal to it and can be changed without changing it")
    func copying() throws {
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(copy == model && copy.entityVersionHashesByName == model.entityVersionHashesByName)
        copy.entitiesByName["Tag"]?.attributesByName["name"]?.isOptional = false
        #expect(copy != model && model.entitiesByName["Tag"]?.attributesByName["name"]?.isOptional == true)
    }

    @Test("Merging models gives one with the entities of all; nothing gives nothing")
    func merging() {
        let other = NSManagedObjectModel()
        other.entities = [Library.entity("Other", [])]
        #expect(NSManagedObjectModel(byMerging: [model, other])?.entities.count == 7)
        #expect(NSManagedObjectModel(byMerging: [])?.entities.isEmpty ?? true)
    }

    @Test("A version hash depends on what the store keeps, not on what only programs see")
    func versionHashes() throws {
        func changed(_ change: (NSEntityDescription) throws -> Void) rethrows -> Bool {
            let copy = Library.model()
            guard let author = copy.entitiesByName["Author"] else { return false }
            try change(author)
            return copy.entityVersionHashesByName["Author"] != model.entityVersionHashesByName["Author"]
        }
        #expect(changed { $0.attributesByName["age"]?.attributeType = .integer32AttributeType })
        #expect(changed { $0.attributesByName["age"]?.isOptional = false })
        #expect(changed { $0.versionHashModifier = "2" })
        #expect(changed { $0.attributesByName["age"]?.versionHashModifier = "2" })
        #expect(!changed { $0.managedObjectClassName = "Writer" })
        #expect(!changed { $0.userInfo = ["a": "b"] })
        #expect(!changed { $0.attributesByName["age"]?.defaultValue = 5 })
        #expect(!changed { $0.attributesByName["age"]?.renamingIdentifier = "years" })
    }

    @Test("The store's metadata tell whether a model fits it")
    func compatibility() throws {
        let container = try Library.inMemory(model)
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        let metadata = container.persistentStoreCoordinator.metadata(for: store)
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(!Notebook.model().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(
            NSManagedObjectModel(byMerging: [model, Notebook.model()], forStoreMetadata: metadata)?.entities.count == 6)
    }

    // MARK: Entities

    @Test("A new entity is concrete, of NSManagedObject, and without properties")
    func newEntity() {
        let entity = NSEntityDescription()
        #expect(!entity.isAbstract && entity.managedObjectClassName == "NSManagedObject")
        #expect(entity.properties.isEmpty && entity.superentity == nil && entity.subentities.isEmpty)
        entity.name = "E"
        #expect(entity.renamingIdentifier == "E")
    }

    @Test("A subentity has its superentity's properties, and is a kind of it")
    func inheritance() throws {
        let book = try #require(model.entitiesByName["Book"])
        let comic = try #require(model.entitiesByName["Comic"])
        #expect(comic.superentity === book && book.subentitiesByName["Comic"] === comic)
        #expect(comic.propertiesByName["title"] != nil && comic.propertiesByName["artist"] != nil)
        #expect(comic.isKindOf(entity: book) && !book.isKindOf(entity: comic) && comic.isKindOf(entity: comic))
    }

    @Test("attributesByName, relationshipsByName and relationships(forDestination:) tell properties apart")
    func propertiesByKind() throws {
        let book = try #require(model.entitiesByName["Book"])
        let author = try #require(model.entitiesByName["Author"])
        #expect(Set(book.attributesByName.keys) == ["title", "isbn", "price"])
        #expect(Set(book.relationshipsByName.keys) == ["author", "tags", "chapters", "shelf"])
        #expect(book.relationships(forDestination: author).map(\.name) == ["author"])
        #expect(book.propertiesByName["title"] === book.attributesByName["title"])
    }

    @MainActor @Test("insertNewObject gives an inserted object; entity(forEntityName:in:) the context's entity")
    func inserting() throws {
        let context = try Library.inMemory(model).viewContext
        let object = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
        #expect(object.isInserted && object.managedObjectContext === context && object.entity.name == "Author")
        #expect(NSEntityDescription.entity(forEntityName: "Author", in: context) === object.entity)
        #expect(NSEntityDescription.entity(forEntityName: "Nothing", in: context) == nil)
    }

    // MARK: Properties

    @Test("A new property is optional, stored and without rules")
    func newProperty() {
        let attribute = NSAttributeDescription()
        #expect(attribute.isOptional && !attribute.isTransient && attribute.validationPredicates.isEmpty)
        #expect(attribute.attributeType == .undefinedAttributeType && attribute.defaultValue == nil)
        attribute.name = "a"
        #expect(attribute.renamingIdentifier == "a")
        let relationship = NSRelationshipDescription()
        #expect(relationship.deleteRule == .nullifyDeleteRule && relationship.minCount == 0)
    }

    @Test("A relationship is to-many unless its maximum is one")
    func toMany() {
        let relationship = NSRelationshipDescription()
        relationship.maxCount = 1
        #expect(!relationship.isToMany)
        relationship.maxCount = 0
        #expect(relationship.isToMany)
        relationship.maxCount = 5
        #expect(relationship.isToMany)
    }

    @Test("The class of an attribute's values follows its type")
    func valueClasses() {
        let classes: [(NSAttributeType, String)] = [
            (.integer16AttributeType, "NSNumber"), (.doubleAttributeType, "NSNumber"),
            (.booleanAttributeType, "NSNumber"),
            (.decimalAttributeType, "NSDecimalNumber"), (.stringAttributeType, "NSString"),
            (.dateAttributeType, "NSDate"),
            (.binaryDataAttributeType, "NSData"), (.UUIDAttributeType, "NSUUID"), (.URIAttributeType, "NSURL"),
        ]
        for (type, name) in classes { #expect(Library.attribute("a", type).attributeValueClassName == name) }
    }

    @MainActor @Test("Validation predicates and their warnings: what does not satisfy them is not saved")
    func validationPredicates() throws {
        let age = try #require(model.entitiesByName["Author"]?.attributesByName["age"])
        age.setValidationPredicates([NSPredicate(format: "SELF >= 18")], withValidationWarnings: ["too young"])
        #expect(age.validationPredicates.count == 1 && age.validationWarnings as? [String] == ["too young"])
        let context = try Library.inMemory(model).viewContext
        let author = context.make("Author", ["name": "A", "age": 17])
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.localizedDescription.contains("too young") == true)
        author.setValue(18, forKey: "age")
        try context.save()
    }

    @MainActor @Test("A default value is what a new object has")
    func defaultValues() throws {
        let context = try Library.inMemory(model).viewContext
        let author = context.make("Author")
        #expect(author.shown("rating") == "1.5" && author.changedValues().isEmpty)
    }
}
