/// Questions that can be asked of a store.
///
/// A block of ``PersistenceManager/read(_:)`` or ``PersistenceManager/write(onConflict:_:)`` gets a reader. A function
/// that only reads takes a reader, so that it works in both kinds of blocks:
///
/// ```swift
/// func cheapest(in store: some ModelReader) throws -> Book? {
///     try store.first(Book.self, sortedBy: .ascending(\.price))
/// }
///
/// let book = try await manager.read { try cheapest(in: $0) }
/// ```
///
/// Everything that one block asks is answered from one state of the store, with the block's own changes.
public protocol ModelReader {
    /// The access that the questions work on.
    var access: ModelAccess { get }
}

/// Changes that can be made in a store, in addition to the questions.
///
/// A block of ``PersistenceManager/write(onConflict:_:)`` gets a writer. What it does is saved when the block ends: all
/// of it, or nothing.
public protocol ModelWriter: ModelReader {}

/// One state of a store, to read: what a block of ``PersistenceManager/read(_:)`` works with.
public struct ReadAccess: ModelReader {
    /// The access that the questions work on.
    public let access: ModelAccess
}

/// A transaction: what a block of ``PersistenceManager/write(onConflict:_:)`` works with.
public struct WriteAccess: ModelWriter {
    /// The access that the verbs work on.
    public let access: ModelAccess
}

// Models.
extension ModelReader {
    /// The models that a filter selects, in order.
    ///
    /// With a limit, models of equal order are sorted by their identifiers, so that pages fit together: the next page
    /// begins after the last model of this one.
    ///
    /// ```swift
    /// let first = try store.fetch(Book.self, sortedBy: .descending(\.price), limit: 20)
    /// let second = try store.fetch(Book.self, sortedBy: .descending(\.price), after: first.last, limit: 20)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: the condition that the models meet.
    ///   - order: the order; without one, the order is arbitrary.
    ///   - last: the model after which to begin, found by its values of the order's properties and its identifier, even
    ///     if it has moved or is gone. The order must then be one of plain properties of the model, or of structs
    ///     nested in it. Without it, the fetch begins at the beginning.
    ///   - limit: how many at most; all of them without one.
    ///   - offset: how many to skip. Beginning after a model (`last`) is faster.
    /// - Returns: the models; an empty array if the filter selects none.
    /// - Throws: ``PersistenceError`` with `unknownProperty`, `notComparable` or `keptAsJSON` for a filter or an
    ///   order that the store cannot evaluate, `readFailed` if the store cannot be read (Core Data's error is its
    ///   ``PersistenceError/underlying``), and `unreadable` for a stored value that the model cannot have, or that
    ///   its own `init(from:)` refuses.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE <filter> ORDER BY <order> LIMIT <limit> OFFSET <offset>`
    public func fetch<Model: CoreModel>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy order: Order<Model> = [],
        after last: Model? = nil, limit: Int? = nil, offset: Int = 0
    ) throws -> [Model] {
        var request = ModelRequest(type)
        request.filter = filter
        request.order = order
        request.last = last
        request.limit = limit
        request.offset = offset
        return try fetch(request)
    }

    /// The models that a request describes, in order.
    ///
    /// - Parameter request: the request.
    /// - Returns: the models; an empty array if it selects none.
    /// - Throws: ``PersistenceError`` with `unknownProperty`, `notComparable` or `keptAsJSON` for a filter or an
    ///   order that the store cannot evaluate, `readFailed` if the store cannot be read (Core Data's error is its
    ///   ``PersistenceError/underlying``), and `unreadable` for a stored value that the model cannot have, or that
    ///   its own `init(from:)` refuses.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE <filter> ORDER BY <order> LIMIT <limit> OFFSET <offset>`
    public func fetch<Model: CoreModel>(_ request: ModelRequest<Model>) throws -> [Model] {
        let fetcher = try access.fetcher(Model.self)
        return try fetcher.reading(request) { selection in
            let selection = try access.seeingChanges(selection, fetcher.plan)
            return try PersistenceError.explaining(.readFailed) { try fetcher.models(selection, try access.source()) }
        }
    }

    /// The model with an identifier.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - id: the identifier.
    /// - Returns: the model; `nil` where there is none.
    /// - Throws: ``PersistenceError`` with `readFailed` if the store cannot be read (Core Data's error is its
    ///   ``PersistenceError/underlying``), and `unreadable` for a stored value that the model cannot have, or that
    ///   its own `init(from:)` refuses.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE Z<ID> = ?`
    public func find<Model: CoreModel>(_ type: Model.Type, id: Model.ID) throws -> Model? {
        let fetcher = try access.fetcher(type)
        return try PersistenceError.explaining(.readFailed) {
            try fetcher.model(id, access.source(finding: id, of: type))
        }
    }

    /// The models with these identifiers, in the order of the identifiers. Identifiers that no model has are skipped.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - ids: the identifiers.
    /// - Returns: the models that were found.
    /// - Throws: ``PersistenceError`` with `readFailed` if the store cannot be read (Core Data's error is its
    ///   ``PersistenceError/underlying``), and `unreadable` for a stored value that the model cannot have, or that
    ///   its own `init(from:)` refuses.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE Z<ID> IN (?, …)`, in batches
    public func find<Model: CoreModel>(_ type: Model.Type, ids: [Model.ID]) throws -> [Model] {
        let fetcher = try access.fetcher(type)
        return try PersistenceError.explaining(.readFailed) { try fetcher.models(inOrderOf: ids, access.source()) }
    }

    /// The first model that a filter selects.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - filter: what must hold.
    ///   - order: the order; without one, the order is arbitrary.
    /// - Returns: the model; `nil` where the filter selects none.
    /// - Throws: ``PersistenceError`` with `unknownProperty`, `notComparable` or `keptAsJSON` for a filter or an
    ///   order that the store cannot evaluate, `readFailed` if the store cannot be read (Core Data's error is its
    ///   ``PersistenceError/underlying``), and `unreadable` for a stored value that the model cannot have, or that
    ///   its own `init(from:)` refuses.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE <filter> ORDER BY <order> LIMIT 1`
    public func first<Model: CoreModel>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy order: Order<Model> = []
    ) throws -> Model? {
        let fetcher = try access.fetcher(type)
        let selection = try access.seeingChanges(try fetcher.selection(filter, order, 1), fetcher.plan)
        return try PersistenceError.explaining(.readFailed) { try fetcher.models(selection, access.source()).first }
    }
}

