import CoreData
import Testing

/// Counts the calls of its life cycle.
final class Witness: NSManagedObject {
    var calls: [String] = []
    /// Whether it was new, changed or deleted, as its last `didSave` saw it.
    var saved: [Bool] = []

    override func awakeFromInsert() {
        super.awakeFromInsert()
        calls.append("awakeFromInsert")
        setValue("from awake", forKey: "name")
    }
    override func awakeFromFetch() {
        super.awakeFromFetch()
        calls.append("awakeFromFetch")
    }
    override func willSave() {
        super.willSave()
        calls.append("willSave")
        if !isDeleted, string("stamp") == nil { setValue("stamped", forKey: "stamp") }
    }
    override func didSave() {
        super.didSave()
        calls.append("didSave")
        saved = [isInserted, isUpdated, isDeleted]
    }
    override func prepareForDeletion() {
        super.prepareForDeletion()
        calls.append("prepareForDeletion")
    }
}

@MainActor @Suite("The life cycle of a managed object")
struct LifeCycleTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        let entity = Library.entity(
            "Witness",
            [
                Library.attribute("name", .stringAttributeType), Library.attribute("stamp", .stringAttributeType),
            ])
        entity.managedObjectClassName = NSStringFromClass(Witness.self)
        let model = NSManagedObjectModel()
        model.entities = [entity]
        container = try Library.inMemory(model)
    }

    @Test("init(context:) finds the entity that names the class, and wakes the object up")
    func insert() {
        let witness = Witness(context: context)
        #expect(witness.entity.name == "Witness")
        #expect(witness.calls == ["awakeFromInsert"])
        #expect(witness.string("name") == "from awake")
        #expect(context.insertedObjects == [witness])
    }

    @Test("Changes made in willSave are saved too")
    func willSave() throws {
        let witness = Witness(context: context)
        try context.save()
        #expect(witness.calls.first == "awakeFromInsert")
        #expect(witness.calls.last == "didSave")
        context.reset()
        #expect(try context.all("Witness").first?.string("stamp") == "stamped")
    }

    @Test("In didSave, isInserted, isUpdated and isDeleted say what the save did")
    func statesInDidSave() throws {
        let witness = Witness(context: context)
        try context.save()
        #expect(witness.saved == [true, false, false])
        #expect(!witness.isInserted && !witness.hasChanges && context.insertedObjects.isEmpty)
        witness.setValue("changed", forKey: "name")
        try context.save()
        #expect(witness.saved == [false, true, false])
        #expect(!witness.isUpdated && context.updatedObjects.isEmpty)
        context.delete(witness)
        try context.save()
        #expect(witness.saved == [false, false, true])
    }

    @Test("A fetched object is of its class, and wakes up when its values are first read")
    func fetch() throws {
        _ = Witness(context: context)
        try context.save()
        context.reset()
        let fetched = try #require(try context.all("Witness").first as? Witness)
        #expect(fetched.calls.isEmpty)
        _ = fetched.string("name")
        #expect(fetched.calls == ["awakeFromFetch"])
        #expect(!fetched.hasChanges)
    }

    @Test("An object prepares for its deletion, and has no context after the save")
    func deletion() throws {
        let witness = Witness(context: context)
        try context.save()
        context.delete(witness)
        #expect(witness.calls.contains("prepareForDeletion"))
        #expect(witness.isDeleted)
        try context.save()
        #expect(witness.managedObjectContext == nil)
    }

    @Test("Objects that nobody holds go away, changed ones stay")
    func memory() throws {
        weak var clean: NSManagedObject?
        weak var dirty: NSManagedObject?
        try withExtendedLifetime(context) {
            let witness = Witness(context: context)
            let other = Witness(context: context)
            try context.save()
            other.setValue("changed", forKey: "name")
            clean = witness
            dirty = other
        }
        #expect(clean == nil)
        #expect(dirty != nil)
    }
}
