import CoreData
import Dispatch
import Testing

@Suite("A context finds its objects without keeping them alive")
struct ObjectTableTests {
    let container: NSPersistentContainer
    let context: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
        try context.performAndWait { [context] in
            for number in 0..<500 { context.make("Tag", ["name": "\(number)"]) }
            for number in 0..<500 { context.make("Shelf", ["code": "\(number)"]) }
            try context.save()
        }
    }

    @Test("Objects of several entities with the same keys are told apart")
    func entities() throws {
        try context.performAndWait {
            let tags = try context.all("Tag")
            let shelves = try context.all("Shelf")
            for object in tags + shelves { #expect(context.registeredObject(for: object.objectID) === object) }
            #expect(context.registeredObjects.count == 1000)
        }
    }

    @Test("What is let go is found no more, what is held still is")
    func release() throws {
        try context.performAndWait {
            var tags = try context.all("Tag")
            let gone = tags.suffix(250).map(\.objectID)
            tags.removeLast(250)
            #expect(gone.allSatisfy { context.registeredObject(for: $0) == nil })
            #expect(tags.allSatisfy { context.registeredObject(for: $0.objectID) === $0 })
            #expect(context.registeredObjects.count == 250)
        }
    }

    @Test("Objects may be let go on another thread while the context looks them up")
    func releaseElsewhere() throws {
        let elsewhere = DispatchQueue(label: "elsewhere")
        for _ in 0..<200 {
            let fetched = try context.performAndWait { Handed(try context.all("Tag")) }
            elsewhere.async { fetched.objects = [] }
            let names = try context.performAndWait { try context.all("Tag").map { $0.string("name") } }
            #expect(names.count == 500)
            #expect(!names.contains(nil))
        }
        elsewhere.sync {}
        #expect(context.performAndWait { context.registeredObjects.isEmpty })
    }

    @Test("A context goes with its objects, also those that refer to one another")
    func contextGoes() throws {
        weak var author: NSManagedObject?
        weak var gone: NSManagedObjectContext?
        try { () throws in
            let context = container.newBackgroundContext()
            gone = context
            try context.performAndWait {
                let made = context.make("Author", ["name": "A"])
                context.make("Book", ["title": "B", "author": made])
                try context.save()
                author = made
            }
        }()
        #expect(gone == nil)
        #expect(author == nil)
    }
}

/// Objects on their way to another thread, which only lets them go.
private final class Handed: @unchecked Sendable {
    var objects: [NSManagedObject]
    init(_ objects: [NSManagedObject]) { self.objects = objects }
}
