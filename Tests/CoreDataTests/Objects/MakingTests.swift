import CoreData
import Testing

/// A class whose own designated initializer is overridden, as much code does.
final class Note: NSManagedObject {
    private(set) var initializations = 0

    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
        initializations += 1
    }
}

private protocol Entity: NSManagedObject {}
extension Note: Entity {}

extension Entity {
    fileprivate init(in context: NSManagedObjectContext, of entity: NSEntityDescription) {
        self.init(entity: entity, insertInto: context)
    }
}

extension NSManagedObject {
    fileprivate class func make(_ entity: NSEntityDescription) -> Self { self.init(entity: entity, insertInto: nil) }
}

// The rule: classes that come from Objective-C can be made by any initializer where only their metatype is known.
// BNR's CoreDataStack (CoreDataModelable) and many a helper rely on it.
@Suite("Objects of a class that generic code knows")
struct MakingTests {
    private let container: NSPersistentContainer
    private let entity: NSEntityDescription

    init() throws {
        let model = NSManagedObjectModel()
        let note = Library.entity("Note", [Library.attribute("text", .stringAttributeType, defaultValue: "new")])
        note.managedObjectClassName = NSStringFromClass(Note.self)
        model.entities = [note]
        container = try Library.inMemory(model)
        entity = note
    }

    private func generic<T: NSManagedObject>(_ context: NSManagedObjectContext) -> T {
        T(entity: entity, insertInto: context)
    }

    @Test("T(entity:insertInto:) makes an object of the class T in the context")
    func genericFunction() throws {
        let context = container.newBackgroundContext()
        context.performAndWait {
            let note: Note = generic(context)
            #expect(note.initializations == 1)
            #expect(note.isInserted)
            #expect(context.insertedObjects == [note])
            #expect(note.string("text") == "new")
        }
    }

    @Test("An initializer of a protocol extension can call it")
    func protocolInitializer() throws {
        let context = container.newBackgroundContext()
        context.performAndWait {
            #expect(Note(in: context, of: entity).managedObjectContext === context)
        }
    }

    // Tests and previews of apps make throw-away objects in a context that has no store.
    @Test("init(context:) makes one in a context without a coordinator, of the entity of a model in use")
    func noCoordinator() {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.performAndWait {
            let note = Note(context: context)
            #expect(note.entity.name == "Note" && note.isInserted && note.managedObjectContext === context)
            #expect(context.insertedObjects == [note] && note.string("text") == "new")
        }
    }

    @Test("Without a context the object belongs to none until it is inserted")
    func noContext() throws {
        let note = Note.make(entity)
        #expect(note.managedObjectContext == nil)
        #expect(!note.isInserted)
        #expect(note.string("text") == "new")
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.insert(note)
            try context.save()
            #expect(try context.count(for: NSFetchRequest<Note>(entityName: "Note")) == 1)
        }
    }
}
