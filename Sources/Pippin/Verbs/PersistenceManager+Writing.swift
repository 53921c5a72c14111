// The changes of a writing block, each as a transaction of its own.
extension PersistenceManager {
    /// Saves a model, and the models in it: what is new is inserted, what is known is changed.
    ///
    /// - Parameter model: the model.
    /// - Throws: ``PersistenceError`` with `missingReference` for a reference to a model that is neither stored nor
    ///   saved along with it, `unwritable` for a value that no store keeps, for different copies of one model, given or
    ///   within others, for an `id` that is not the stored value, and for a stored value with parts that the model does
    ///   not know and that would be lost, `invalid` for a value that breaks a rule of the model, `conflict` if another
    ///   save changed the model or has a value that must be unique, `saveFailed` if the store cannot be written, and
    ///   what `load()` throws if the store is not open yet. Nothing is saved then.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?)`, then `INSERT INTO Z<ENTITY> …` or `UPDATE Z<ENTITY> SET … WHERE Z_PK = ?
    ///   AND Z_OPT = ?`
    public func save<Model: CoreModel>(
        _ model: Model
    ) async throws {
        try await changing(1, of: Model.self) { try $0.save(model) }
    }

    /// Saves models, and the models in them: what is new is inserted, what is known is changed.
    ///
    /// - Parameter models: the models. Several with one identifier must be the same, since only one of
    ///   different ones could be stored.
    /// - Throws: ``PersistenceError`` with `missingReference` for a reference to a model that is neither stored nor
    ///   saved along with it, `unwritable` for a value that no store keeps, for different copies of one model, given or
    ///   within others, for an `id` that is not the stored value, and for a stored value with parts that the model does
    ///   not know and that would be lost, `invalid` for a value that breaks a rule of the model, `conflict` if another
    ///   save changed the model or has a value that must be unique, `saveFailed` if the store cannot be written, and
    ///   what `load()` throws if the store is not open yet. Nothing is saved then.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?, …)` in batches, then `INSERT INTO Z<ENTITY> …` and `UPDATE Z<ENTITY> SET …`
    ///   for what is new and what has changed
    public func save<Model: CoreModel>(
        _ models: [Model]
    ) async throws {
        try await changing(models.count, of: Model.self) { try $0.save(models) }
    }

    /// Inserts a model that is not stored yet, and saves the models in it.
    ///
    /// - Parameter model: the model.
    /// - Throws: ``PersistenceError/Code/alreadyStored`` for a model whose identifier is stored already, and what
    ///   `save` throws. Nothing is saved then.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?)`, then `INSERT INTO Z<ENTITY> …`
    public func insert<Model: CoreModel>(
        _ model: Model
    ) async throws {
        try await changing(1, of: Model.self) { try $0.insert(model) }
    }

    /// Inserts models that are not stored yet, and saves the models in them.
    ///
    /// - Parameter models: the models, each with an identifier of its own.
    /// - Throws: ``PersistenceError/Code/alreadyStored`` for a model whose identifier is stored already, and what
    ///   `save` throws. Nothing is saved then.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?, …)` in batches, then `INSERT INTO Z<ENTITY> …` each
    public func insert<Model: CoreModel>(
        _ models: [Model]
    ) async throws {
        try await changing(models.count, of: Model.self) { try $0.insert(models) }
    }

    /// Inserts a model with an identifier from the store: a number that no model of the type has had.
    ///
    /// ```swift
    /// let note = try await manager.insert { Note(id: $0, text: "Buy milk") }
    /// ```
    ///
    /// Numbers may be left out: those of saves that failed, and on PostgreSQL some of each program. Where several files
    /// are kept in step, each gives out the same numbers: take identifiers of another kind, such as `UUID`, there.
    ///
    /// - Parameter make: makes the model with the identifier that it is given. It is called once more if others have
    ///   taken the number meanwhile.
    /// - Returns: the model, as it was inserted.
    /// - Throws: what `insert` of a model throws, and the closure's errors. Nothing is saved then.
    /// - SQL: `INSERT INTO Z<ENTITY> …`; the number is the row's primary key, or one more than the highest identifier
    ///   where a model has that number already
    @discardableResult
    public func insert<Model: CoreModel>(
        _ make: @escaping @Sendable (Model.ID) throws -> Model
    ) async throws -> Model where Model.ID: FixedWidthInteger {
        try await changing(1, of: Model.self) { try $0.insert(make) }
    }

    /// Changes a model that is stored, and saves the models in it.
    ///
    /// - Parameter model: the model.
    /// - Throws: ``PersistenceError/Code/notFound`` for a model whose identifier is not stored, and what `save` throws.
    ///   Nothing is saved then.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?)`, then `UPDATE Z<ENTITY> SET … WHERE Z_PK = ? AND Z_OPT = ?` if anything has
    ///   changed
    public func update<Model: CoreModel>(
        _ model: Model
    ) async throws {
        try await changing(1, of: Model.self) { try $0.update(model) }
    }

