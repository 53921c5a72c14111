package import CoreData

/// Weak references to contexts that others own.
package final class WeakContexts: Sendable {
    private struct Entry {
        weak var context: NSManagedObjectContext?
    }

    private let entries = Locked<[Entry]>([])

    /// The contexts that still exist.
    package var all: [NSManagedObjectContext] { entries.withLock { $0.compactMap(\.context) } }

    package func add(_ context: NSManagedObjectContext) {
        entries.withLock { entries in
            entries.removeAll { $0.context == nil }
            entries.append(Entry(context: context))
        }
    }
}