// Changes of models. Models within a model are saved with it; models that a model owns are deleted with it.
extension ModelWriter {
    /// Saves a model, and the models in it: what is new is inserted, what is known is changed.
    ///
    /// - Parameter model: the model.
    /// - Throws: ``PersistenceError`` with `missingReference` for a reference to a model that is neither stored nor
    ///   saved along with it, `unwritable` for a value that no store keeps, for different copies of one model, given or
    ///   within others, for an `id` that is not the stored value, and for a stored value with parts that the model does
    ///   not know and that would be lost, `saveFailed` if the store cannot be read or written. Nothing is changed then.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?)`, then `INSERT INTO Z<ENTITY> …` or `UPDATE Z<ENTITY> SET … WHERE Z_PK = ?
    ///   AND Z_OPT = ?`
    public func save<Model: CoreModel>(_ model: Model) throws { try save([model]) }

    /// Saves models, and the models in them: what is new is inserted, what is known is changed.
    ///
    /// - Parameter models: the models. Several with one identifier must be the same, since only one of
    ///   different ones could be stored.
    /// - Throws: ``PersistenceError`` with `missingReference` for a reference to a model that is neither stored nor
    ///   saved along with it, `unwritable` for a value that no store keeps, for different copies of one model, given or
    ///   within others, for an `id` that is not the stored value, and for a stored value with parts that the model does
    ///   not know and that would be lost, `saveFailed` if the store cannot be read or written. Nothing is changed then.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?, …)` in batches, then `INSERT INTO Z<ENTITY> …` and `UPDATE Z<ENTITY> SET …`
    ///   for what is new and what has changed
    public func save<Model: CoreModel>(_ models: [Model]) throws { try write(models, .any) }

    /// Inserts a model that is not stored yet, and saves the models in it.
    ///
    /// - Parameter model: the model.
    /// - Throws: ``PersistenceError/Code/alreadyStored`` for a model whose identifier is stored already, and what
    ///   `save` throws. Nothing is changed then.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?)`, then `INSERT INTO Z<ENTITY> …`
    public func insert<Model: CoreModel>(_ model: Model) throws { try insert([model]) }

