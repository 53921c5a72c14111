import CoreData

// Changes of many models by one statement, without loading them.
extension PersistenceManager {
    /// Changes properties of the models that a filter selects.
    ///
    /// ```swift
    /// try await manager.update(Book.self, where: \.author?.name == "Jane Austen") { $0.set(\.price, to: 5) }
    /// ```
    ///
    /// One statement suffices if only plain properties are set. The main context and all observers are notified.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold; `.all` for all of them.
    ///   - changes: says what to set.
    /// - Returns: how many models the filter selects.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `notSettable` for a property that cannot be set,
    ///   `unwritable` for a value that no store keeps, `missingReference` for a model that is not stored, `invalid` for
    ///   a value that breaks a rule of the model, `conflict` for one that must be unique and is not, `saveFailed` if
    ///   the store cannot be written, and for the filter what `count` throws. Nothing is saved then.
    /// - SQL: `UPDATE Z<ENTITY> SET …, Z_OPT = Z_OPT + 1 WHERE <filter>`
    @discardableResult
    public func update<Model: CoreModel>(
        _ type: Model.Type, where filter: Filter<Model>,
        _ changes: @Sendable (inout ModelChanges<Model>) throws -> Void
    ) async throws -> Int {
        let plan = try registry.plan(of: type)
        var wanted = ModelChanges<Model>()
        try changes(&wanted)
        let prepared = try PreparedChanges(wanted, plan, registry)
        let selection = RecordSelection(predicate: try filter.predicate(plan, registry))
        let (count, changed) = try await inSavedTransaction { turn -> (Int, [NSManagedObjectID]) in
            let layout = try self.storeRows.layout(of: plan)
            if let changes = prepared.batch(of: layout), self.session.takesBatches {
                var batch = BatchUpdatePlan(rows: FetchPlan(entity: layout))
                batch.rows.predicate = selection.predicate?.read(for: layout)
                (batch.changes, batch.wantsIdentifiers) = (changes, true)
                do {
                    let outcome = try self.session.working(in: turn.transaction) {
                        try self.session.updateBatch(batch, stores: nil)
                    }
                    return (outcome.count, outcome.identifiers)
                } catch { throw PersistenceError(saving: error, self.registry) }
            }
            let context = turn.context()
            let objects = try plan.objects(selection, in: context)
            try prepared.apply(to: objects, in: context)
            return (objects.count, [])
        }
        notifyContexts(ofUpdated: changed)
        return count
    }

    /// Deletes all models of a type, and the models that they own.
    ///
    /// No model is loaded, and the number of statements does not grow with that of the models: one for models without
    /// relationships, otherwise some for each relationship. The main context and all observers are notified.
    ///
    /// - Parameter type: the models' type.
    /// - Returns: how many models there were.
    /// - Throws: ``PersistenceError``, with `invalid` if other models require one of these: a ``Reference`` or a model
    ///   in a property that is not optional. Nothing is deleted then.
    /// - SQL: `DELETE FROM Z<ENTITY>`
    @discardableResult
    public func deleteAll<Model: CoreModel>(_ type: Model.Type) async throws -> Int {
        let plan = try registry.plan(of: type)
        let (count, deleted) = try await inSavedTransaction { turn -> (Int, [NSManagedObjectID]) in
            guard self.session.takesBatches else {
                let context = turn.context()
                let objects = try plan.objects(.all, in: context)
                for object in objects { context.delete(object) }
                return (objects.count, [])
            }
            var batch = BatchDeletePlan(rows: FetchPlan(entity: try self.storeRows.layout(of: plan)))
            batch.wantsIdentifiers = true
            do {
                let outcome = try self.session.working(in: turn.transaction) {
                    try self.session.deleteBatch(batch, stores: nil)
                }
                return (outcome.count, outcome.identifiers)
            } catch {
                throw PersistenceError(deletingAll: plan, error, self.session.model)
                    ?? PersistenceError(saving: error, self.registry)
            }
        }
        notifyContexts(ofDeleted: deleted)
        return count
    }
}
