import CoreData
import Testing

// As in LibraryRulesTests: what test suites say that pass on Apple's framework.
@Suite("Rules that further test suites rely on")
struct FurtherSuiteRulesTests {
    @Test("A nil in an Any, as generic code passes it, empties a to-one relationship (RCDataKit)")
    func nilOfGenericCode() throws {
        func set<Value>(_ value: Value, forKey key: String, of object: NSManagedObject) {
            object.setValue(value, forKey: key)
        }
        let context = try Library.inMemory().viewContext
        let author = context.make("Author", ["name": "Emma"])
        let book = context.make("Book", ["title": "A"])
        set(Optional(author), forKey: "author", of: book)
        #expect(book.value(forKey: "author") as? NSManagedObject === author)
        set(NSManagedObject?.none, forKey: "author", of: book)
        #expect(book.value(forKey: "author") == nil)
        try context.save()
    }

    @Test("An array of expressions is a collection of them, where a constant or an argument is expected (RCDataKit)")
    func expressionsInArrays() throws {
        let context = try Library.inMemory().viewContext
        for (name, age) in [("Ada", 10), ("Emma", 20), ("Jane", 30)] {
            context.make("Author", ["name": name, "age": age])
        }
        try context.save()
        let bounds = [NSExpression(forConstantValue: 15), NSExpression(format: "10 + 10")]
        let between = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "age"), rightExpression: NSExpression(forConstantValue: bounds),
            modifier: .direct, type: .between)
        let constants = [15, 20].map { NSExpression(forConstantValue: $0) }
        #expect(NSExpression(forConstantValue: constants).description == "{15, 20}")
        for predicate in [between, NSPredicate(format: "age BETWEEN %@", bounds)] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.predicate = predicate
            #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == ["Emma"])
        }
    }

    @Test("The merged model of bundles without models has no entities, and takes some (SwiftDatastore)")
    func noModels() throws {
        let model = try #require(NSManagedObjectModel.mergedModel(from: []))
        #expect(model.entities.isEmpty)
        model.entities = [Library.entity("Note", [Library.attribute("title", .stringAttributeType)])]
        let context = try Library.inMemory(model).viewContext
        context.make("Note", ["title": "A"])
        try context.save()
        #expect(try context.all("Note").count == 1)
    }

    @Test("An object deleted as a fault has its values, too, until the save is reported (robinhood-ios)")
    func valuesOfDeletedFaults() throws {
        let context = try Library.inMemory().viewContext
        for name in ["Ada", "Emma"] { context.make("Author", ["name": name]) }
        try context.save()
        context.reset()
        nonisolated(unsafe) var told: [String?] = []  // posted on this thread
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { notification in
            let deleted = notification.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? []
            told += deleted.map { $0.value(forKey: "name") as? String }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        for includesValues in [false, true] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.includesPropertyValues = includesValues
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            request.fetchLimit = 1
            let author = try #require(try context.fetch(request).first)
            #expect(author.isFault)
            context.delete(author)
            try context.save()
            #expect(author.isFault && author.value(forKey: "name") == nil)
        }
        #expect(told == ["Ada", "Emma"])
    }

    @Test("An object that was inserted and deleted in one event is reported as deleted (flapjack, BNR Core Data Stack)")
    func insertedAndDeleted() throws {
        let context = try Library.inMemory().viewContext
        nonisolated(unsafe) var told: [String] = []  // posted on this thread
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { notification in
            for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
                let objects = notification.userInfo?[key] as? Set<NSManagedObject> ?? []
                told += objects.map { "\(key) \($0.value(forKey: "name") ?? "")" }
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        context.delete(context.make("Author", ["name": "Emma"]))
        context.processPendingChanges()
        #expect(told == ["deleted Emma"])
        #expect(!context.hasChanges)
    }

    @Test("An object that a child saves with the values that it had is not changed in the parent (WooCommerce)")
    func equalValuesOfAChild() throws {
        let parent = try Library.inMemory().viewContext
        let author = parent.make("Author", ["name": "Emma"])
        try parent.save()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        try child.performAndWait {
            let counterpart = child.object(with: author.objectID)
            counterpart.setValue("Emma", forKey: "name")
            #expect(counterpart.isUpdated)
            try child.save()
        }
        #expect(!parent.hasChanges && !author.isUpdated)
        try child.performAndWait {
            child.object(with: author.objectID).setValue("Ada", forKey: "name")
            try child.save()
        }
        #expect(author.isUpdated && author.value(forKey: "name") as? String == "Ada")
    }
}