    /// Inserts models that are not stored yet, and saves the models in them.
    ///
    /// - Parameter models: the models, each with an identifier of its own.
    /// - Throws: ``PersistenceError/Code/alreadyStored`` for a model whose identifier is stored already, and what
    ///   `save` throws. Nothing is changed then.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?, …)` in batches, then `INSERT INTO Z<ENTITY> …` each
    public func insert<Model: CoreModel>(_ models: [Model]) throws { try write(models, .new) }

    /// Inserts a model with an identifier from the store: a number that no model of the type has had.
    ///
    /// ```swift
    /// let note = try store.insert { Note(id: $0, text: "Buy milk") }
    /// ```
    ///
    /// Numbers may be left out: those of blocks that failed, and on PostgreSQL some of each program.
    ///
    /// - Parameter make: makes the model with the identifier that it is given.
    /// - Returns: the model.
    /// - Throws: what `insert` and the closure throw. Nothing is changed then.
    /// - SQL: as for `insert` of a model; the number is the row's primary key, or one more than the highest identifier
    ///   where a model has that number already
    @discardableResult
    public func insert<Model: CoreModel>(_ make: (Model.ID) throws -> Model) throws -> Model
    where Model.ID: FixedWidthInteger {
        let plan = try access.plan(of: Model.self)
        if let id = try access.nextKey(of: plan).flatMap({ Model.ID(exactly: $0) }) {
            let model = try make(id)
            do {
                try insert(model)
                return model
            } catch let error as PersistenceError where error.code == .alreadyStored && model.id == id {
                // A model that was saved with a number of its own has it.
            }
        }
        let (next, isTooMuch) = (try max(Model.self, \.id) ?? 0).addingReportingOverflow(1)
        let model = try make(isTooMuch ? .max : next)
        try insert(model)
        return model
    }

    /// Changes a model that is stored, and saves the models in it.
    ///
    /// - Parameter model: the model.
    /// - Throws: ``PersistenceError/Code/notFound`` for a model whose identifier is not stored, and what `save` throws.
    ///   Nothing is changed then.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?)`, then `UPDATE Z<ENTITY> SET … WHERE Z_PK = ? AND Z_OPT = ?` if anything has
    ///   changed
    public func update<Model: CoreModel>(_ model: Model) throws { try update([model]) }

    /// Changes models that are stored, and saves the models in them.
    ///
    /// - Parameter models: the models.
    /// - Throws: ``PersistenceError/Code/notFound`` for a model whose identifier is not stored, and what `save` throws.
    ///   Nothing is changed then.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?, …)` in batches, then `UPDATE Z<ENTITY> SET … WHERE Z_PK = ? AND Z_OPT = ?`
    ///   for each that has changed
    public func update<Model: CoreModel>(_ models: [Model]) throws { try write(models, .known) }

    /// Changes properties of the models that a filter selects.
    ///
    /// ```swift
    /// try store.update(Book.self, where: \.author?.name == "Jane Austen") { $0.set(\.price, to: 5) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold; `.all` for all of them.
    ///   - changes: says what to set.
    /// - Returns: how many models the filter selects.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `notSettable` for a property that cannot be set,
    ///   `unwritable` for a value that no store keeps, `missingReference` for a model that is not stored, and for the
    ///   filter what `count` throws. Nothing is changed then.
    /// - SQL: `SELECT … WHERE <filter>`, then `UPDATE Z<ENTITY> SET … WHERE Z_PK = ? AND Z_OPT = ?` for each that
    ///   changes. The manager's `update(_:where:_:)` is one statement if only plain properties are set.
    @discardableResult
    public func update<Model: CoreModel>(
        _ type: Model.Type, where filter: Filter<Model>, _ changes: (inout ModelChanges<Model>) throws -> Void
    ) throws -> Int {
        let plan = try access.plan(of: type)
        let selection = try access.selection(filter, plan)
        var wanted = ModelChanges<Model>()
        try changes(&wanted)
        let prepared = try PreparedChanges(wanted, plan, access.manager.registry)
        return try access.update(selection, of: plan, prepared)
    }

    /// Deletes a model, and the models that it owns.
    ///
    /// - Parameter model: the model; only its identifier matters.
    /// - Returns: whether it was stored.
    /// - Throws: ``PersistenceError`` with `readFailed` if the store cannot be read.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?)`, then `DELETE FROM Z<ENTITY> WHERE Z_PK = ? AND Z_OPT = ?`
    @discardableResult
    public func delete<Model: CoreModel>(_ model: Model) throws -> Bool { try delete(Model.self, id: model.id) }

