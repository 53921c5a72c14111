import CoreData
import Pippin

extension PersistenceManager {
    /// Deletes all records of an entity in one statement, without loading them.
    ///
    /// The store applies the delete rules by itself: a rule that denies the deletion, or a required relationship that
    /// would lose its record, is an error, and nothing is deleted. No other validation runs. The main context, the
    /// threads' contexts, those of ``backgroundContext()``, the given one and all observers are notified.
    ///
    /// - Parameters:
    ///   - entity: the record type. Records of its subentities are deleted too.
    ///   - context: the context to work in, which is also notified; without one, a new worker context.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors, such as that of a store without batch requests.
    /// - SQL: `DELETE FROM Z<ENTITY>`
    @discardableResult
    public func deleteAll<Record: DataRecord>(
        entity: Record.Type, context: NSManagedObjectContext? = nil
    ) async throws -> Int {
        let deleted = try await writing(in: context) { try Record.deleteAll(in: $0) }
        notifyContexts(deleted: deleted)
        return deleted.count
    }

    /// Deletes all records of an entity in one statement, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - entity: the record type. Records of its subentities are deleted too.
    ///   - context: the context to work in, which is also notified; without one, a new worker context.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors, such as that of a store without batch requests.
    /// - SQL: `DELETE FROM Z<ENTITY>`
    @discardableResult
    public func deleteAll<Record: DataRecord>(
        entity: Record.Type, context: NSManagedObjectContext? = nil
    ) throws -> Int {
        let deleted = try writing(in: context) { try Record.deleteAll(in: $0) }
        notifyContexts(deleted: deleted)
        return deleted.count
    }

    /// Deletes all records of an entity in chunks, applying the delete rules of their relationships.
    ///
    /// Each chunk is loaded, deleted and saved, so that memory use does not grow with their number. If a chunk fails,
    /// the chunks before it stay deleted.
    ///
    /// - Parameters:
    ///   - entity: the record type. Records of its subentities are deleted too.
    ///   - chunkSize: how many records to load at a time.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … LIMIT <chunkSize>`, then `DELETE … WHERE Z_PK = ?` each, chunk by chunk
    @discardableResult
    public func deleteAll<Record: DataRecord>(
        entity: Record.Type, inChunksOf chunkSize: Int, context: NSManagedObjectContext? = nil
    ) async throws -> Int {
        guard let context else {
            var count = 0
            // Each chunk is a transaction of its own.
            while true {
                let deleted = try await writing(in: nil) { try Record.deleteChunk(of: chunkSize, in: $0) }
                if deleted == 0 { return count }
                count += deleted
            }
        }
        return try await writing(in: context) { try Record.deleteAll(inChunksOf: chunkSize, in: $0) }
    }

    /// Deletes all records of an entity in chunks, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - entity: the record type. Records of its subentities are deleted too.
    ///   - chunkSize: how many records to load at a time.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … LIMIT <chunkSize>`, then `DELETE … WHERE Z_PK = ?` each, chunk by chunk
    @discardableResult
    public func deleteAll<Record: DataRecord>(
        entity: Record.Type, inChunksOf chunkSize: Int, context: NSManagedObjectContext? = nil
    ) throws -> Int {
        guard let context else {
            var count = 0
            while true {
                let deleted = try writing(in: nil) { try Record.deleteChunk(of: chunkSize, in: $0) }
                if deleted == 0 { return count }
                count += deleted
            }
        }
        return try writing(in: context) { try Record.deleteAll(inChunksOf: chunkSize, in: $0) }
    }
}

extension DataRecord {
    fileprivate static func deleteAll(in context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        let deleted = try deleteBatch(.all, in: context)
        context.merge(deleted: deleted)
        return deleted
    }

    /// Deletes records in one statement.
    static func deleteBatch(
        _ selection: RecordSelection, in context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] {
        let request = NSBatchDeleteRequest(fetchRequest: try request(selection, in: context))
        request.resultType = .resultTypeObjectIDs
        let result = try context.execute(request) as? NSBatchDeleteResult
        return result?.result as? [NSManagedObjectID] ?? []
    }

    fileprivate static func deleteAll(inChunksOf size: Int, in context: NSManagedObjectContext) throws -> Int {
        var count = 0
        while true {
            let deleted = try deleteChunk(of: size, in: context)
            if deleted == 0 { return count }
            do { try context.save() } catch { throw PersistenceError(saving: error, ModelRegistry()) }
            count += deleted
        }
    }

    /// - Returns: how many records the next save will delete.
    fileprivate static func deleteChunk(of size: Int, in context: NSManagedObjectContext) throws -> Int {
        var selection = RecordSelection.all
        selection.limit = max(size, 1)
        let chunk = try records(selection, in: context)
        for record in chunk { context.delete(record) }
        return chunk.count
    }
}
