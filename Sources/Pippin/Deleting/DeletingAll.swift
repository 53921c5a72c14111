import CoreData

extension PersistenceManager {
    /// Deletes all records of an entity in one statement, without loading them.
    ///
    /// The store does it by itself: delete rules that deny or cascade are not consulted. The main context, the threads' contexts
    /// and the given one are told.
    ///
    /// - Parameters:
    ///   - entity: the record type. Records of its subentities go too.
    ///   - context: where to work, and to be told; without one, a new worker.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors, among them that of a store that knows no batch requests.
    /// - SQL: `DELETE FROM Z<ENTITY>`
    @discardableResult
    public func deleteAll<Record: DataRecord>(
        entity: Record.Type, context: NSManagedObjectContext? = nil
    ) async throws -> Int {
        let deleted = try await write(in: context) { try Record.deleteAll(in: $0) }
        tellContexts(ofDeleted: deleted)
        return deleted.count
    }

    /// Deletes all records of an entity in one statement, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - entity: the record type. Records of its subentities go too.
    ///   - context: where to work, and to be told; without one, a new worker.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors, among them that of a store that knows no batch requests.
    /// - SQL: `DELETE FROM Z<ENTITY>`
    @discardableResult
    public func deleteAll<Record: DataRecord>(
        entity: Record.Type, context: NSManagedObjectContext? = nil
    ) throws -> Int {
        let deleted = try write(in: context) { try Record.deleteAll(in: $0) }
        tellContexts(ofDeleted: deleted)
        return deleted.count
    }

    /// Deletes all records of an entity, some at a time, with the delete rules of their relationships.
    ///
    /// Each chunk is loaded, deleted and saved, so that memory stays small however many there are. A failure leaves the chunks
    /// before it deleted.
    ///
    /// - Parameters:
    ///   - entity: the record type. Records of its subentities go too.
    ///   - chunkSize: how many records to load at a time.
    ///   - context: where to work; it is saved, with whatever else is changed in it. Without one, a new worker.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … LIMIT <chunkSize>`, then `DELETE … WHERE Z_PK = ?` each, chunk by chunk
    @discardableResult
    public func deleteAll<Record: DataRecord>(
        entity: Record.Type, inChunksOf chunkSize: Int, context: NSManagedObjectContext? = nil
    ) async throws -> Int {
        try await write(in: context) { try Record.deleteAll(inChunksOf: chunkSize, in: $0) }
    }

    /// Deletes all records of an entity, some at a time, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - entity: the record type. Records of its subentities go too.
    ///   - chunkSize: how many records to load at a time.
    ///   - context: where to work; it is saved, with whatever else is changed in it. Without one, a new worker.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … LIMIT <chunkSize>`, then `DELETE … WHERE Z_PK = ?` each, chunk by chunk
    @discardableResult
    public func deleteAll<Record: DataRecord>(
        entity: Record.Type, inChunksOf chunkSize: Int, context: NSManagedObjectContext? = nil
    ) throws -> Int {
        try write(in: context) { try Record.deleteAll(inChunksOf: chunkSize, in: $0) }
    }

    /// Tells the contexts that stay, each on its queue. What is asked of a context from now on finds it told.
    private func tellContexts(ofDeleted deleted: [NSManagedObjectID]) {
        for context in [mainContext] + threadContexts.all {
            let isOnQueue = context === mainContext && MainQueue.isCurrent
            // Not waiting: a queue that waits for this one would wait for ever.
            if isOnQueue {
                context.forget(deleted: deleted)
            } else {
                context.perform { context.forget(deleted: deleted) }
            }
        }
    }
}

extension NSManagedObjectContext {
    fileprivate func forget(deleted: [NSManagedObjectID]) {
        let changes: [AnyHashable: Any] = [NSDeletedObjectsKey: deleted]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [self])
    }
}

extension DataRecord {
    fileprivate static func deleteAll(in context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        let request = NSBatchDeleteRequest(fetchRequest: try request(.all, in: context))
        request.resultType = .resultTypeObjectIDs
        let result = try context.execute(request) as? NSBatchDeleteResult
        let deleted = result?.result as? [NSManagedObjectID] ?? []
        context.forget(deleted: deleted)
        return deleted
    }

    fileprivate static func deleteAll(inChunksOf size: Int, in context: NSManagedObjectContext) throws -> Int {
        var selection = RecordSelection.all
        selection.limit = max(size, 1)
        var count = 0
        while true {
            let chunk = try records(selection, in: context)
            guard !chunk.isEmpty else { return count }
            for record in chunk { context.delete(record) }
            try context.save()
            count += chunk.count
        }
    }
}
