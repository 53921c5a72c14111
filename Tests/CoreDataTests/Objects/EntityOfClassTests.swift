import CoreData
import Testing

final class OddLedger: NSManagedObject {}
final class UnnamedLedger: NSManagedObject {}

@Suite("The entity of a class, in several models in use")
struct EntityOfClassTests {
    private func container(_ name: String, _ type: NSManagedObject.Type? = nil) throws -> NSPersistentContainer {
        let entity = Library.entity(name, [Library.attribute("name", .stringAttributeType)])
        if let type { entity.managedObjectClassName = NSStringFromClass(type) }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return try Library.inMemory(model)
    }

    @Test("is the one that names it, before a newer one that has its name only")
    func named() throws {
        let own = try container("Account", OddLedger.self)
        let other = try container("OddLedger")
        try withExtendedLifetime((own, other)) {
            #expect(OddLedger.entity().name == "Account")
            #expect(OddLedger.fetchRequest().entityName == "Account")
            let context = own.newBackgroundContext()
            try context.performAndWait {
                _ = OddLedger(context: context)
                let found = try context.fetch(OddLedger.fetchRequest())
                #expect(found.first is OddLedger)
            }
        }
    }

    @Test("is the one that has its name where none names it")
    func unnamed() throws {
        let own = try container("UnnamedLedger")
        let other = try container("Account")
        withExtendedLifetime((own, other)) { #expect(UnnamedLedger.entity().name == "UnnamedLedger") }
    }
}
