import StoreSession

// Aggregates that the store computes, one call each.
extension PersistenceManager {
    /// How many models a filter selects.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    /// - Returns: the number of models.
    /// - Throws: ``PersistenceError`` with `unknownProperty`, `notComparable` or `keptAsJSON` for a filter that the
    ///   store cannot evaluate, `readFailed` if the store cannot be read, and what `load()` throws if the store is not
    ///   open yet.
    /// - SQL: `SELECT count(*) FROM Z<ENTITY> WHERE <filter>`
    public func count<Model: CoreModel>(
        _ type: Model.Type, where filter: Filter<Model> = .all
    ) async throws -> Int {
        try await asking(oneStatementAbout: type) { try $0.count(type, where: filter) }
    }

    /// How many models there are for each value of a property.
    ///
    /// ```swift
    /// let booksByBinding = try await manager.count(Book.self, by: \.binding)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - group: the property; models without a value count under `nil` where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the numbers, by value; values that no model has are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <group>, count(<id>) FROM Z<ENTITY> WHERE <filter> GROUP BY <group>`
    public func count<Model: CoreModel, Group: Hashable & Codable & Sendable>(
        _ type: Model.Type, by group: KeyPath<Model, Group> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> [Group: Int] { try await compute(.count, by: group, where: filter) }

    /// Whether there is a model that a filter selects.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    /// - Returns: `true` when there is at least one.
    /// - Throws: ``PersistenceError`` with `unknownProperty`, `notComparable` or `keptAsJSON` for a filter that the
    ///   store cannot evaluate, `readFailed` if the store cannot be read, and what `load()` throws if the store is not
    ///   open yet.
    /// - SQL: `SELECT Z_PK FROM Z<ENTITY> WHERE <filter> LIMIT 1`
    public func exists<Model: CoreModel>(
        _ type: Model.Type, where filter: Filter<Model> = .all
    ) async throws -> Bool {
        try await asking(oneStatementAbout: type) { try $0.exists(type, where: filter) }
    }

    /// Whether there is a model with an identifier.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - id: the identifier.
    /// - Returns: `true` when there is one.
    /// - Throws: ``PersistenceError`` with `readFailed` if the store cannot be read, and what `load()` throws if the
    ///   store is not open yet.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE Z<ID> = ?`
    public func exists<Model: CoreModel>(
        _ type: Model.Type, id: Model.ID
    ) async throws -> Bool {
        try await openIfNeeded()
        if let exists = try existsAtOnce(type, id: id) { return exists }
        return try await asking(oneStatementAbout: type) { try $0.exists(type, id: id) }
    }

    /// The distinct values of a property, in order.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property; `nil` is one of the values where it is optional and a model has none.
    ///   - filter: what must hold.
    /// - Returns: the values, ascending.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT DISTINCT <property> FROM Z<ENTITY> WHERE <filter> ORDER BY <property>`
    public func distinct<Model: CoreModel, Value: Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> [Value] {
        try await asking(oneStatementAbout: type) { try $0.distinct(type, property, where: filter) }
    }

    /// Computes a value of the models that a filter selects.
    func compute<Model, Value: Sendable>(
        _ aggregate: Aggregate<Model, Value>, where filter: Filter<Model>
    ) async throws -> Value? {
        try await asking(oneStatementAbout: Model.self) { try $0.compute(aggregate, where: filter) }
    }

    /// Computes a value for each value of a property.
    func compute<Model, Value: Sendable, Group: Hashable & Decodable & Sendable>(
        _ aggregate: Aggregate<Model, Value>, by group: KeyPath<Model, Group> & Sendable, where filter: Filter<Model>
    ) async throws -> [Group: Value] {
        try await asking(oneStatementAbout: Model.self) { try $0.compute(aggregate, by: group, where: filter) }
    }
}

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
                } catch { throw PersistenceError(saving: error) }
            }
            return (try self.changing(in: turn) { try $0.update(selection, of: plan, prepared) }, [])
        }
        notifyContexts(updated: changed)
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
                return (try self.changing(in: turn) { try $0.delete(.all, of: plan) }, [])
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
                    ?? PersistenceError(saving: error)
            }
        }
        notifyContexts(deleted: deleted)
        return count
    }
}
