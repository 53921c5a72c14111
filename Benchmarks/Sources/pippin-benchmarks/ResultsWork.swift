import CoreData

/// How long a fetched results controller takes to follow one change, as its list grows.
enum ResultsWork {
    private static let sizes = [1_000, 10_000, 100_000]
    private static let changes = 500

    private struct Kind: Sendable {
        let title: String
        let change: @Sendable (_ items: [Item], _ number: Int, _ context: NSManagedObjectContext) -> Void
    }

    private static let kinds = [
        Kind(title: "controller follows an update in place") { items, number, _ in
            items[number * 7919 % items.count].price += 1
        },
        Kind(title: "controller follows a move") { items, number, _ in
            items[number * 7919 % items.count].count = Int64(number * 104_729 % items.count)
        },
        Kind(title: "controller follows an insertion") { items, number, context in
            Item(context: context).count = Int64(number * 104_729 % items.count)
        },
        Kind(title: "controller follows a deletion") { items, number, context in
            context.delete(items[number * 7919 % items.count])
        },
    ]

    static func report(_ options: Options, _ bench: Bench) throws {
        let kinds = kinds.filter { options.only.map($0.title.contains) ?? true }
        guard !kinds.isEmpty else { return }
        print("Microseconds for each of \(changes) changes, by the number of objects in the list\n")
        var table = Table(header: [""] + sizes.map(Main.grouped) + ["growth"])
        for kind in kinds {
            let times = try sizes.map { size in
                try (0..<options.rounds).map { _ in try measure(kind, size, bench) }.median
            }
            table.add(
                [kind.title] + times.map { String(format: "%.1f", $0) }
                    + [String(format: "%.2f", (times.last ?? 0) / (times.first ?? 1))])
        }
        print(table.text + "\n")
    }

    private static func measure(_ kind: Kind, _ size: Int, _ bench: Bench) throws -> Double {
        let stack = try Stack(store: try bench.workspace.filledStore(size))
        defer { try? stack.close() }
        let context = stack.container.newBackgroundContext()
        return try context.performAndWait {
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
            request.returnsObjectsAsFaults = false
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let listener = Listener()
            controller.delegate = listener
            try controller.performFetch()
            let items = controller.fetchedObjects ?? []
            let seconds = bench.clock.seconds {
                for number in 0..<changes {
                    kind.change(items, number, context)
                    context.processPendingChanges()
                }
            }
            guard listener.count == changes else {
                throw DifferentOutcome(message: "\(kind.title): the delegate heard of \(listener.count) changes")
            }
            return seconds * 1e6 / Double(changes)
        }
    }

    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        var count = 0
        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) { count += 1 }
    }
}
