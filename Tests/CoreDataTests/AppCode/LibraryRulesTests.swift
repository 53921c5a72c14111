import CoreData
import TestSupport
import Testing

/// A class that nothing here mentions but by its name, as a model does.
final class NamedByModelOnly: NSManagedObject {}

extension NSPersistentStoreCoordinator {
    /// As CoreDataPlus makes coordinators.
    fileprivate static func make(_ model: NSManagedObjectModel) -> NSPersistentStoreCoordinator {
        self.init(managedObjectModel: model)
    }
}

// Where Core Data's documentation is silent, these libraries' test suites, which pass on Apple's framework, say what
// holds.
@Suite("Rules that libraries and their test suites rely on")
struct LibraryRulesTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func coordinator(
        _ type: String, _ url: URL, _ model: NSManagedObjectModel = Library.model()
    ) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        return coordinator
    }

    @Test("A model that names a class without its module finds it (QueryKit, @objc(Person))")
    func plainClassName() throws {
        let model = Library.model()
        let author = try #require(model.entitiesByName["Author"])
        author.managedObjectClassName = "NamedByModelOnly"
        let context = try Library.inMemory(model).newBackgroundContext()
        context.performAndWait {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            #expect(String(describing: type(of: object)) == "NamedByModelOnly")
        }
    }

    @Test("The description of a class is the name that models have of it (Pulse)")
    func classDescription() {
        #expect(NamedByModelOnly.description() == "CoreDataTests.NamedByModelOnly")
    }

    @Test("Models are equal when they say the same, wherever they come from (JSQCoreDataKit)")
    func equalModels() throws {
        let model = Library.model()
        #expect(model == Library.model())
        #expect(model.hash == Library.model().hash)
        model.entitiesByName["Author"]?.attributesByName["rating"]?.defaultValue = 2.5
        #expect(model != Library.model())
    }

    @Test("Inferred mapping models of the same models are equal (JSQCoreDataKit)")
    func equalMappings() throws {
        func mapping() throws -> NSMappingModel {
            try .inferredMappingModel(forSourceModel: Library.model(), destinationModel: Library.model())
        }
        let (one, two) = (try mapping(), try mapping())
        #expect(one == two)
        two.entityMappings.removeLast()
        #expect(one != two)
    }

    @Test(
        "The file of an XML or binary store is there once the store is added (JSQCoreDataKit)",
        arguments: ["XML", "Binary"])
    func files(type: String) throws {
        let url = folder.file("Library.\(type)")
        _ = try coordinator(type, url)
        #expect(FileManager.default.fileExists(atPath: url.path))
        #expect(
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)[NSStoreTypeKey]
                as? String == type)
    }

    @Test("A store that was destroyed while it was open is added again, empty (JSQCoreDataKit)")
    func destroyed() throws {
        let url = folder.file("Library.sqlite")
        let coordinator = try coordinator(NSSQLiteStoreType, url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            context.make("Book", ["title": "A"])
            try context.save()
            context.reset()
        }
        try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
        #expect(coordinator.persistentStores.isEmpty)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let count = try context.performAndWait {
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book"))
        }
        #expect(count == 0)
    }

    @Test(
        "An expression description without an expression stands for the property of its name (CoreDataQueryInterface)")
    func nameOnly() throws {
        let context = try Library.inMemory().newBackgroundContext()
        try context.performAndWait {
            context.make("Book", ["title": "A"])
            try context.save()
            let title = NSExpressionDescription()
            title.name = "title"
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [title]
            #expect(try context.fetch(request) == [["title": "A"]])
        }
    }

    @Test("Extensions make coordinators by Self(managedObjectModel:) (CoreDataPlus)")
    func dynamicInitializer() {
        #expect(NSPersistentStoreCoordinator.make(Library.model()).managedObjectModel == Library.model())
    }

    @Test("What was never saved has no committed values (CoreDataPlus)")
    func committed() throws {
        let context = try Library.inMemory().newBackgroundContext()
        try context.performAndWait {
            let author = context.make("Author", ["name": "A"])
            #expect(author.committedValues(forKeys: ["name"]).isEmpty)
            try context.save()
            #expect(author.committedValues(forKeys: ["name"])["name"] as? String == "A")
        }
    }

    @Test("A batch insertion without a required value is an error, and inserts nothing (CoreDataPlus)")
    func requiredInBatch() throws {
        let context = try Library.inMemory().newBackgroundContext()
        try context.performAndWait {
            let request = NSBatchInsertRequest(entityName: "Author", objects: [["name": "A"], ["age": 3]])
            let error = #expect(throws: CocoaError.self) { try context.execute(request) }
            #expect(error?.code == .validationMissingMandatoryProperty)
            let count = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Author"))
            #expect(count == 0)
        }
    }

    @Test("A transient value that went with a fault is not missed when the object is saved again (CoreDataPlus)")
    func transient() throws {
        let model = Library.model()
        let nickname = try #require(model.entitiesByName["Author"]?.attributesByName["nickname"])
        nickname.isOptional = false
        nickname.defaultValue = "none"
        let context = try Library.inMemory(model).newBackgroundContext()
        try context.performAndWait {
            let author = context.make("Author", ["name": "A"])
            try context.save()
            context.refresh(author, mergeChanges: false)
            author.setValue("B", forKey: "name")
            try context.save()
            #expect(!author.hasChanges)
        }
    }

    @Test("A save without changes writes the metadata that were set (CoreDataPlus)")
    func metadata() throws {
        let url = folder.file("Library.sqlite")
        let coordinator = try coordinator(NSSQLiteStoreType, url)
        let store = try #require(coordinator.persistentStores.first)
        var metadata = coordinator.metadata(for: store)
        metadata["key"] = "value"
        coordinator.setMetadata(metadata, for: store)
        func stored() throws -> String? {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)["key"]
                as? String
        }
        #expect(try stored() == nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try context.save() }
        #expect(try stored() == "value")
    }

    @Test("The notification of a save has the token of its history under newChangeToken (CoreDataPlus)")
    func changeToken() throws {
        let description = NSPersistentStoreDescription(url: folder.file("Library.sqlite"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        let container = try Library.container(Library.model(), description)
        let context = container.newBackgroundContext()
        nonisolated(unsafe) var token: NSPersistentHistoryToken?  // written while performAndWait runs
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { token = $0.userInfo?["newChangeToken"] as? NSPersistentHistoryToken }
        try context.performAndWait {
            context.make("Book")
            try context.save()
        }
        NotificationCenter.default.removeObserver(observer)
        #expect(token == container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
        #expect(token != nil)
    }

    @Test("User info is empty at first, and can be changed while the model is in use (CoreDataPlus)")
    func userInfo() throws {
        let model = Library.model()
        let author = try #require(model.entitiesByName["Author"])
        #expect(author.userInfo?.isEmpty == true)
        author.attributesByName["name"]?.userInfo?["search"] = "great"
        _ = try Library.inMemory(model)
        author.attributesByName["name"]?.userInfo?["search"] = "interesting"
        #expect(author.attributesByName["name"]?.userInfo?["search"] as? String == "interesting")
    }

    @Test("A fetched property reads its object and its own user info in a store, too (CoreDataPlus)")
    func fetchedProperty() throws {
        let model = Library.model()
        let (author, book) = (try #require(model.entitiesByName["Author"]), try #require(model.entitiesByName["Book"]))
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = book
        request.predicate = NSPredicate(
            format: "isbn == $FETCH_SOURCE.%K AND title CONTAINS[c] $FETCHED_PROPERTY.userInfo.search", "name")
        let found = NSFetchedPropertyDescription()
        found.name = "found"
        found.fetchRequest = request
        found.userInfo?["search"] = "great"
        author.properties.append(found)
        let context = try Library.inMemory(model).newBackgroundContext()
        try context.performAndWait {
            let author = context.make("Author", ["name": "A"])
            for (title, isbn) in [("The Great", "A"), ("The Great", "B"), ("The Small", "A")] {
                context.make("Book", ["title": title, "isbn": isbn])
            }
            try context.save()
            #expect((author.value(forKey: "found") as? [NSManagedObject])?.map { $0.string("isbn") } == ["A"])
            found.userInfo?["search"] = "small"
            // A fetched property keeps its objects until its own object becomes a fault.
            context.refresh(author, mergeChanges: false)
            #expect((author.value(forKey: "found") as? [NSManagedObject])?.map { $0.string("title") } == ["The Small"])
        }
    }

    @Test("A function that rethrows can wrap perform, and throws what the block throws (CoreDataRepository)")
    func wrapper() async throws {
        func wrapped<T>(_ context: NSManagedObjectContext, _ block: @escaping @Sendable () throws -> T) async rethrows
            -> T
        {
            try await context.perform(schedule: .enqueued, block)
        }
        let context = try Library.inMemory().newBackgroundContext()
        let count = try await wrapped(context) {
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book"))
        }
        #expect(count == 0)
        await #expect(throws: CocoaError.self) { try await wrapped(context) { throw CocoaError(.coreData) } }
    }
}
