import CoreData
import Pippin

// Each of these methods saves, and returns how many records were deleted.
extension PersistenceManager {
    /// Deletes the records with these identifiers. Identifiers without a record are skipped.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - uids: the identifiers.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors, such as that of a delete rule that denies the deletion.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`, then `DELETE … WHERE Z_PK = ?` each
    @discardableResult
    public func deleteRecords<Record: DataRecord>(
        entity: Record.Type, uids: [Record.UidType], context: NSManagedObjectContext? = nil
    ) async throws -> Int {
        try await writing(in: context) { $0.delete(try Record.records(uids: uids, in: $0)) }
    }

    /// Deletes the records with these identifiers, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - uids: the identifiers.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`, then `DELETE … WHERE Z_PK = ?` each
    @discardableResult
    public func deleteRecords<Record: DataRecord>(
        entity: Record.Type, uids: [Record.UidType], context: NSManagedObjectContext? = nil
    ) throws -> Int {
        try writing(in: context) { $0.delete(try Record.records(uids: uids, in: $0)) }
    }

    /// Deletes the records that a predicate selects, applying the delete rules of their relationships.
    ///
    /// ```swift
    /// try await manager.deleteRecords(
    ///     entity: ReviewRecord.self, predicate: NSPredicate(format: "bookId == %@", book.uid))
    /// ```
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - predicate: the condition on the records.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <predicate>`, then `DELETE … WHERE Z_PK = ?` each
    @discardableResult
    public func deleteRecords<Record: DataRecord>(
        entity: Record.Type, predicate: NSPredicate, context: NSManagedObjectContext? = nil
    ) async throws -> Int {
        let selection = RecordSelection(predicate: predicate)
        return try await writing(in: context) { $0.delete(try Record.records(selection, in: $0)) }
    }

    /// Deletes the records that a predicate selects, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - predicate: the condition on the records.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <predicate>`, then `DELETE … WHERE Z_PK = ?` each
    @discardableResult
    public func deleteRecords<Record: DataRecord>(
        entity: Record.Type, predicate: NSPredicate, context: NSManagedObjectContext? = nil
    ) throws -> Int {
        let selection = RecordSelection(predicate: predicate)
        return try writing(in: context) { $0.delete(try Record.records(selection, in: $0)) }
    }
}

extension NSManagedObjectContext {
    fileprivate func delete(_ records: [some NSManagedObject]) -> Int {
        for record in records { delete(record) }
        return records.count
    }
}

extension PersistenceManager {
    /// Deletes the record of a model.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - model: the model; only its identifier matters.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Returns: how many records were deleted: 0 if there was no such record.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?)`, then `DELETE … WHERE Z_PK = ?`
    @discardableResult
    public func deleteModel<Record: ModelRepresentable>(
        entity: Record.Type, model: Record.ModelType, context: NSManagedObjectContext? = nil
    ) async throws -> Int {
        try await deleteRecords(entity: entity, uids: [model.id], context: context)
    }

    /// Deletes the record of a model, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - model: the model; only its identifier matters.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Returns: how many records were deleted: 0 if there was no such record.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?)`, then `DELETE … WHERE Z_PK = ?`
    @discardableResult
    public func deleteModel<Record: ModelRepresentable>(
        entity: Record.Type, model: Record.ModelType, context: NSManagedObjectContext? = nil
    ) throws -> Int {
        try deleteRecords(entity: entity, uids: [model.id], context: context)
    }

    /// Deletes the records of models.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - models: the models; only their identifiers matter.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`, then `DELETE … WHERE Z_PK = ?` each
    @discardableResult
    public func deleteModels<Record: ModelRepresentable>(
        entity: Record.Type, models: [Record.ModelType], context: NSManagedObjectContext? = nil
    ) async throws -> Int {
        try await deleteRecords(entity: entity, uids: models.map(\.id), context: context)
    }

    /// Deletes the records of models, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - models: the models; only their identifiers matter.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`, then `DELETE … WHERE Z_PK = ?` each
    @discardableResult
    public func deleteModels<Record: ModelRepresentable>(
        entity: Record.Type, models: [Record.ModelType], context: NSManagedObjectContext? = nil
    ) throws -> Int {
        try deleteRecords(entity: entity, uids: models.map(\.id), context: context)
    }
}
