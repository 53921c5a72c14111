import CoreData
import Pippin

extension PersistenceManager {
    /// Saves models: each into the record with its identifier, or into a new one.
    ///
    /// ```swift
    /// try await manager.save(entity: PersonRecord.self, models: people, shouldOverwrite: true)
    /// ```
    ///
    /// No other save of this manager intervenes between looking records up and saving them. All models are saved, or
    /// none.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - models: the models. If two have the same identifier, the later wins.
    ///   - shouldOverwrite: true if the models are complete, such as a whole list from a server: records without a
    ///     model among them are deleted. False to leave other records alone, as for one page of a longer list.
    ///     Duplicate records with the identifier of another are deleted in either case.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `fromModel` throws.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`, then `INSERT`, `UPDATE` and `DELETE` in one transaction
    public func save<Record: RecordFromModel>(
        entity: Record.Type, models: [Record.ModelType], shouldOverwrite: Bool, context: NSManagedObjectContext? = nil
    ) async throws where Record.ModelType: Sendable {
        try await writing(in: context) { try Record.save(models, shouldOverwrite: shouldOverwrite, in: $0) }
    }

    /// Saves models, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - models: the models. If two have the same identifier, the later wins.
    ///   - shouldOverwrite: true to delete records without a model among these, false to leave them alone.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `fromModel` throws.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`, then `INSERT`, `UPDATE` and `DELETE` in one transaction
    public func save<Record: RecordFromModel>(
        entity: Record.Type, models: [Record.ModelType], shouldOverwrite: Bool, context: NSManagedObjectContext? = nil
    ) throws {
        try writing(in: context) { try Record.save(models, shouldOverwrite: shouldOverwrite, in: $0) }
    }

    /// Saves one model, into the record with its identifier or into a new one.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - model: the model.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `fromModel` throws.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?)`, then `INSERT` or `UPDATE`
    public func save<Record: RecordFromModel>(
        entity: Record.Type, model: Record.ModelType, context: NSManagedObjectContext? = nil
    ) async throws where Record.ModelType: Sendable {
        try await save(entity: entity, models: [model], shouldOverwrite: false, context: context)
    }

    /// Saves one model, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - model: the model.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `fromModel` throws.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?)`, then `INSERT` or `UPDATE`
    public func save<Record: RecordFromModel>(
        entity: Record.Type, model: Record.ModelType, context: NSManagedObjectContext? = nil
    ) throws {
        try save(entity: entity, models: [model], shouldOverwrite: false, context: context)
    }
}

extension RecordFromModel {
    /// Computes the plan of the save and carries it out, on the context's queue.
    fileprivate static func save(
        _ models: [ModelType], shouldOverwrite: Bool, in context: NSManagedObjectContext
    ) throws {
        let uids = models.map(\.id)
        let found = try shouldOverwrite ? records(.all, in: context) : records(uids: uids, in: context)
        let plan = RecordSavePlan(models: uids, records: found.map(\.identifier), shouldOverwrite: shouldOverwrite)
        for record in plan.deletions { context.delete(found[record]) }
        let updated = plan.updates.map { (record: found[$0.record], model: models[$0.model]) }
        let inserted = try plan.inserts.map { (record: try insert(uid: uids[$0], in: context), model: models[$0]) }
        try RecordConversion.fill(updated + inserted, in: context)
    }
}
