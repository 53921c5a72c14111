import CoreData
import TestSupport
import Testing

/// Hears of a migration's progress as CoreStore's manager does.
private final class ListeningManager: NSMigrationManager {
    private(set) var heard: [Float] = []

    override func didChangeValue(forKey key: String) {
        super.didChangeValue(forKey: key)
        if key == "migrationProgress" { heard.append(migrationProgress) }
    }
}

/// An object with a property of its own that paths lead to.
final class ComputingAuthor: NSManagedObject {
    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        key == "initial" ? ["name"] : super.keyPathsForValuesAffectingValue(forKey: key)
    }

    override func value(forKeyPath keyPath: String) -> Any? {
        keyPath == "initial" ? string("name").map { String($0.prefix(1)) } : super.value(forKeyPath: keyPath)
    }

    override func setValue(_ value: Any?, forKeyPath keyPath: String) {
        super.setValue(value, forKeyPath: keyPath == "alias" ? "nickname" : keyPath)
    }

    override func setValuesForKeys(_ keyedValues: [String: Any]) {
        super.setValuesForKeys(keyedValues.filter { $0.key != "ignored" })
    }

    override func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        super.dictionaryWithValues(forKeys: keys.filter { $0 != "initial" }).merging(["initial": "?"]) { first, _ in
            first
        }
    }
}

/// Keeps which sections and objects it was told of.
private final class SectionListener: NSObject, NSFetchedResultsControllerDelegate {
    var heard: [String] = []
    var sections: [any NSFetchedResultsSectionInfo] = []

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { heard.append("\(type) object") }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        heard.append("\(type) section")
        sections.append(sectionInfo)
    }
}

