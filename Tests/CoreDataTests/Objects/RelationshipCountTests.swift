import CoreData
import Testing

// JSQCoreDataKit's tests save companies without employees.
@Suite("How many objects a to-many relationship must have")
struct RelationshipCountTests {
    private func save(optional: Bool, minCount: Int) throws {
        let company = Library.entity("Company", [Library.attribute("name", .stringAttributeType)])
        let employee = Library.entity("Employee", [Library.attribute("name", .stringAttributeType)])
        Library.connect(company, "employees", toMany: true, employee, "company")
        let employees = company.relationshipsByName["employees"]
        employees?.isOptional = optional
        employees?.minCount = minCount
        let model = NSManagedObjectModel()
        model.entities = [company, employee]
        let context = try Library.inMemory(model).newBackgroundContext()
        try context.performAndWait {
            context.make("Company")
            try context.save()
        }
    }

    @Test("One that is not optional may be empty, unless it needs a number of objects")
    func required() throws {
        try save(optional: false, minCount: 0)
        let error = #expect(throws: NSError.self) { try save(optional: false, minCount: 2) }
        #expect(error?.code == NSValidationRelationshipLacksMinimumCountError)
    }

    @Test("One that is optional may be empty, whatever number of objects it needs otherwise")
    func optional() throws { try save(optional: true, minCount: 2) }
}
