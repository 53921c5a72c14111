package import CoreData

/// Contexts that others own, for as long as they do.
package final class WeakContexts: Sendable {
    private struct Entry {
        weak var context: NSManagedObjectContext?
    }

    private let entries = Locked<[Entry]>([])

    /// Those that are still there.
    package var all: [NSManagedObjectContext] { entries.withLock { $0.compactMap(\.context) } }

    package func add(_ context: NSManagedObjectContext) {
        entries.withLock { entries in
            entries.removeAll { $0.context == nil }
            entries.append(Entry(context: context))
        }
    }
}
