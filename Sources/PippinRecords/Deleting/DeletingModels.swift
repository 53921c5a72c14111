import CoreData
import Pippin

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
