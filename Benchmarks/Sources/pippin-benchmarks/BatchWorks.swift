import CoreData

/// Changes of many rows without objects, against the same statements.
let batchWorks = [
    insertion("batch insert of dictionaries") { samples, _ in
        NSBatchInsertRequest(entityName: "Item", objects: samples.map(\.dictionary))
    },
    insertion("batch insert through objects") { samples, count in
        var next = 0
        return NSBatchInsertRequest(entityName: "Item") { (object: NSManagedObject) in
            guard next < count, let item = object as? Item else { return true }
            item.take(samples[next])
            next += 1
            return false
        }
    },
    change("batch update", budget: 1.2, "UPDATE ZITEM SET ZCOUNT = ZCOUNT + 1, Z_OPT = Z_OPT + 1") { _ in
        let request = NSBatchUpdateRequest(entityName: "Item")
        request.propertiesToUpdate = ["count": NSExpression(format: "count + 1")]
        return request
    },
    change("batch delete of every second object", budget: 1.2, "DELETE FROM ZITEM WHERE ZCOUNT % 2 = 1") { _ in
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
        fetch.predicate = NSPredicate(format: "modulus:by:(count, 2) == 1")
        return NSBatchDeleteRequest(fetchRequest: fetch)
    },
]

private func insertion(
    _ title: String, _ request: @escaping @Sendable ([Sample], Int) -> NSPersistentStoreRequest
) -> Work {
    Work(
        title: title, budget: 1.5, operations: { $0 },
        ours: { workspace, objects in
            let samples = Sample.make(objects)
            let store = try workspace.emptyStore()
            let context = try Stack(store: store).container.newBackgroundContext()
            let request = request(samples, objects)
            return Trial(store: store, changesStore: true) {
                _ = try context.performAndWait { try context.execute(request) }
                return Checksum()
            }
        },
        baseline: { workspace, objects in
            let samples = Sample.make(objects)
            let store = try workspace.emptyStore()
            let database = try Baseline(path: store)
            return Trial(store: store, changesStore: true) {
                try database.insert(samples)
                return Checksum()
            }
        })
}

private func change(
    _ title: String, budget: Double, _ sql: String,
    _ request: @escaping @Sendable (Int) -> NSPersistentStoreRequest
) -> Work {
    Work(
        title: title, budget: budget, operations: { $0 },
        ours: { workspace, objects in
            let store = try workspace.ownFilledStore(objects)
            let context = try Stack(store: store).container.newBackgroundContext()
            let request = request(objects)
            return Trial(store: store, changesStore: true) {
                _ = try context.performAndWait { try context.execute(request) }
                return Checksum()
            }
        },
        baseline: { workspace, objects in
            let store = try workspace.ownFilledStore(objects)
            let database = try Baseline(path: store)
            return Trial(store: store, changesStore: true) {
                try database.execute("BEGIN IMMEDIATE; \(sql); COMMIT")
                return Checksum()
            }
        })
}

extension Sample {
    /// The values as a batch insertion takes them.
    fileprivate var dictionary: [String: Any] {
        [
            "uid": uid, "title": title, "count": count, "price": price, "createdAt": createdAt, "isFlagged": isFlagged,
        ]
    }
}
