import CoreData
import TestSupport
import Testing

@Suite("Containers and coordinators")
struct ContainerTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("A store is made where its description says, and has a UUID and a type")
    func make() throws {
        let url = folder.file("made.sqlite")
        let store = try #require(try Library.stored(at: url).persistentStoreCoordinator.persistentStores.first)
        #expect(FileManager.default.fileExists(atPath: url.path))
        #expect(store.type == NSSQLiteStoreType)
        #expect(store.metadata[NSStoreUUIDKey] as? String == store.identifier)
    }

    // Source: SwiftCoreData, and Core Data's “Failed to load model named …”, which is a line of its log.
    @Test("A container of a name that no model has opens no store, and says where it looked")
    func withoutModel() throws {
        let url = folder.file("kept.sqlite")
        let context = try Library.stored(at: url).newBackgroundContext()
        try context.performAndWait {
            context.make("Author", ["name": "A"])
            try context.save()
        }
        let container = NSPersistentContainer(name: "NoSuchModel")
        #expect(container.managedObjectModel.entities.isEmpty)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var errors: [NSError?] = []
        container.loadPersistentStores { errors.append($1 as NSError?) }
        #expect(errors.map { $0?.code } == [134080])
        let message = errors[0]?.localizedDescription ?? ""
        #expect(message.contains("looked for NoSuchModel.momd and NoSuchModel.mom in /"))
        #expect(try context.performAndWait { try context.all("Author").map { $0.string("name") } } == ["A"])
    }

    @Test("An object's URI leads to its ID, in another coordinator of the file too")
    func identifiers() throws {
        let url = folder.file("ids.sqlite")
        let container = try Library.stored(at: url)
        let context = container.newBackgroundContext()
        let uri = try context.performAndWait {
            let author = context.make("Author", ["name": "A"])
            try context.save()
            return author.objectID.uriRepresentation()
        }
        let other = try Library.stored(at: url)
        let reader = other.newBackgroundContext()
        try reader.performAndWait {
            let identifier = try #require(other.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri))
            #expect(try reader.existingObject(with: identifier).string("name") == "A")
        }
        let unknown = try #require(URL(string: "x-coredata://\(UUID())/Author/p1"))
        #expect(other.persistentStoreCoordinator.managedObjectID(forURIRepresentation: unknown) == nil)
    }

    @Test("A store that is read-only refuses a save, and stays as it was")
    func readOnly() throws {
        let url = folder.file("readonly.sqlite")
        _ = try Library.stored(at: url)
        let description = NSPersistentStoreDescription(url: url)
        description.isReadOnly = true
        let context = try Library.container(Library.model(), description).newBackgroundContext()
        context.performAndWait {
            context.make("Author", ["name": "A"])
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == NSFileWriteNoPermissionError)
            #expect(error?.localizedDescription.contains("read-only") == true)
        }
    }

    @Test("An unknown store type is an error that names those there are")
    func unknownType() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let error = #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(ofType: "Paper", configurationName: nil, at: folder.file("x"))
        }
        #expect(error?.code == 134000)
        #expect(error?.localizedDescription.contains("SQLite") == true)
    }

    @Test("A description that asks for it loads its store in the background")
    func asynchronous() async throws {
        let description = NSPersistentStoreDescription(url: folder.file("later.sqlite"))
        description.shouldAddStoreAsynchronously = true
        let container = NSPersistentContainer(name: "Later", managedObjectModel: Library.model())
        container.persistentStoreDescriptions = [description]
        let failure = await withCheckedContinuation { continuation in
            container.loadPersistentStores { continuation.resume(returning: $1.map { "\($0)" }) }
        }
        #expect(failure == nil)
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test("Batch deletion tells the IDs, and in a context that merges them the objects are deleted")
    func batchDeletion() throws {
        let context = try Library.inMemory().newBackgroundContext()
        try context.performAndWait {
            for age in 1...4 { context.make("Author", ["name": "A", "age": age]) }
            try context.save()
            let kept = try context.all("Author", by: "age")
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.predicate = NSPredicate(format: "age > %d", 2)
            let deletion = NSBatchDeleteRequest(fetchRequest: request)
            deletion.resultType = .resultTypeObjectIDs
            let result = try #require(try context.execute(deletion) as? NSBatchDeleteResult)
            let deleted = try #require(result.result as? [NSManagedObjectID])
            #expect(Set(deleted) == Set(kept[2...].map(\.objectID)))
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: deleted], into: [context])
            #expect(kept.map(\.isDeleted) == [false, false, true, true])
            #expect(try context.all("Author").count == 2)
        }
    }
}
