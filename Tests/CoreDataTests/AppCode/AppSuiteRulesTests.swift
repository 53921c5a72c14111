import CoreData
import Testing

/// Gives a property without `nil` a value of its own, as classes with accessors of plain numbers do.
final class CountingAuthor: NSManagedObject {
    override func setNilValueForKey(_ key: String) {
        if key == "rating" { setValue(0.0, forKey: key) } else { super.setNilValueForKey(key) }
    }
}

/// Refuses to be saved for a reason of its own.
final class PickyAuthor: NSManagedObject {
    enum Refusal: Error, Equatable { case name(String?) }

    override func validateForInsert() throws {
        try super.validateForInsert()
        throw Refusal.name(value(forKey: "name") as? String)
    }
}

/// Looks for others of its kind while it is being inserted.
final class FetchingAuthor: NSManagedObject {
    override func awakeFromInsert() {
        super.awakeFromInsert()
        let others = try? managedObjectContext?.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
        setPrimitiveValue("\(others?.count ?? 0)", forKey: "nickname")
    }
}

// As in LibraryRulesTests: what the test suites of apps, which pass on Apple's framework, say.
@Suite("Rules that apps and their test suites rely on")
struct AppSuiteRulesTests {
    /// Folders whose notes must be gone before they are deleted.
    private func denying() throws -> NSManagedObjectContext {
        let model = NSManagedObjectModel()
        let folder = Library.entity("Folder", [Library.attribute("name", .stringAttributeType)])
        let note = Library.entity("Note", [Library.attribute("title", .stringAttributeType)])
        Library.connect(folder, "notes", toMany: true, deleteRule: .denyDeleteRule, note, "folder")
        model.entities = [folder, note]
        return try Library.inMemory(model).viewContext
    }

    @Test("“Default”, as the model editor calls it, is the configuration of all entities (The Blue Alliance)")
    func defaultConfiguration() throws {
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        description.configuration = "Default"
        let context = try Library.container(Library.model(), description).viewContext
        context.make("Author", ["name": "Emma"])
        try context.save()
        #expect(try context.all("Author").count == 1)
    }

    @Test("A configuration that a model calls “Default” has the entities it was given")
    func ownDefaultConfiguration() {
        let model = Library.model()
        #expect(model.entities(forConfigurationName: "Default")?.count == model.entities.count)
        model.setEntities([model.entities[0]], forConfigurationName: "Default")
        #expect(model.entities(forConfigurationName: "Default") == [model.entities[0]])
    }

    @Test("An object that was never saved counts as deleted until changes are processed (The Blue Alliance)")
    func deletedUntilProcessed() throws {
        let context = try Library.inMemory().viewContext
        let book = context.make("Book", ["title": "A"])
        let author = context.make("Author", ["name": "Emma", "books": NSSet(object: book)])
        context.delete(book)
        #expect(book.isDeleted && !book.isInserted)
        #expect((author.value(forKey: "books") as? NSSet)?.contains(book) == true)
        context.processPendingChanges()
        #expect(book.managedObjectContext == nil && !book.isDeleted)
        #expect((author.value(forKey: "books") as? NSSet)?.count == 0)
    }