// As in LibraryRulesTests: what the test suites of these libraries, which pass on Apple's framework, say.
@Suite("What libraries override, and are told")
struct LibraryOverridesTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("A migration manager tells its subclass of its progress (CoreStore)")
    func progress() throws {
        let (model, url) = (Library.model(), folder.file("Library.sqlite"))
        let container = try Library.stored(at: url, model)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.make("Book", ["title": "A"])
            try context.save()
        }
        let target = Library.model()
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: target)
        let manager = ListeningManager(sourceModel: model, destinationModel: target)
        manager.usesStoreSpecificMigrationManager = false
        try manager.migrateStore(
            from: url, type: .sqlite, mapping: mapping, to: folder.file("Migrated.sqlite"), type: .sqlite)
        #expect(manager.heard.count > 1)
        #expect(manager.heard == manager.heard.sorted())
        #expect(manager.heard.last == 1)
    }

    @Test("Subclasses override key-value coding by paths, and of several keys (CoreStore, Groot)")
    func paths() throws {
        let model = Library.model()
        model.entitiesByName["Author"]?.managedObjectClassName = NSStringFromClass(ComputingAuthor.self)
        let context = try Library.inMemory(model).newBackgroundContext()
        context.performAndWait {
            let author = context.make("Author", ["name": "Ada"])
            author.setValuesForKeys(["age": 36, "ignored": 1])
            author.setValue("Countess", forKeyPath: "alias")
            #expect(author.value(forKeyPath: "initial") as? String == "A")
            #expect(author.value(forKey: "nickname") as? String == "Countess")
            let values = author.dictionaryWithValues(forKeys: ["age", "initial"])
            #expect(values["age"] as? Int == 36)
            #expect(values["initial"] as? String == "?")
            #expect(type(of: author).keyPathsForValuesAffectingValue(forKey: "initial") == ["name"])
            #expect(NSManagedObject.keyPathsForValuesAffectingValue(forKey: "initial").isEmpty)
        }
    }

    @Test("Sets of relationships are changed in place at the end of a path, too (Bookmarks)")
    func setsAtPaths() throws {
        let context = try Library.inMemory().newBackgroundContext()
        context.performAndWait {
            let author = context.make("Author", ["name": "Ada"])
            let book = context.make("Book", ["author": author])
            let (other, chapter) = (context.make("Book"), context.make("Chapter"))
            book.mutableSetValue(forKeyPath: "author.books").add(other)
            book.mutableOrderedSetValue(forKeyPath: "chapters").add(chapter)
            #expect(other.value(forKey: "author") as? NSManagedObject == author)
            #expect(chapter.value(forKey: "book") as? NSManagedObject == book)
        }
    }

    @Test("What is to be validated may be in a variable that always holds an object (Coredatable)")
    func validated() throws {
        let context = try Library.inMemory().newBackgroundContext()
        try context.performAndWait {
            let author = context.make("Author", ["name": "Ada"])
            var name = NSNumber(value: 1) as AnyObject
            #expect(throws: (any Error).self) {
                try author.validateValue(AutoreleasingUnsafeMutablePointer(&name), forKey: "name")
            }
            name = "Augusta" as NSString
            try author.validateValue(AutoreleasingUnsafeMutablePointer(&name), forKey: "name")
        }
    }

    @Test("Objects are told before the section that goes with them, and after the one that comes (CoreStore)")
    func sections() throws {
        let context = try Library.inMemory().newBackgroundContext()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "isbn", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "isbn", cacheName: nil)
            let listener = SectionListener()
            controller.delegate = listener
            try controller.performFetch()
            let book = context.make("Book", ["isbn": "A"])
            context.processPendingChanges()
            #expect(listener.heard == ["insert section", "insert object"])
            // The section told of is the one that the controller has.
            let (told, shown) = (listener.sections.first as? NSObject, controller.sections?.first as? NSObject)
            #expect(told == shown)
            #expect(told?.hash == shown?.hash)
            listener.heard = []
            context.delete(book)
            context.processPendingChanges()
            #expect(listener.heard == ["delete object", "delete section"])
        }
    }

    @Test("Names of properties become descriptions where the request's entity is known (CoreStore)")
    func descriptions() throws {
        let book = try #require(Library.model().entitiesByName["Book"])
        let request = NSFetchRequest<NSDictionary>()
        request.propertiesToFetch = ["title"]
        #expect(request.propertiesToFetch as? [String] == ["title"])
        request.entity = book
        request.propertiesToFetch = ["title", "author.name"]
        request.propertiesToGroupBy = ["isbn"]
        #expect(request.propertiesToFetch?.first as? NSPropertyDescription === book.propertiesByName["title"])
        #expect(request.propertiesToFetch?.last as? String == "author.name")
        #expect((request.propertiesToGroupBy as? [NSAttributeDescription])?.map(\.name) == ["isbn"])
    }

    @Test(
        "The history names the author of the context that has the coordinator, whichever child runs a request (CoreDataRepository)"
    )
    func author() throws {
        let description = NSPersistentStoreDescription(url: folder.file("Library.sqlite"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        let root = try Library.container(Library.model(), description).newBackgroundContext()
        root.performAndWait {
            root.transactionAuthor = "root"
            root.name = "main"
        }
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = root
        try child.performAndWait {
            child.transactionAuthor = "child"
            try child.execute(NSBatchInsertRequest(entityName: "Book", objects: [["title": "A"]]))
            let update = NSBatchUpdateRequest(entityName: "Book")
            update.propertiesToUpdate = ["title": "B"]
            try child.execute(update)
            try child.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Book")))
            let history = try child.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
            let transactions = (history as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
            #expect(transactions?.map(\.author) == ["root", "root", "root"])
            #expect(transactions?.map(\.contextName) == ["main", "main", "main"])
        }
    }

    @Test("Transformers for booleans and for missing values are registered by Foundation's names (CoreStore)")
    func booleans() {
        func transformed(_ name: NSValueTransformerName, _ value: Any?) -> Bool? {
            ValueTransformer(forName: name)?.transformedValue(value) as? Bool
        }
        #expect(transformed(.negateBooleanTransformerName, true) == false)
        #expect(transformed(.negateBooleanTransformerName, false) == true)
        #expect(transformed(.isNilTransformerName, nil) == true)
        #expect(transformed(.isNilTransformerName, "A") == false)
        #expect(transformed(.isNotNilTransformerName, nil) == false)
        #expect(transformed(.isNotNilTransformerName, "A") == true)
        let negation = ValueTransformer(forName: .negateBooleanTransformerName)
        #expect(negation?.reverseTransformedValue(true) as? Bool == false)
    }
}
