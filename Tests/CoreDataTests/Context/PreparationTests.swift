import CoreData
import Testing

/// Sets what it is told to when it is saved, validated or was saved.
final class Hooked: NSManagedObject {
    var onWillSave: ((Hooked) -> Void)?
    var onValidation: ((Hooked) -> Void)?
    var onDidSave: ((Hooked) -> Void)?
    var saves = 0

    override func willSave() {
        super.willSave()
        saves += 1
        onWillSave?(self)
    }
    override func validateForUpdate() throws {
        onValidation?(self)
        try super.validateForUpdate()
    }
    override func validateForInsert() throws {
        onValidation?(self)
        try super.validateForInsert()
    }
    override func didSave() {
        super.didSave()
        onDidSave?(self)
    }
}

@MainActor @Suite("What willSave, validation and didSave change")
struct PreparationTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        let entity = Library.entity(
            "Hooked",
            [
                Library.attribute("name", .stringAttributeType), Library.attribute("count", .integer64AttributeType),
            ])
        entity.managedObjectClassName = NSStringFromClass(Hooked.self)
        let model = NSManagedObjectModel()
        model.entities = [entity]
        container = try Library.inMemory(model)
    }

    private func storedNames() throws -> [String?] {
        let reader = container.newBackgroundContext()
        return try reader.performAndWait { try reader.all("Hooked", by: "name").map { $0.string("name") } }
    }

    @Test("An object that willSave changes is told again, and is saved with the change")
    func again() throws {
        let object = Hooked(context: context)
        object.onWillSave = { if $0.saves < 3 { $0.setValue("\($0.saves)", forKey: "name") } }
        try context.save()
        #expect(object.saves == 3)
        #expect(try storedNames() == ["2"])
        #expect(!context.hasChanges)
    }

    @Test("Objects that willSave changes, makes or deletes are told and saved too")
    func others() throws {
        let (first, second, third) = (Hooked(context: context), Hooked(context: context), Hooked(context: context))
        try context.save()
        let context = context
        first.onWillSave = { object in
            guard object.saves == 2 else { return }
            second.setValue("changed", forKey: "name")
            context.delete(third)
            Hooked(context: context).setValue("new", forKey: "name")
        }
        first.setValue("first", forKey: "name")
        try context.save()
        #expect(try storedNames() == ["changed", "first", "new"])
        #expect(second.saves == 2)
        #expect(third.managedObjectContext == nil)
    }

    @Test("What is set by primitive value in willSave is saved, without being told again")
    func primitive() throws {
        let object = Hooked(context: context)
        object.onWillSave = { $0.setPrimitiveValue("primitive", forKey: "name") }
        try context.save()
        #expect(object.saves == 1)
        #expect(try storedNames() == ["primitive"])
    }

    @Test("What a validation changes is prepared and saved too")
    func validation() throws {
        let object = Hooked(context: context)
        object.onValidation = { if $0.string("name") == nil { $0.setValue("valid", forKey: "name") } }
        try context.save()
        #expect(object.saves == 2)
        #expect(try storedNames() == ["valid"])
        #expect(!context.hasChanges)
    }

    @Test("What didSave changes stays to be saved")
    func didSave() throws {
        let object = Hooked(context: context)
        object.onDidSave = { if $0.string("name") == nil { $0.setValue("later", forKey: "name") } }
        try context.save()
        #expect(object.isUpdated)
        #expect(try storedNames() == [nil])
        try context.save()
        #expect(try storedNames() == ["later"])
    }

    // Core Data gives up after 1000 attempts, with an exception.
    @Test("An object that every willSave changes stops the program, and nothing is written")
    func endless() async {
        await #expect(processExitsWith: .failure) { @MainActor in
            let tests = try PreparationTests()
            let object = Hooked(context: tests.context)
            object.onWillSave = { $0.setValue($0.saves, forKey: "count") }
            try tests.context.save()
        }
    }
}