    /// Deletes models, and the models that they own. Models that are not stored are skipped.
    ///
    /// - Parameter models: the models; only their identifiers matter.
    /// - Returns: how many of them were stored.
    /// - Throws: ``PersistenceError`` with `readFailed` if the store cannot be read.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?, …)` in batches, then `DELETE FROM Z<ENTITY> WHERE Z_PK = ? AND Z_OPT = ?`
    ///   each
    @discardableResult
    public func delete<Model: CoreModel>(_ models: [Model]) throws -> Int {
        try delete(Model.self, ids: models.map(\.id))
    }

    /// Deletes the model with an identifier, and the models that it owns.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - id: the identifier.
    /// - Returns: whether it was stored.
    /// - Throws: ``PersistenceError`` with `readFailed` if the store cannot be read.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?)`, then `DELETE FROM Z<ENTITY> WHERE Z_PK = ? AND Z_OPT = ?`
    @discardableResult
    public func delete<Model: CoreModel>(_ type: Model.Type, id: Model.ID) throws -> Bool {
        try delete(type, ids: [id]) == 1
    }

    /// Deletes the models with these identifiers, and the models that they own.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - ids: the identifiers.
    /// - Returns: how many models were found.
    /// - Throws: ``PersistenceError`` with `readFailed` if the store cannot be read.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?, …)` in batches, then `DELETE FROM Z<ENTITY> WHERE Z_PK = ? AND Z_OPT = ?`
    ///   each
    @discardableResult
    public func delete<Model: CoreModel>(_ type: Model.Type, ids: [Model.ID]) throws -> Int {
        let plan = try access.plan(of: type)
        let kind = plan.record.attributeKinds[plan.uidField]
        // What an attribute cannot hold, no row has.
        return try access.delete(ids.compactMap { try Model.storedValue(of: $0, kind) }, of: plan)
    }

    /// Deletes the models that a filter selects, and the models that they own.
    ///
    /// ```swift
    /// try store.delete(Review.self, where: \.stars < 2)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    /// - Returns: how many models the filter selects.
    /// - Throws: ``PersistenceError`` with `unknownProperty`, `notComparable` or `keptAsJSON` for a filter that the
    ///   store cannot evaluate, `readFailed` if the store cannot be read.
    /// - SQL: `SELECT … WHERE <filter>`, then `DELETE FROM Z<ENTITY> WHERE Z_PK = ? AND Z_OPT = ?` each
    @discardableResult
    public func delete<Model: CoreModel>(_ type: Model.Type, where filter: Filter<Model>) throws -> Int {
        let plan = try access.plan(of: type)
        let selection = try access.selection(filter, plan)
        return try access.delete(selection, of: plan)
    }

    /// Deletes all models of a type, and the models that they own.
    ///
    /// - Parameter type: the models' type.
    /// - Returns: how many models there were.
    /// - Throws: ``PersistenceError`` with `readFailed` if the store cannot be read.
    /// - SQL: `SELECT … FROM Z<ENTITY>`, then `DELETE FROM Z<ENTITY> WHERE Z_PK = ? AND Z_OPT = ?` each. The manager's
    ///   ``PersistenceManager/deleteAll(_:)`` loads no models.
    @discardableResult
    public func deleteAll<Model: CoreModel>(_ type: Model.Type) throws -> Int { try delete(type, where: .all) }

    /// Saves models, and deletes all others of their type, so that these remain, and those that they contain or refer
    /// to.
    ///
    /// - Parameter models: the models; an empty array deletes all.
    /// - Throws: what `save` throws. Nothing is changed then.
    /// - SQL: `SELECT … FROM Z<ENTITY>`, then `INSERT`, `UPDATE` and `DELETE` of new, changed and other rows
    public func replaceAll<Model: CoreModel>(with models: [Model]) throws { try write(models, .only) }

    private func write<Model: CoreModel>(_ models: [Model], _ mode: SaveMode) throws {
        let plan = try access.plan(of: Model.self)
        if mode == .new { access.expectRows(models.count, plan) }
        let graph = try ModelGraph(
            models, registry: access.manager.registry, repeated: mode == .new ? .mustDiffer : .mustAgree,
            limit: access.limit)
        _ = try PersistenceError.explaining(.saveFailed) {
            try access.save(graph, mode)
        }
    }
}
