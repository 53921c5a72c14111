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
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
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
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
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
