import CoreData
import Testing

@MainActor @Suite("A fetch throws where matching takes too long")
struct MatchingLimitTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }
    private let slow = NSPredicate(format: "name MATCHES '(a+)+b|a+!'")

    init() throws {
        container = try Library.inMemory()
        container.viewContext.make("Author", ["name": String(repeating: "a", count: 40)])
    }

    private func refuses(_ body: () throws -> Void) {
        let error = #expect(throws: NSError.self) { try body() }
        #expect(error?.localizedDescription.contains("too many steps") == true, "\(error as Any)")
    }

    @Test("A fetch, a count and a batch request in SQL throw")
    func inSQL() throws {
        try context.save()
        refuses { _ = try context.all("Author", slow) }
        refuses {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.predicate = slow
            _ = try context.count(for: request)
        }
        refuses {
            let request = NSBatchUpdateRequest(entityName: "Author")
            request.predicate = slow
            request.propertiesToUpdate = ["age": 1]
            try context.execute(request)
        }
        #expect(try context.all("Author", NSPredicate(format: "age == 1")).isEmpty)
    }

    @Test("A fetch throws where unsaved objects are compared in memory")
    func unsaved() {
        refuses { _ = try context.all("Author", slow) }
    }

    @Test("A fetch throws in a store that works with objects")
    func documentStore() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("slow-\(UUID().uuidString).xml")
        defer { try? FileManager.default.removeItem(at: file) }
        let description = NSPersistentStoreDescription(url: file)
        description.type = NSXMLStoreType
        let context = try Library.container(Library.model(), description).viewContext
        context.make("Author", ["name": String(repeating: "a", count: 40)])
        try context.save()
        refuses { _ = try context.all("Author", slow) }
    }

    @Test("Validation refuses the value, and the error says that it could not be checked")
    func validation() throws {
        let model = Library.model()
        let name = try #require(model.entitiesByName["Author"]?.attributesByName["name"])
        name.setValidationPredicates([NSPredicate(format: "SELF MATCHES '(a+)+b|a+!'")], withValidationWarnings: ["W"])
        let context = try Library.inMemory(model).viewContext
        context.make("Author", ["name": String(repeating: "a", count: 40)])
        refuses { try context.save() }
    }
}
