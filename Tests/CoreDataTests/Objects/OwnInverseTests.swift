import CoreData
import Testing

@Suite("A to-one relationship that is its own inverse")
struct OwnInverseTests {
    @Test("leads to the new partner of an object that led to itself")
    func oneself() throws {
        let person = Library.entity("Person", [Library.attribute("name", .stringAttributeType)])
        let partner = NSRelationshipDescription()
        partner.name = "partner"
        partner.maxCount = 1
        partner.destinationEntity = person
        person.properties += [partner]
        partner.inverseRelationship = partner
        let model = NSManagedObjectModel()
        model.entities = [person]
        let context = try Library.inMemory(model).newBackgroundContext()
        try context.performAndWait {
            let (first, second) = (context.make("Person", ["name": "a"]), context.make("Person", ["name": "b"]))
            first.setValue(first, forKey: "partner")
            second.setValue(first, forKey: "partner")
            #expect(first.value(forKey: "partner") as? NSManagedObject == second)
            #expect(second.value(forKey: "partner") as? NSManagedObject == first)
            try context.save()
            context.refreshAllObjects()
            #expect(first.value(forKey: "partner") as? NSManagedObject == second)
            second.setValue(second, forKey: "partner")
            #expect(first.value(forKey: "partner") == nil)
            #expect(second.value(forKey: "partner") as? NSManagedObject == second)
        }
    }
}
