import CoreData
import TestSupport
import Testing
import SQLGeneration

/// A store of the developer's is read and written as a whole, as the Atomic Store Programming Topics say.
@Suite("NSAtomicStore") struct AtomicStoreTests {
    let folder: TestFolder
    let store: ListStore
    let context: NSManagedObjectContext

    init() throws {
        folder = try TestFolder()
        (store, context) = try Self.open(folder.file("library.plist"))
    }

    static func open(_ url: URL) throws -> (ListStore, NSManagedObjectContext) {
        NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, forStoreType: ListStore.type.rawValue)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: ListStore.type.rawValue, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return (try #require(store as? ListStore), context)
    }

    static var model: NSManagedObjectModel {
        let person = Library.entity(
            "Person",
            [Library.attribute("name", .stringAttributeType), Library.attribute("age", .integer16AttributeType)])
        let pet = Library.entity("Pet", [Library.attribute("name", .stringAttributeType)])
        Library.connect(person, "pets", toMany: true, pet, "owner")
        let model = NSManagedObjectModel()
        model.entities = [person, pet]
        return model
    }

    func savePeople() throws {
        try context.performAndWait {
            for (name, age) in [("Ann", 30), ("Bob", 20), ("Cid", 40)] {
                let person = context.make("Person", ["name": name, "age": age])
                context.make("Pet", ["name": "\(name)'s cat", "owner": person])
            }
            try context.save()
        }
    }

    @Test("Objects come back from the file with their relationships") func roundTrip() throws {
        try savePeople()
        let (_, other) = try Self.open(folder.file("library.plist"))
        try other.performAndWait {
            let people = try other.all("Person", NSPredicate(format: "age > 25"), by: "name")
            #expect(people.compactMap { $0.string("name") } == ["Ann", "Cid"])
            #expect(people.first?.objects("pets").first?.string("name") == "Ann's cat")
            let pet = try #require(other.all("Pet", NSPredicate(format: "owner.name BEGINSWITH 'B'")).first)
            #expect(pet.string("name") == "Bob's cat")
        }
    }

    @Test("A save makes, updates and removes nodes, then writes the file") func callbacks() throws {
        try savePeople()
        try context.performAndWait {
            store.calls = []
            let people = try context.all("Person", by: "name")
            people[0].setValue(31, forKey: "age")
            for pet in people[1].objects("pets") { context.delete(pet) }
            context.make("Person", ["name": "Dora"])
            try context.save()
        }
        #expect(store.calls.first == "reference")
        #expect(store.calls.last == "save")
        #expect(store.calls.contains("new node"))
        #expect(store.calls.filter { $0 == "update node" }.count == 2)
        #expect(store.calls.contains("remove 1"))
    }

    @Test("A save that fails puts the nodes back") func failingSave() throws {
        try savePeople()
        try context.performAndWait {
            store.failure = CocoaError(.persistentStoreSave)
            let ann = try #require(context.all("Person", by: "name").first)
            ann.setValue("Anna", forKey: "name")
            context.make("Person", ["name": "Dora"])
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(store.cacheNodes().count == 6)
            #expect(store.cacheNode(for: ann.objectID)?.value(forKey: "name") as? String == "Ann")
            store.failure = nil
            try context.save()
            #expect(store.cacheNode(for: ann.objectID)?.value(forKey: "name") as? String == "Anna")
            #expect(store.cacheNodes().count == 7)
        }
    }

    @Test("Two contexts do not overwrite each other's changes") func optimisticLocking() throws {
        try savePeople()
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        try other.performAndWait {
            let ann = try #require(other.all("Person", by: "name").first)
            ann.setValue(32, forKey: "age")
            try context.performAndWait {
                try context.all("Person", by: "name").first?.setValue(31, forKey: "age")
                try context.save()
            }
            let error = #expect(throws: CocoaError.self) { try other.save() }
            #expect(error?.code == .managedObjectMerge)
        }
    }

    @Test("Fetches sort, cut and count in memory") func fetching() throws {
        try savePeople()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
            request.fetchOffset = 1
            request.fetchLimit = 1
            let second = try context.fetch(request)
            #expect(second.map { $0.string("name") } == ["Ann"])
            request.predicate = NSPredicate(format: "ANY pets.name == %@", "Cid's cat")
            request.fetchOffset = 0
            let count = try context.count(for: request)
            #expect(count == 1)
        }
    }

    @Test("Dictionary fetches group and aggregate in memory") func dictionaries() throws {
        try savePeople()
        try context.performAndWait {
            let oldest = NSExpressionDescription()
            oldest.name = "oldest"
            oldest.expression = NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "age")])
            oldest.expressionResultType = .integer16AttributeType
            let request = NSFetchRequest<NSDictionary>(entityName: "Person")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [oldest]
            let totals = try context.fetch(request)
            #expect(totals.map { $0["oldest"] as? Int } == [40])
            request.propertiesToFetch = ["name"]
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let names = try context.fetch(request)
            #expect(names.map { $0["name"] as? String } == ["Ann", "Bob", "Cid"])
        }
    }

    @Test("The metadata of a closed store are read by its class") func metadata() throws {
        try savePeople()
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: ListStore.type.rawValue, at: folder.file("library.plist"), options: nil)
        #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
        #expect(metadata[NSStoreTypeKey] as? String == "List")
    }

    @Test("An object's ID leads to its reference and back") func references() throws {
        try savePeople()
        try context.performAndWait {
            let ann = try #require(context.all("Person", by: "name").first)
            let reference = store.referenceObject(for: ann.objectID)
            #expect(store.objectID(for: ann.entity, withReferenceObject: reference) == ann.objectID)
            let uri = ann.objectID.uriRepresentation()
            #expect(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri) == ann.objectID)
        }
    }
}
