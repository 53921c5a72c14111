/// A coordinator that names the reading context to developers' stores.
final class AskingSource: WrappedSource, @unchecked Sendable {
    // @unchecked Sendable: both are immutable, and the context is only passed on to stores, which are called on its
    // queue.
    private let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator

    init(_ context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) {
        self.context = context
        self.coordinator = coordinator
    }

    var source: any RowSource { coordinator }

    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try coordinator.asking(for: context, body)
    }
}
