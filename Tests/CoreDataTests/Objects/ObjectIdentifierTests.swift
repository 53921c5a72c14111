import CoreData
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("An object's ID, which is made when it is asked for")
struct ObjectIdentifierTests {
    let container: NSPersistentContainer
    let context: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
    }

    private func insertTags(_ count: Int) throws {
        try context.performAndWait {
            for number in 0..<count { context.make("Tag", ["name": "\(number)"]) }
            try context.save()
            context.reset()
        }
    }

    @Test("Threads that ask at the same time get one and the same", .ownThread)
    func manyThreads() throws {
        try insertTags(50)
        let objects = try context.performAndWait { Unchecked(try context.all("Tag")) }
        let found = Mutex<[[NSManagedObjectID]]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            let mine = objects.value.map(\.objectID)
            found.withLock { $0.append(mine) }
        }
        let lists = found.withLock { $0 }
        #expect(lists.count == 8)
        for list in lists { #expect(zip(list, lists[0]).allSatisfy { $0 === $1 }) }
    }

    @Test("It equals the ID of the object by another model that has the store as a configuration, and so do the hashes")
    func otherModel() throws {
        let folder = try TestFolder()
        func entity(_ name: String) -> NSEntityDescription {
            Library.entity(name, [Library.attribute("name", .stringAttributeType)])
        }
        let small = NSManagedObjectModel()
        small.entities = [entity("Note")]
        let large = NSManagedObjectModel()
        let note = entity("Note")
        large.entities = [entity("Account"), entity("Draft"), note]
        large.setEntities([note], forConfigurationName: "Notes")
        let first = try Library.stored(at: folder.file("notes.sqlite"), small).newBackgroundContext()
        let identifier = try first.performAndWait {
            let note = first.make("Note", ["name": "A"])
            try first.save()
            return note.objectID
        }
        let description = NSPersistentStoreDescription(url: folder.file("notes.sqlite"))
        description.configuration = "Notes"
        let second = try Library.container(large, description).newBackgroundContext()
        let other = try second.performAndWait { try second.all("Note")[0].objectID }
        #expect(identifier == other)
        #expect(identifier.hash == other.hash)
    }

    @Test("It outlives the context and the coordinator")
    func outlives() throws {
        var object: NSManagedObject?
        var expected: String?
        try { () throws in
            let container = try Library.inMemory()
            let context = container.newBackgroundContext()
            try context.performAndWait {
                context.make("Tag", ["name": "A"])
                try context.save()
                context.reset()
                let fetched = try context.all("Tag")[0]
                expected = context.persistentStoreCoordinator?.persistentStores[0].identifier
                object = fetched
            }
        }()
        let identifier = try #require(object?.objectID)
        #expect(object?.managedObjectContext == nil)
        #expect(identifier.uriRepresentation().absoluteString == "x-coredata://\(try #require(expected))/Tag/p1")
        #expect(identifier.entity.name == "Tag")
    }

    @Test("An object that a reset let go still says which it was")
    func afterReset() throws {
        try insertTags(1)
        try context.performAndWait {
            let object = try context.all("Tag")[0]
            context.reset()
            #expect(object.managedObjectContext == nil)
            #expect(object.objectID.uriRepresentation().lastPathComponent == "p1")
        }
    }

    @Test("A save that fails leaves the temporary one")
    func failedSave() throws {
        context.performAndWait {
            let author = context.make("Author", ["name": "A"])
            let before = author.objectID
            context.make("Author")
            #expect(throws: NSError.self) { try context.save() }
            #expect(author.objectID == before)
            #expect(author.objectID.isTemporaryID)
            #expect(context.registeredObject(for: before) === author)
        }
    }
}
