@testable import CoreData
import Foundation

// What a program changes in a store.
extension Use {
    /// Saves, and gives up what cannot be saved.
    func save(_ context: NSManagedObjectContext, _ work: (NSManagedObjectContext) throws -> Void) throws {
        defer {
            context.rollback()
            context.reset()
        }
        try work(context)
        do { try context.save() } catch {
            _ = (error as NSError).localizedDescription
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            defer { context.mergePolicy = NSMergePolicy.error }
            try context.save()
        }
    }

    func all(_ context: NSManagedObjectContext, _ entity: String) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
    }

    func insert(_ context: NSManagedObjectContext) throws {
        for entity in ["Item", "Comic", "Part", "Tag", "Owner"] {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            guard entity == "Item" else { continue }
            for (key, value) in Sample.values(90) { object.setValue(value, forKey: key) }
            attempt { object.setValue(NSOrderedSet(array: try all(context, "Part")), forKey: "parts") }
            attempt { object.setValue(NSSet(array: try all(context, "Tag")), forKey: "tags") }
        }
    }

    /// Looks for the item that was inserted, in a save that succeeded.
    func findInserted(_ context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(format: "code == 'c90' AND title == 'Title 90'")
        let count = try context.count(for: request)
        if count != 1 { fatalError("an object was saved once, and is there \(count) times") }
    }

    func update(_ context: NSManagedObjectContext) throws {
        for object in try all(context, "Item") {
            for (key, value) in Sample.values(object.hash & 7) where key != "code" {
                object.setValue(value, forKey: key)
            }
            object.setValue(nil, forKey: "owner")
        }
        for part in try all(context, "Part") { part.setValue("new", forKey: "name") }
    }

    func reorder(_ context: NSManagedObjectContext) throws {
        let parts = try all(context, "Part")
        for item in try all(context, "Item") {
            for key in ["parts", "similar"] {
                let set = item.mutableOrderedSetValue(forKey: key)
                if set.count > 1 { set.moveObjects(at: IndexSet(integer: 0), to: set.count - 1) }
                if set.count > 2 { set.exchangeObject(at: 0, withObjectAt: 1) }
                if key == "parts", let part = parts.last { set.insert(part, at: 0) }
                if key == "similar" { set.insert(item, at: set.count / 2) }
            }
            item.mutableSetValue(forKey: "tags").removeAllObjects()
        }
    }

    func remove(_ context: NSManagedObjectContext) throws {
        for entity in ["Item", "Part", "Owner"] {
            for object in try all(context, entity).prefix(2) { context.delete(object) }
        }
    }

    func batches(_ context: NSManagedObjectContext) {
        attempt {
            let request = NSBatchInsertRequest(
                entityName: "Item", objects: [["title": "x", "code": "b1"], ["title": "y", "code": "b2"]])
            request.resultType = .objectIDs
            _ = try context.execute(request)
        }
        attempt {
            let request = NSBatchUpdateRequest(entityName: "Item")
            request.propertiesToUpdate = ["title": "z", "count": NSExpression(format: "count + 1")]
            request.resultType = .updatedObjectIDsResultType
            _ = try context.execute(request)
        }
        attempt {
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
            fetch.predicate = NSPredicate(format: "count > 1")
            let request = NSBatchDeleteRequest(fetchRequest: fetch)
            request.resultType = .resultTypeObjectIDs
            _ = try context.execute(request)
        }
    }
}
