import CoreDataPostgres
import Foundation
import PippinPostgres

/// Items as structs and as objects.
func itemWorks(_ uri: String, _ size: Int) throws {
    let items = (0..<size).map(Item.make)
    let records = ItemRecord.model()
    let structs = manager(uri, "structs")
    try structs.writeAndWait { _ = try $0.count(Item.self) }
    let objects = try context(uri, "objects", records)
    _ = try manager(uri, "hand").readAndWait { try $0.count(Item.self) }
    let hand = ByHand(uri, schema: "hand")
    let own = ByHand(uri, schema: "structs")
    let others = ByHand(uri, schema: "objects")

    try compare("save \(size) new structs", atMost: 1.3) {
        hand.empty()
        return Measure.of { hand.save(items) }
    } ours: {
        own.empty()
        return try Measure.of { try structs.writeAndWait { try $0.insert(items) } }
    }

    try compare("save \(size) new objects", atMost: 1.6) {
        hand.empty()
        return Measure.of { hand.save(items) }
    } ours: {
        others.empty()
        objects.performAndWait { objects.reset() }
        return try Measure.of {
            try objects.performAndWait {
                for item in items { ItemRecord(context: objects).take(item) }
                try objects.save()
            }
        }
    }

    for (table, schema) in [(hand, "hand"), (own, "structs"), (others, "objects")] {
        table.empty()
        table.save(items)
        table.run("ANALYZE \"\(schema)\".item")
    }

    try compare("fetch \(size) structs", atMost: 1.3) {
        Measure.of { precondition(hand.all().count == size) }
    } ours: {
        try Measure.of { check(try structs.readAndWait { try $0.fetch(Item.self) }.count, size) }
    }

    try compare("fetch \(size) objects", atMost: 2.0) {
        Measure.of { precondition(hand.all().count == size) }
    } ours: {
        objects.performAndWait { objects.reset() }
        return try Measure.of {
            try objects.performAndWait {
                let request = NSFetchRequest<ItemRecord>(entityName: "Item")
                request.returnsObjectsAsFaults = false
                check(try objects.fetch(request).count, size)
            }
        }
    }

    let wanted = (0..<min(20_000, size)).map { "item-\($0 * 7 % size)" }
    try compare("\(wanted.count) finds by identifier, one at a time", atMost: 1.3, runs: 3) {
        Measure.of { precondition(hand.find(wanted) == wanted.count) }
    } ours: {
        try Measure.of {
            try structs.readAndWait { store in
                for identifier in wanted { check(try store.find(Item.self, id: identifier) == nil ? 0 : 1, 1) }
            }
        }
    }

    try compare("\(wanted.count) finds by identifier, in one call", atMost: 1.3) {
        Measure.of { precondition(hand.findAll(wanted) == wanted.count) }
    } ours: {
        try Measure.of {
            check(try structs.readAndWait { try $0.find(Item.self, ids: wanted) }.count, wanted.count)
        }
    }

    // The database gives out every 32nd key.
    let keys = hand.keys()
    check(keys.count, size)
    var turn = 0
    try compare("change one attribute of \(size) objects and save", atMost: 1.5) {
        turn += 1
        return Measure.of { hand.change(keys.map { ($0, Int($0) + turn) }) }
    } ours: {
        turn += 1
        let found = try objects.performAndWait { () -> [ItemRecord] in
            let request = NSFetchRequest<ItemRecord>(entityName: "Item")
            request.returnsObjectsAsFaults = false
            return try objects.fetch(request)
        }
        return try Measure.of {
            try objects.performAndWait {
                for item in found { item.count += Int64(turn) }
                try objects.save()
            }
        }
    }
    try batchWorks(hand, others, objects, records.entities[0], (0..<size * 10).map(Item.make))
}

/// Batch insertions, rows given in three ways.
private func batchWorks(
    _ hand: ByHand, _ others: ByHand, _ objects: NSManagedObjectContext, _ entity: NSEntityDescription, _ many: [Item]
) throws {
    func insertion(_ way: String, goal: Double, _ request: @escaping () -> NSBatchInsertRequest) throws {
        try compare("batch insertion of \(many.count) rows, \(way)", atMost: goal, runs: 2) {
            hand.empty()
            return Measure.of { hand.save(many) }
        } ours: {
            others.empty()
            let request = request()
            return try Measure.of { try objects.performAndWait { _ = try objects.execute(request) } }
        }
    }
    try insertion("objects", goal: 1.3) {
        var next = 0
        return NSBatchInsertRequest(entity: entity) { (object: NSManagedObject) -> Bool in
            guard next < many.count, let record = object as? ItemRecord else { return true }
            record.take(many[next])
            next += 1
            return false
        }
    }
    try insertion("dictionaries", goal: 1.3) {
        NSBatchInsertRequest(entity: entity, objects: many.map(\.dictionary))
    }
    try insertion("mutable", goal: 1.3) {
        var next = 0
        return NSBatchInsertRequest(entity: entity) { (row: NSMutableDictionary) -> Bool in
            guard next < many.count else { return true }
            for (key, value) in many[next].dictionary { row[key] = value }
            next += 1
            return false
        }
    }
}
