import CoreData
import Testing

@MainActor @Suite("Equality of fetch requests")
struct FetchRequestEqualityTests {
    private func request() -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: "price > %d", 3)
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return request
    }

    @Test("Requests for the same are equal, and so is a copy (Wire)")
    func same() throws {
        #expect(request() == request())
        #expect(request().hash == request().hash)
        #expect(request() == request().copy() as? NSFetchRequest<NSManagedObject>)
        #expect(request() != NSFetchRequest<NSManagedObject>(entityName: "Book"))
        #expect(!request().isEqual(NSPredicate(value: true)))
    }

    @Test("Each setting makes a difference")
    func settings() throws {
        let changes: [(NSFetchRequest<NSManagedObject>) -> Void] = [
            { $0.predicate = NSPredicate(format: "price > %d", 4) },
            { $0.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)] },
            { $0.resultType = .managedObjectIDResultType },
            { $0.fetchLimit = 1 },
            { $0.fetchOffset = 1 },
            { $0.fetchBatchSize = 1 },
            { $0.includesSubentities = false },
            { $0.includesPropertyValues = false },
            { $0.includesPendingChanges = false },
            { $0.returnsObjectsAsFaults = false },
            { $0.relationshipKeyPathsForPrefetching = ["tags"] },
            { $0.propertiesToFetch = ["title"] },
            { $0.propertiesToGroupBy = ["title"] },
            { $0.havingPredicate = NSPredicate(value: true) },
            { $0.returnsDistinctResults = true },
            { $0.shouldRefreshRefetchedObjects = true },
        ]
        for (number, change) in changes.enumerated() {
            let (changed, equal) = (request(), request())
            change(changed)
            #expect(changed != request(), "\(number)")
            change(equal)
            #expect(changed == equal, "\(number)")
        }
    }

    @Test("A request that has found its entity by its name is equal to one that has not")
    func entity() throws {
        let (model, other) = (Library.model(), Library.model())
        let described = NSFetchRequest<NSManagedObject>(entityName: "Book")
        described.entity = model.entitiesByName["Book"]
        #expect(described == NSFetchRequest<NSManagedObject>(entityName: "Book"))
        #expect(described != NSFetchRequest<NSManagedObject>(entityName: "Tag"))
        let changed = NSFetchRequest<NSManagedObject>(entityName: "Book")
        changed.entity = other.entitiesByName["Book"]
        #expect(described == changed)
        changed.entity?.isAbstract = true
        #expect(described != changed)
    }
}
