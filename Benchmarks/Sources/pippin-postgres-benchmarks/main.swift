import CoreDataPostgres
import Foundation
import PippinPostgres

// `make bench-postgres`: Pippin against libpq by hand, on the same tables of one server. The server is named by the first argument.
guard CommandLine.arguments.count > 1 else { fatalError("The first argument is the URI of a database.") }
let uri = CommandLine.arguments[1]
let size = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) ?? 100_000 : 100_000
let items = (0..<size).map(Item.make)

/// What is found must be what was saved.
func check(_ found: Int, _ expected: Int) { precondition(found == expected, "\(found) instead of \(expected)") }

func manager(_ schema: String) -> PersistenceManager {
    PersistenceManager(models: Item.self, store: .postgres(uri, schema: schema))
}

func context(_ schema: String) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: records)
    let description = NSPersistentStoreDescription(postgreSQLConnection: uri, schema: schema)
    try coordinator.addPersistentStore(
        ofType: description.type, configurationName: nil, at: description.url, options: description.options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
}

let records = ItemRecord.model()
let structs = manager("structs")
try structs.writeAndWait { _ = try $0.count(Item.self) }
let objects = try context("objects")
_ = try manager("hand").readAndWait { try $0.count(Item.self) }
let hand = ByHand(uri, schema: "hand")
let own = ByHand(uri, schema: "structs")
let others = ByHand(uri, schema: "objects")

print("work".padding(toLength: 52, withPad: " ", startingAt: 0) + "  by hand     ours  CPU hand  CPU ours factor goal")

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

var turn = 0
try compare("change one attribute of \(size) objects and save", atMost: 1.5) {
    turn += 1
    return Measure.of { hand.change((1...Int64(size)).map { ($0, Int($0) + turn) }) }
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

let many = (0..<size * 10).map(Item.make)
try compare("batch insertion of \(many.count) rows", atMost: 1.3, runs: 2) {
    hand.empty()
    return Measure.of { hand.save(many) }
} ours: {
    others.empty()
    return try Measure.of {
        try objects.performAndWait {
            var next = 0
            let request = NSBatchInsertRequest(entity: records.entities[0]) { (row: NSMutableDictionary) -> Bool in
                guard next < many.count else { return true }
                let item = many[next]
                next += 1
                row["id"] = item.id
                row["title"] = item.title
                row["count"] = item.count
                row["price"] = item.price
                row["createdAt"] = item.createdAt
                row["isFlagged"] = item.isFlagged
                return false
            }
            try objects.execute(request)
        }
    }
}
