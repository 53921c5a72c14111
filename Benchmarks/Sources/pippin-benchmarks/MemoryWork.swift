import CAllocationCount
import CoreData
import Foundation

/// What objects of one kind take while they live: heap that is in use with them, over what was in use before.
struct MemoryWork: Sendable {
    let title: String
    /// Makes objects in a context of a store with as many rows, and returns them.
    let objects: @Sendable (NSManagedObjectContext, Int) throws -> [NSManagedObject]

    /// - Returns: bytes for each object, its ID, its values and its place in the context included.
    func bytesPerObject(_ bench: Bench, objects count: Int) throws -> Double {
        let stack = try Stack(store: bench.workspace.filledStore(count))
        defer { try? stack.close() }
        let context = stack.container.newBackgroundContext()
        return try context.performAndWait {
            // What is made once (statements, layouts, caches) is not an object's.
            _ = try objects(context, 1)
            context.reset()
            let before = bytesInUse()
            let made = try objects(context, count)
            let after = bytesInUse()
            guard made.count == count else { throw FoundNothing(format: title) }
            return Double(after - before) / Double(count)
        }
    }

    private func bytesInUse() -> Int { Int(bytes_in_use()) }
}

private func fetch(
    _ context: NSManagedObjectContext, _ count: Int, _ change: (NSFetchRequest<Item>) -> Void = { _ in }
) throws -> [Item] {
    let request = NSFetchRequest<Item>(entityName: "Item")
    request.fetchLimit = count
    change(request)
    return try context.fetch(request)
}

let allMemoryWorks = [
    MemoryWork(title: "faults of a fetch with a batch size of 500") { context, count in
        try fetch(context, count) { $0.fetchBatchSize = 500 }
    },
    MemoryWork(title: "fetched objects, of which no property was read") { try fetch($0, $1) },
    MemoryWork(title: "fetched objects, of which every property was read") { context, count in
        let items = try fetch(context, count)
        for item in items { _ = (item.uid, item.title, item.count, item.price, item.createdAt, item.isFlagged) }
        return items
    },
    MemoryWork(title: "fetched objects with a change") { context, count in
        let items = try fetch(context, count)
        for item in items { item.count += 1 }
        return items
    },
    MemoryWork(title: "new objects") { context, count in
        (0..<count).map { number in
            let (item, sample) = (Item(context: context), Sample(number: number))
            (item.uid, item.title, item.count) = (sample.uid, sample.title, sample.count)
            (item.price, item.createdAt, item.isFlagged) = (sample.price, sample.createdAt, sample.isFlagged)
            return item
        }
    },
]

/// The table of `make bench`.
func memoryTable(_ works: [MemoryWork], _ bench: Bench, objects: Int) throws -> String {
    var table = Table(header: ["", "bytes"])
    for work in works {
        table.add([work.title, String(format: "%.0f", try work.bytesPerObject(bench, objects: objects))])
    }
    return table.text
}
