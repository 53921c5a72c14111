import CoreData

// Each of these returns how many models went, and saves. What belongs to a model goes with it.
extension PersistenceManager {
    /// Deletes models, and what belongs to them. Models that are not stored are passed over.
    ///
    /// - Parameters:
    ///   - models: the models; only their identifiers matter.
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    /// - Returns: how many of these models were deleted.
    /// - Throws: ``PersistenceError``, ``SaveError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uid> IN (?, …)`, then `DELETE … WHERE Z_PK = ?` each
    @discardableResult
    public func delete<Model: CoreModel & Codable>(
        _ models: [Model], context: NSManagedObjectContext? = nil
    ) async throws -> Int { try await delete(Model.self, uids: models.map(\.uid), context: context) }

    /// Deletes models, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - models: the models; only their identifiers matter.
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    /// - Returns: how many of these models were deleted.
    /// - Throws: ``PersistenceError``, ``SaveError``, and Core Data's errors.
    @discardableResult
    public func delete<Model: CoreModel & Codable>(
        _ models: [Model], context: NSManagedObjectContext? = nil
    ) throws -> Int { try delete(Model.self, uids: models.map(\.uid), context: context) }

    /// Deletes a model, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - model: the model; only its identifier matters.
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    /// - Returns: how many models were deleted: none where it was not stored.
    /// - Throws: ``PersistenceError``, ``SaveError``, and Core Data's errors.
    @discardableResult
    public func delete<Model: CoreModel & Codable>(
        _ model: Model, context: NSManagedObjectContext? = nil
    ) throws -> Int { try delete(Model.self, uids: [model.uid], context: context) }

    /// Deletes a model, and what belongs to it.
    ///
    /// - Parameters:
    ///   - model: the model; only its identifier matters.
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    /// - Returns: how many models were deleted: none where it was not stored.
    /// - Throws: ``PersistenceError``, ``SaveError``, and Core Data's errors.
    @discardableResult
    public func delete<Model: CoreModel & Codable>(
        _ model: Model, context: NSManagedObjectContext? = nil
    ) async throws -> Int { try await delete(Model.self, uids: [model.uid], context: context) }

    /// Deletes the models with these identifiers, and what belongs to them.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - uids: the identifiers.
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    /// - Returns: how many models were deleted.
    /// - Throws: ``PersistenceError``, ``SaveError``, and Core Data's errors.
    @discardableResult
    public func delete<Model: CoreModel & Codable>(
        _ type: Model.Type, uids: [Model.UidType], context: NSManagedObjectContext? = nil
    ) async throws -> Int {
        let plan = try registry.plan(of: type)
        return try await write(in: context) { try plan.delete(uids: uids, in: $0) }
    }

    /// Deletes the models with these identifiers, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - uids: the identifiers.
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    /// - Returns: how many models were deleted.
    /// - Throws: ``PersistenceError``, ``SaveError``, and Core Data's errors.
    @discardableResult
    public func delete<Model: CoreModel & Codable>(
        _ type: Model.Type, uids: [Model.UidType], context: NSManagedObjectContext? = nil
    ) throws -> Int {
        let plan = try registry.plan(of: type)
        return try write(in: context) { try plan.delete(uids: uids, in: $0) }
    }

    /// Deletes the models that a filter selects, and what belongs to them.
    ///
    /// ```swift
    /// try await manager.delete(Review.self, where: \.stars < 2)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold; `.all` for all of them.
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    /// - Returns: how many models were deleted.
    /// - Throws: ``PersistenceError``, ``SaveError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <filter>`, then `DELETE … WHERE Z_PK = ?` each
    @discardableResult
    public func delete<Model: CoreModel & Codable>(
        _ type: Model.Type, where filter: Filter<Model>, context: NSManagedObjectContext? = nil
    ) async throws -> Int {
        let plan = try registry.plan(of: type)
        let selection = RecordSelection(predicate: try filter.predicate(plan, registry))
        return try await write(in: context) { plan.delete(try plan.objects(selection, in: $0), in: $0) }
    }

    /// Deletes the models that a filter selects, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold; `.all` for all of them.
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    /// - Returns: how many models were deleted.
    /// - Throws: ``PersistenceError``, ``SaveError``, and Core Data's errors.
    @discardableResult
    public func delete<Model: CoreModel & Codable>(
        _ type: Model.Type, where filter: Filter<Model>, context: NSManagedObjectContext? = nil
    ) throws -> Int {
        let plan = try registry.plan(of: type)
        let selection = RecordSelection(predicate: try filter.predicate(plan, registry))
        return try write(in: context) { plan.delete(try plan.objects(selection, in: $0), in: $0) }
    }

    /// Deletes all models of a type in one statement, without loading them.
    ///
    /// Rules that deny a deletion are not consulted. The main context, the threads' contexts, those of ``backgroundContext()`` and
    /// all observers are notified.
    ///
    /// - Parameter type: the models' type.
    /// - Returns: how many models were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors, among them that of a store that knows no batch requests.
    /// - SQL: `DELETE FROM Z<ENTITY>`
    @discardableResult
    public func deleteAll<Model: CoreModel & Codable>(_ type: Model.Type) async throws -> Int {
        let plan = try registry.plan(of: type)
        let deleted = try await write(in: nil) { context in
            let all = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.name)
            let request = NSBatchDeleteRequest(fetchRequest: all)
            request.resultType = .resultTypeObjectIDs
            let result = try context.execute(request) as? NSBatchDeleteResult
            return result?.result as? [NSManagedObjectID] ?? []
        }
        tellContexts(ofDeleted: deleted)
        return deleted.count
    }
}

extension EntityPlan {
    fileprivate func delete(uids: [some UniqueIdentifier], in context: NSManagedObjectContext) throws -> Int {
        delete(try Array(objects(uids: uids.map(\.attributeValue), in: context).values), in: context)
    }

    fileprivate func delete(_ objects: [NSManagedObject], in context: NSManagedObjectContext) -> Int {
        for object in objects { context.delete(object) }
        return objects.count
    }
}