    /// Changes models that are stored, and saves the models in them.
    ///
    /// - Parameter models: the models.
    /// - Throws: ``PersistenceError/Code/notFound`` for a model whose identifier is not stored, and what `save` throws.
    ///   Nothing is saved then.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?, …)` in batches, then `UPDATE Z<ENTITY> SET … WHERE Z_PK = ? AND Z_OPT = ?`
    ///   for each that has changed
    public func update<Model: CoreModel>(
        _ models: [Model]
    ) async throws {
        try await changing(models.count, of: Model.self) { try $0.update(models) }
    }

    /// Deletes a model, and the models that it owns.
    ///
    /// - Parameter model: the model; only its identifier matters.
    /// - Returns: whether it was stored.
    /// - Throws: ``PersistenceError`` with `invalid` if a rule denies the deletion, `conflict` if another save changed
    ///   the models, `saveFailed` if the store cannot be written, and what `load()` throws if the store is not open
    ///   yet.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?)`, then `DELETE FROM Z<ENTITY> WHERE Z_PK = ? AND Z_OPT = ?`
    @discardableResult
    public func delete<Model: CoreModel>(
        _ model: Model
    ) async throws -> Bool {
        try await deleting(1, of: Model.self) { try $0.delete(model) }
    }

    /// Deletes models, and the models that they own. Models that are not stored are skipped.
    ///
    /// - Parameter models: the models; only their identifiers matter.
    /// - Returns: how many of them were stored.
    /// - Throws: ``PersistenceError`` with `invalid` if a rule denies the deletion, `conflict` if another save changed
    ///   the models, `saveFailed` if the store cannot be written, and what `load()` throws if the store is not open
    ///   yet.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?, …)` in batches, then `DELETE FROM Z<ENTITY> WHERE Z_PK = ? AND Z_OPT = ?`
    ///   each
    @discardableResult
    public func delete<Model: CoreModel>(
        _ models: [Model]
    ) async throws -> Int {
        try await deleting(models.count, of: Model.self) { try $0.delete(models) }
    }

    /// Deletes the model with an identifier, and the models that it owns.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - id: the identifier.
    /// - Returns: whether it was stored.
    /// - Throws: ``PersistenceError`` with `invalid` if a rule denies the deletion, `conflict` if another save changed
    ///   the models, `saveFailed` if the store cannot be written, and what `load()` throws if the store is not open
    ///   yet.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?)`, then `DELETE FROM Z<ENTITY> WHERE Z_PK = ? AND Z_OPT = ?`
    @discardableResult
    public func delete<Model: CoreModel>(
        _ type: Model.Type, id: Model.ID
    ) async throws -> Bool {
        try await deleting(1, of: Model.self) { try $0.delete(type, id: id) }
    }

    /// Deletes the models with these identifiers, and the models that they own.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - ids: the identifiers.
    /// - Returns: how many models were found.
    /// - Throws: ``PersistenceError`` with `invalid` if a rule denies the deletion, `conflict` if another save changed
    ///   the models, `saveFailed` if the store cannot be written, and what `load()` throws if the store is not open
    ///   yet.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?, …)` in batches, then `DELETE FROM Z<ENTITY> WHERE Z_PK = ? AND Z_OPT = ?`
    ///   each
    @discardableResult
    public func delete<Model: CoreModel>(
        _ type: Model.Type, ids: [Model.ID]
    ) async throws -> Int {
        try await deleting(ids.count, of: Model.self) { try $0.delete(type, ids: ids) }
    }

    /// Deletes the models that a filter selects, and the models that they own.
    ///
    /// ```swift
    /// try await manager.delete(Review.self, where: \.stars < 2)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    /// - Returns: how many models the filter selects.
    /// - Throws: ``PersistenceError`` with `unknownProperty`, `notComparable` or `keptAsJSON` for a filter that the
    ///   store cannot evaluate, `invalid` if a rule denies the deletion, `conflict` if another save changed the models,
    ///   `saveFailed` if the store cannot be written, and what `load()` throws if the store is not open yet.
    /// - SQL: `SELECT … WHERE <filter>`, then `DELETE FROM Z<ENTITY> WHERE Z_PK = ? AND Z_OPT = ?` each
    @discardableResult
    public func delete<Model: CoreModel>(
        _ type: Model.Type, where filter: Filter<Model>
    ) async throws -> Int {
        try await write { try $0.delete(type, where: filter) }
    }

    /// Saves models, and deletes all others of their type, so that these remain, and those that they contain or refer
    /// to.
    ///
    /// - Parameter models: the models; an empty array deletes all.
    /// - Throws: what `save` throws. Nothing is saved then.
    /// - SQL: `SELECT … FROM Z<ENTITY>`, then `INSERT`, `UPDATE` and `DELETE` of new, changed and other rows
    public func replaceAll<Model: CoreModel>(
        with models: [Model]
    ) async throws {
        try await write { try $0.replaceAll(with: models) }
    }

    /// Deletes a few models: those of which others are deleted along are taken to a thread of its own.
    private func deleting<Model: CoreModel, Result: Sendable>(
        _ count: Int, of type: Model.Type, _ work: @escaping @Sendable (WriteAccess) throws -> Result
    ) async throws -> Result {
        guard flat(type) != nil else { return try await write(work) }
        return try await changing(count, of: type, work)
    }
}
