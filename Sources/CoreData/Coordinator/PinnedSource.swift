import StoreSession

/// A coordinator's stores in the state of a pinned query generation: the source of a pinned context.
///
/// Primary keys for new objects are reserved in the current state of the stores.
final class PinnedSource: WrappedSource {
    private let coordinator: NSPersistentStoreCoordinator
    /// The token of the pinned state, neither `current` nor expired.
    let token: NSQueryGenerationToken

    init(_ coordinator: NSPersistentStoreCoordinator, _ token: NSQueryGenerationToken) {
        self.coordinator = coordinator
        self.token = token
    }

    var source: any RowSource { coordinator }

    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try coordinator.session.reading(token.state, body)
    }

    /// The generation at the time of pinning: values read here are only known to be current up to then.
    var generation: UInt32 { token.saveCount }

    /// Values read in this state stay correct; those of a former state do if the object was not saved since.
    func isCurrent(_ identity: ObjectIdentity, since stamp: UInt32) -> Bool {
        stamp == token.saveCount || coordinator.isCurrent(identity, since: stamp)
    }
}

/// The source of a context that works in a transaction: everything that it reads is in one state of the stores.
final class TransactionSource: WrappedSource {
    let source: any RowSource
    let transaction: OptimisticTransaction

    init(_ source: any RowSource, _ transaction: OptimisticTransaction) {
        self.source = source
        self.transaction = transaction
    }

    func reading<Result>(_ body: () throws -> Result) throws -> Result { try transaction.reading(body) }

    /// Reserving keys changes nothing that could have been read.
    func makePermanentIdentifiers(
        for objects: [NSManagedObject], assigned: [ObjectIdentifier: NSPersistentStore]
    ) throws -> [NSManagedObjectID] {
        try transaction.handingOut { try source.makePermanentIdentifiers(for: objects, assigned: assigned) }
    }
}
