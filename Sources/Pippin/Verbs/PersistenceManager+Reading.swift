// The questions of a reading block, one call each.
extension PersistenceManager {
    /// The models that a filter selects, in order.
    ///
    /// With a limit, models of equal order are sorted by their identifiers, so that pages fit together: the next page
    /// begins after the last model of this one.
    ///
    /// ```swift
    /// let first = try await manager.fetch(Book.self, sortedBy: .descending(\.price), limit: 20)
    /// let second = try await manager.fetch(Book.self, sortedBy: .descending(\.price), after: first.last, limit: 20)
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
    ///   ``PersistenceError/underlying``), `unreadable` for a stored value that the model cannot have, or that its
    ///   own `init(from:)` refuses, and what `load()` throws if the store is not open yet.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE <filter> ORDER BY <order> LIMIT <limit> OFFSET <offset>`
    public func fetch<Model: CoreModel>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy order: Order<Model> = [],
        after last: Model? = nil, limit: Int? = nil, offset: Int = 0
    ) async throws -> [Model] {
        try await asking(oneStatementAbout: flat(type)) {
            try $0.fetch(type, where: filter, sortedBy: order, after: last, limit: limit, offset: offset)
        }
    }

    /// The models that a request describes, in order.
    ///
    /// - Parameter request: the request.
    /// - Returns: the models; an empty array if it selects none.
    /// - Throws: ``PersistenceError`` with `unknownProperty`, `notComparable` or `keptAsJSON` for a filter or an
    ///   order that the store cannot evaluate, `readFailed` if the store cannot be read (Core Data's error is its
    ///   ``PersistenceError/underlying``), `unreadable` for a stored value that the model cannot have, or that its
    ///   own `init(from:)` refuses, and what `load()` throws if the store is not open yet.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE <filter> ORDER BY <order> LIMIT <limit> OFFSET <offset>`
    public func fetch<Model: CoreModel>(
        _ request: ModelRequest<Model>
    ) async throws -> [Model] {
        try await asking(oneStatementAbout: flat(Model.self)) { try $0.fetch(request) }
    }

    /// The model with an identifier.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - id: the identifier.
    /// - Returns: the model; `nil` where there is none.
    /// - Throws: ``PersistenceError`` with `readFailed` if the store cannot be read (Core Data's error is its
    ///   ``PersistenceError/underlying``), `unreadable` for a stored value that the model cannot have, or that its
    ///   own `init(from:)` refuses, and what `load()` throws if the store is not open yet.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE Z<ID> = ?`
    public func find<Model: CoreModel>(
        _ type: Model.Type, id: Model.ID
    ) async throws -> Model? {
        try await openIfNeeded()
        var model: Model?
        if try findAtOnce(id, &model) { return model }
        return try await asking(oneStatementAbout: flat(type)) { try $0.find(type, id: id) }
    }

    /// The models with these identifiers, in the order of the identifiers. Identifiers that no model has are skipped.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - ids: the identifiers.
    /// - Returns: the models that were found.
    /// - Throws: ``PersistenceError`` with `readFailed` if the store cannot be read (Core Data's error is its
    ///   ``PersistenceError/underlying``), `unreadable` for a stored value that the model cannot have, or that its
    ///   own `init(from:)` refuses, and what `load()` throws if the store is not open yet.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE Z<ID> IN (?, …)`, in batches
    public func find<Model: CoreModel>(
        _ type: Model.Type, ids: [Model.ID]
    ) async throws -> [Model] {
        let isOneStatement = ids.count <= Portion.identifiers
        return try await asking(oneStatementAbout: isOneStatement ? flat(type) : nil) { try $0.find(type, ids: ids) }
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
    ///   ``PersistenceError/underlying``), `unreadable` for a stored value that the model cannot have, or that its
    ///   own `init(from:)` refuses, and what `load()` throws if the store is not open yet.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE <filter> ORDER BY <order> LIMIT 1`
    public func first<Model: CoreModel>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy order: Order<Model> = []
    ) async throws -> Model? {
        try await asking(oneStatementAbout: flat(type)) { try $0.first(type, where: filter, sortedBy: order) }
    }
}
