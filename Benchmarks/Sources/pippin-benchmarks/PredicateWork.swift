import CAllocationCount
import CoreData

/// One thing that is done with predicates, over and over. The C API has nothing like it: the time itself is what
/// counts.
struct PredicateWork: Sendable {
    let title: String
    /// The most that it may take each time, in nanoseconds; nil where nothing is promised.
    let budget: Double?
    /// Sets up, unmeasured, and returns what is to be measured: it does the thing and says how often.
    let make: @Sendable (_ items: [Item], _ context: NSManagedObjectContext) throws -> () throws -> Int

    struct Result {
        let nanoseconds: Double
        let allocations: Double
    }

    func measure(_ bench: Bench, objects: Int, rounds: Int) throws -> Result {
        let stack = try Stack(store: try bench.workspace.filledStore(objects))
        let context = stack.container.newBackgroundContext()
        return try context.performAndWait {
            let items = try Item.all(in: context)
            let run = try make(items, context)
            var times: [Double] = []
            var allocations: [Double] = []
            for _ in 0..<rounds {
                var count = 0
                let before = allocation_count()
                let seconds = try bench.clock.seconds { count = try run() }
                allocations.append(Double(allocation_count() - before) / Double(count))
                times.append(seconds * 1e9 / Double(count))
            }
            return Result(nanoseconds: times.median, allocations: allocations.median)
        }
    }
}