    @Test("The rule “deny” keeps an object that was never saved, too, until it does not apply (The Blue Alliance)")
    func denied() throws {
        let context = try denying()
        let folder = context.make("Folder", ["name": "A"])
        let note = context.make("Note", ["title": "B", "folder": folder])
        context.delete(folder)
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSValidationRelationshipDeniedDeleteError)
        #expect(context.hasChanges)
        note.setValue(nil, forKey: "folder")
        try context.save()
        #expect(folder.managedObjectContext == nil)
        #expect(try context.all("Folder").isEmpty)
        #expect(try context.all("Note").count == 1)
    }

    @Test("Objects that are deleted together deny each other nothing, saved or not", arguments: [true, false])
    func deniedTogether(saved: Bool) throws {
        let context = try denying()
        let folder = context.make("Folder", ["name": "A"])
        if saved { try context.save() }
        let note = context.make("Note", ["title": "B", "folder": folder])
        context.delete(folder)
        context.delete(note)
        try context.save()
        #expect(try context.all("Folder").isEmpty && context.all("Note").isEmpty)
    }

    @Test("What “deny” kept goes when changes are processed after those that denied it, before any save")
    func deniedNoMore() throws {
        let context = try denying()
        let (folder, shelf) = (context.make("Folder", ["name": "A"]), context.make("Folder", ["name": "B"]))
        let notes = ["C", "D"].map { context.make("Note", ["title": $0, "folder": folder]) }
        context.delete(folder)
        context.processPendingChanges()
        #expect(folder.managedObjectContext === context && folder.isDeleted)
        context.delete(notes[0])
        context.processPendingChanges()
        #expect(folder.managedObjectContext === context)
        notes[1].setValue(shelf, forKey: "folder")
        context.processPendingChanges()
        #expect(folder.managedObjectContext == nil)
        #expect(!context.registeredObjects.contains(folder))
        #expect(context.deletedObjects.isEmpty)
        try context.save()
        #expect(try context.all("Folder") == [shelf])
    }

    @Test("To undo what made it go brings it back as it was, denied")
    func deniedAgain() throws {
        let context = try denying()
        let undo = UndoManager()
        undo.groupsByEvent = false
        context.undoManager = undo
        func step(_ work: () -> Void) {
            undo.beginUndoGrouping()
            work()
            context.processPendingChanges()
            undo.endUndoGrouping()
        }
        let folder = context.make("Folder", ["name": "A"])
        let note = context.make("Note", ["title": "B", "folder": folder])
        step {}
        step { context.delete(folder) }
        step { context.delete(note) }
        #expect(folder.managedObjectContext == nil)
        context.undo()
        #expect(folder.managedObjectContext === context && folder.isDeleted)
        #expect(note.value(forKey: "folder") as? NSManagedObject === folder)
        context.undo()
        #expect(!folder.isDeleted && folder.isInserted)
        try context.save()
        #expect(try context.all("Folder") == [folder])
    }

    @Test("What redo deletes again, and “deny” keeps, goes once nothing denies it")
    func deniedAfterRedo() throws {
        let context = try denying()
        let undo = UndoManager()
        undo.groupsByEvent = false
        context.undoManager = undo
        let folder = context.make("Folder", ["name": "A"])
        let note = context.make("Note", ["title": "B", "folder": folder])
        context.processPendingChanges()
        context.delete(folder)
        context.processPendingChanges()
        context.undo()
        #expect(!folder.isDeleted)
        context.redo()
        #expect(folder.isDeleted && folder.managedObjectContext === context)
        note.setValue(nil, forKey: "folder")
        context.processPendingChanges()
        #expect(folder.managedObjectContext == nil && context.deletedObjects.isEmpty)
    }

    @Test("A save of nothing but the deletion of new objects removes them")
    func onlyRemovals() throws {
        let context = try Library.inMemory().viewContext
        let author = context.make("Author", ["name": "Emma"])
        context.delete(author)
        #expect(context.hasChanges)
        try context.save()
        #expect(!context.hasChanges)
        #expect(author.managedObjectContext == nil)
        #expect(try context.all("Author").isEmpty)
    }

    @Test("The only error of a validation comes out of the save as the class threw it (DuckDuckGo)")
    func ownError() throws {
        let model = Library.model()
        model.entitiesByName["Author"]?.managedObjectClassName = NSStringFromClass(PickyAuthor.self)
        let context = try Library.inMemory(model).viewContext
        context.make("Author", ["name": "Emma"])
        #expect(throws: PickyAuthor.Refusal.name("Emma")) { try context.save() }
        context.make("Author", ["name": "Emil"])
        let error = #expect(throws: (any Error).self) { try context.save() }
        let details = (error as NSError?)?.userInfo[NSDetailedErrorsKey] as? [NSError]
        #expect((error as NSError?)?.code == NSValidationMultipleErrorsError && details?.count == 2)
    }

    @Test("A class can say what no value is to a property without nil (The Blue Alliance)")
    func noValue() throws {
        let model = Library.model()
        model.entitiesByName["Author"]?.managedObjectClassName = NSStringFromClass(CountingAuthor.self)
        let author = try #require(Library.inMemory(model).viewContext.make("Author") as? CountingAuthor)
        author.setValue(3.0, forKey: "rating")
        author.setNilValueForKey("rating")
        #expect(author.value(forKey: "rating") as? Double == 0)
    }

    @Test("A new object that is inserted again is among those that the event inserted, once more (INCoreData)")
    func insertedAgain() throws {
        let context = try Library.inMemory().newBackgroundContext()
        nonisolated(unsafe) var inserted: [Int] = []  // written by notifications on the context's queue
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { inserted.append(($0.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0) }
        defer { NotificationCenter.default.removeObserver(token) }
        try context.performAndWait {
            let author = context.make("Author", ["name": "Emma"])
            context.processPendingChanges()
            context.insert(author)
            context.processPendingChanges()
            #expect(inserted == [1, 1] && context.insertedObjects == [author])
            try context.save()
        }
    }

    @Test("An inferred mapping says which properties are mapped, added and removed (CoreDataPlus)")
    func inferredSummary() throws {
        let (old, new) = (Library.model(), Library.model())
        let author = try #require(new.entitiesByName["Author"])
        let name = try #require(author.attributesByName["name"])
        (name.name, name.renamingIdentifier) = ("fullName", "name")
        author.properties.removeAll { $0.name == "wealth" }
        author.properties.append(Library.attribute("height", .doubleAttributeType))
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        let info = try #require(mapping.entityMappings.first { $0.sourceEntityName == "Author" }?.userInfo)
        #expect(info["addedProperties"] as? Set<String> == ["height"])
        #expect(info["removedProperties"] as? Set<String> == ["wealth"])
        let mapped = try #require(info["mappedProperties"] as? Set<String>)
        #expect(mapped.isSuperset(of: ["fullName", "age", "books"]) && mapped.isDisjoint(with: ["name", "height"]))
    }

    @Test(
        "An object saved with a value set to itself is reported as changed where the save is merged (Stream Chat)"
    )
    func touched() throws {
        let container = try Library.inMemory()
        let context = container.viewContext
        context.make("Author", ["name": "Emma"])
        try context.save()
        let other = container.newBackgroundContext()
        try other.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: other, sectionNameKeyPath: nil, cacheName: nil)
            let told = ToldOfUpdates()
            controller.delegate = told
            try controller.performFetch()
            #expect(controller.fetchedObjects?.first?.value(forKey: "name") as? String == "Emma")
            let author = try #require(context.all("Author").first)
            author.setValue("Emma", forKey: "name")
            #expect(author.hasChanges && !author.hasPersistentChangedValues)
            let save = try notification(.NSManagedObjectContextDidSave, by: context) { try context.save() }
            other.mergeChanges(fromContextDidSave: save)
            #expect(told.updates == 1)
        }
    }

    @Test("A deleted object has its values until the save is reported, and none after it (Stream Chat)")
    func valuesOfTheDeleted() throws {
        let context = try Library.inMemory().viewContext
        let author = context.make("Author", ["name": "Emma", "nickname": "Em"])
        try context.save()
        context.delete(author)
        #expect(author.value(forKey: "name") as? String == "Emma")
        nonisolated(unsafe) var told: [String?] = []  // posted on this thread
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { notification in
            let deleted = notification.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? []
            told = deleted.map { $0.value(forKey: "name") as? String }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.save()
        #expect(told == ["Emma"])
        #expect(author.managedObjectContext == nil && !author.isDeleted)
        #expect(author.value(forKey: "name") == nil && author.value(forKey: "nickname") == nil)
    }

    @Test("What was deleted stays a fault, whatever is read of it; inserted again, it is a new object (LoopKit)")
    func faultOfTheDeleted() throws {
        let context = try Library.inMemory().viewContext
        let author = context.make("Author", ["name": "Emma"])
        try context.save()
        context.delete(author)
        try context.save()
        #expect(author.isFault && author.value(forKey: "name") == nil && author.isFault)
        context.insert(author)
        #expect(!author.isFault && author.isInserted && author.value(forKey: "name") == nil)
        author.setValue("Ada", forKey: "name")
        try context.save()
        #expect(try context.all("Author").compactMap { $0.value(forKey: "name") as? String } == ["Ada"])
    }

    @Test("A fetch by awakeFromInsert tells nobody of the object, which is only half made (CareKit)")
    func fetchWhileInserting() throws {
        let model = Library.model()
        model.entitiesByName["Author"]?.managedObjectClassName = NSStringFromClass(FetchingAuthor.self)
        let context = try Library.inMemory(model).viewContext
        nonisolated(unsafe) var told: [String?] = []  // posted on this thread
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { notification in
            let inserted = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
            told += inserted.map { $0.value(forKey: "name") as? String }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        context.make("Author", ["name": "Emma"])
        context.processPendingChanges()
        #expect(told == ["Emma"])
    }

    private func notification(
        _ name: Notification.Name, by object: AnyObject, of work: () throws -> Void
    ) throws -> Notification {
        nonisolated(unsafe) var posted: Notification?  // posted on this thread
        let observer = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { posted = $0 }
        defer { NotificationCenter.default.removeObserver(observer) }
        try work()
        return try #require(posted)
    }

    @Test("A transient attribute has its default value again in what comes from a store (CoreDataEvolution)")
    func transientDefault() throws {
        let model = NSManagedObjectModel()
        model.entities = [
            Library.entity(
                "Item",
                [
                    Library.attribute("title", .stringAttributeType),
                    Library.attribute("summary", .stringAttributeType, transient: true, defaultValue: "none"),
                ])
        ]
        let container = try Library.inMemory(model)
        let context = container.viewContext
        let item = context.make("Item", ["title": "A", "summary": "long"])
        try context.save()
        #expect(item.value(forKey: "summary") as? String == "long")
        context.refresh(item, mergeChanges: false)
        #expect(item.value(forKey: "summary") as? String == "none")
        #expect(!item.hasChanges)
        let other = container.newBackgroundContext()
        try other.performAndWait {
            let fetched = try #require(other.all("Item").first)
            #expect(fetched.value(forKey: "summary") as? String == "none")
            #expect(!fetched.hasChanges && fetched.changedValues().isEmpty)
        }
    }
}

private final class ToldOfUpdates: NSObject, NSFetchedResultsControllerDelegate {
    var updates = 0

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        if type == .update { updates += 1 }
    }
}
