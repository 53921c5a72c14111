import CoreData

/// The work in Core Data's terms, as one would write it anywhere.
extension Item {
    static func save(_ samples: [Sample], in context: NSManagedObjectContext) throws {
        insert(samples, in: context)
        try context.save()
    }

    static func insert(_ samples: [Sample], in context: NSManagedObjectContext) {
        for sample in samples { Item(context: context).take(sample) }
    }

    func take(_ sample: Sample) {
        uid = sample.uid
        title = sample.title
        count = sample.count
        price = sample.price
        createdAt = sample.createdAt
        isFlagged = sample.isFlagged
    }

    static func all(in context: NSManagedObjectContext) throws -> [Item] {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.returnsObjectsAsFaults = false
        return try context.fetch(request)
    }

    static func readAll(in context: NSManagedObjectContext) throws -> Checksum {
        var checksum = Checksum()
        for item in try all(in: context) { item.add(to: &checksum) }
        return checksum
    }

    static func read(keys: [String], in context: NSManagedObjectContext) throws -> Checksum {
        var checksum = Checksum()
        for key in keys {
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.predicate = NSPredicate(format: "uid == %@", key)
            for item in try context.fetch(request) { item.add(to: &checksum) }
        }
        return checksum
    }

    /// Changes an attribute of all objects, which are returned, and does not save.
    static func changeAll(in context: NSManagedObjectContext) throws -> [Item] {
        let items = try all(in: context)
        for item in items { item.count += 1 }
        return items
    }

    static func addOne(to items: [Item], in context: NSManagedObjectContext) throws {
        for item in items { item.count += 1 }
        try context.save()
    }

    private func add(to checksum: inout Checksum) {
        checksum.add(
            uidBytes: uid?.utf8.count ?? 0, titleBytes: title?.utf8.count ?? 0, count: count, price: price,
            createdAt: createdAt?.timeIntervalSinceReferenceDate ?? 0, isFlagged: isFlagged)
    }
}
