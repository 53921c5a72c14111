import CoreData
import Testing

class ZooAnimal: NSManagedObject {
    func sound() -> String { "…" }
}

class ZooDog: ZooAnimal {
    override func sound() -> String { "wuff" }
}

/// A class that no entity names.
final class ZooPuppy: ZooDog {
    override func sound() -> String { "wiff" }
}

/// Of a subentity, but no subclass of its superentity's class.
final class ZooRobot: NSManagedObject {}

@MainActor @Suite("Objects of several classes in one fetch")
struct MixedClassTests {
    /// Animals, with dogs and robots below them.
    private func zoo() throws -> NSManagedObjectContext {
        func entity(_ name: String, _ type: NSManagedObject.Type) -> NSEntityDescription {
            let entity = Library.entity(name, name == "Animal" ? [Library.attribute("name", .stringAttributeType)] : [])
            entity.managedObjectClassName = String(reflecting: type)
            return entity
        }
        let animal = entity("Animal", ZooAnimal.self)
        let (dog, robot) = (entity("Dog", ZooDog.self), entity("Robot", ZooRobot.self))
        animal.subentities = [dog, robot]
        let model = NSManagedObjectModel()
        model.entities = [animal, dog, robot]
        return try Library.inMemory(model).viewContext
    }

    private func fetch<T: NSManagedObject>(
        _ type: T.Type, _ entity: String, in context: NSManagedObjectContext, withSubentities: Bool = true
    ) throws -> [T] {
        let request = NSFetchRequest<T>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.includesSubentities = withSubentities
        return try context.fetch(request)
    }

    /// What a context finds: as the objects were made, and as they are read.
    private func inBothForms(_ context: NSManagedObjectContext, _ body: (String) throws -> Void) throws {
        try body("made")
        try context.save()
        try body("saved")
        context.reset()
        try body("read")
    }

    @Test("Each object is of the class of its own entity, and the superclass serves for all")
    func hierarchy() throws {
        let context = try zoo()
        context.make("Animal", ["name": "a"])
        context.make("Dog", ["name": "b"])
        try inBothForms(context) { form in
            let animals = try fetch(ZooAnimal.self, "Animal", in: context)
            let dogs = try fetch(ZooDog.self, "Dog", in: context)
            #expect(animals.map { $0.sound() } == ["…", "wuff"], "\(form)")
            #expect(dogs.map { $0.sound() } == ["wuff"], "\(form)")
        }
    }

    @Test("A class that some of the objects are not of is an error, and never theirs")
    func tooSpecial() throws {
        let context = try zoo()
        context.make("Animal", ["name": "a"])
        context.make("Dog", ["name": "b"])
        try inBothForms(context) { form in
            #expect(throws: NSError.self, "\(form)") { try fetch(ZooDog.self, "Animal", in: context) }
        }
        let dogs = NSFetchRequest<ZooDog>(entityName: "Animal")
        dogs.predicate = NSPredicate(format: "name == 'b'")
        #expect(try context.fetch(dogs).map { $0.sound() } == ["wuff"])
    }

    @Test("A subentity of an unrelated class counts where its objects are found, and nowhere else")
    func unrelated() throws {
        let context = try zoo()
        context.make("Animal", ["name": "a"])
        #expect(try fetch(ZooAnimal.self, "Animal", in: context).count == 1)
        let robot = context.make("Robot", ["name": "c"])
        try inBothForms(context) { form in
            #expect(throws: NSError.self, "\(form)") { try fetch(ZooAnimal.self, "Animal", in: context) }
            let animals = try fetch(ZooAnimal.self, "Animal", in: context, withSubentities: false)
            #expect(animals.map { $0.sound() } == ["…"], "\(form)")
            #expect(try fetch(NSManagedObject.self, "Animal", in: context).count == 2, "\(form)")
        }
        context.delete(try context.existingObject(with: robot.objectID))
        #expect(try fetch(ZooAnimal.self, "Animal", in: context).map { $0.sound() } == ["…"])
    }

    @Test("An object that was made of a plainer class than its entity names stays of it while it is there")
    func plainer() throws {
        let context = try zoo()
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Dog", in: context))
        context.make("Dog", ["name": "a"])
        #expect(try fetch(ZooDog.self, "Dog", in: context).count == 1)
        var plain: ZooAnimal? = ZooAnimal(entity: entity, insertInto: context)
        plain?.setValue("b", forKey: "name")
        for _ in 0..<2 {
            #expect(throws: NSError.self) { try fetch(ZooDog.self, "Dog", in: context) }
            #expect(try fetch(ZooAnimal.self, "Animal", in: context).map { $0.sound() } == ["wuff", "…"])
            try context.save()
        }
        plain = nil
        context.reset()
        #expect(try fetch(ZooDog.self, "Dog", in: context).map { $0.sound() } == ["wuff", "wuff"])
    }

    @Test("A context that is given its coordinator once more knows of the classes that it has")
    func coordinatorAgain() throws {
        let context = try zoo()
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Dog", in: context))
        let plain = ZooAnimal(entity: entity, insertInto: context)
        try context.save()
        context.persistentStoreCoordinator = context.persistentStoreCoordinator
        #expect(throws: NSError.self) { try fetch(ZooDog.self, "Dog", in: context) }
        #expect(try fetch(ZooAnimal.self, "Dog", in: context) == [plain])
    }

    @Test("An object of a more special class than its entity names is found as what it is")
    func moreSpecial() throws {
        let context = try zoo()
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Dog", in: context))
        let puppy = ZooPuppy(entity: entity, insertInto: context)
        puppy.setValue("a", forKey: "name")
        #expect(try fetch(ZooPuppy.self, "Dog", in: context) == [puppy])
        context.make("Dog", ["name": "b"])
        try context.save()
        #expect(throws: NSError.self) { try fetch(ZooPuppy.self, "Dog", in: context) }
        #expect(try fetch(ZooDog.self, "Dog", in: context).map { $0.sound() } == ["wiff", "wuff"])
        #expect(try fetch(ZooAnimal.self, "Animal", in: context).map { $0.sound() } == ["wiff", "wuff"])
    }

    @Test("A child context has classes of its own for what its parent has")
    func child() throws {
        let parent = try zoo()
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Dog", in: parent))
        ZooAnimal(entity: entity, insertInto: parent).setValue("a", forKey: "name")
        parent.make("Animal", ["name": "b"])
        let child = NSManagedObjectContext(.mainQueue)
        child.parent = parent
        #expect(try fetch(ZooAnimal.self, "Animal", in: child).map { $0.sound() } == ["wuff", "…"])
        #expect(try fetch(ZooDog.self, "Dog", in: child).map { $0.sound() } == ["wuff"])
        #expect(throws: NSError.self) { try fetch(ZooDog.self, "Dog", in: parent) }
    }
}
