import StoreSession

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
