// Values without their models, one call each.
extension PersistenceManager {
    /// The values of a property, without the rest of the models.
    ///
    /// ```swift
    /// let titles = try await manager.values(Book.self, \.title, where: \.price < 20, sortedBy: .ascending(\.title))
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of the models or of those that they lead to.
    ///   - filter: what must hold.
    ///   - order: the order; without one, the order is arbitrary.
    ///   - limit: how many at most; all of them without one. With a limit, models of equal order are sorted by their
    ///     identifiers.
    ///   - offset: how many to skip.
    /// - Returns: a value for each model.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a value that is not of the property's type, and what `fetch` throws.
    /// - SQL: `SELECT <property> FROM Z<ENTITY> WHERE <filter> ORDER BY <order> LIMIT <limit> OFFSET <offset>`
    public func values<Model: CoreModel, Value: Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all,
        sortedBy order: Order<Model> = [], limit: Int? = nil, offset: Int = 0
    ) async throws -> [Value] {
        let request = ModelRequest(type).filter(filter).sorted(by: order).limit(limit).offset(offset)
        return try await values(request, property)
    }

    /// The values of some properties, without the rest of the models.
    ///
    /// ```swift
    /// for (title, price, author) in try await manager.values(Book.self, \.title, \.price, \.author?.name) { … }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - first: a property, of the models or of those that they lead to.
    ///   - second: another one.
    ///   - others: more of them.
    ///   - filter: what must hold.
    ///   - order: the order; without one, the order is arbitrary.
    ///   - limit: how many at most; all of them without one. With a limit, models of equal order are sorted by their
    ///     identifiers.
    ///   - offset: how many to skip.
    /// - Returns: a tuple of the values for each model, in the order of the properties.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a value that is not of the property's type, and what `fetch` throws.
    /// - SQL: `SELECT <properties> FROM Z<ENTITY> WHERE <filter> ORDER BY <order> LIMIT <limit> OFFSET <offset>`
    public func values<
        Model: CoreModel, First: Codable & Sendable, Second: Codable & Sendable, each Other: Codable & Sendable
    >(
        _ type: Model.Type, _ first: KeyPath<Model, First>, _ second: KeyPath<Model, Second>,
        _ others: repeat KeyPath<Model, each Other>, where filter: Filter<Model> = .all,
        sortedBy order: Order<Model> = [], limit: Int? = nil, offset: Int = 0
    ) async throws -> [(First, Second, repeat each Other)] {
        let request = ModelRequest(type).filter(filter).sorted(by: order).limit(limit).offset(offset)
        return try await values(request, first, second, repeat each others)
    }

    /// The values of a property of the models that a request describes, without the rest of these.
    ///
    /// ```swift
    /// let dear = ModelRequest(Book.self).filter(\.price > 20).sorted(by: .descending(\.price))
    /// let titles = try await manager.values(dear, \.title)
    /// ```
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - property: the property, of the models or of those that they lead to.
    /// - Returns: a value for each model.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a value that is not of the property's type, and what `fetch` throws.
    /// - SQL: `SELECT <property> FROM Z<ENTITY> WHERE <filter> ORDER BY <order> LIMIT <limit> OFFSET <offset>`
    public func values<Model: CoreModel, Value: Codable & Sendable>(
        _ request: ModelRequest<Model>, _ property: KeyPath<Model, Value>
    ) async throws -> [Value] {
        let names = [PropertyName(property)]
        return try await asking(oneStatementAbout: Model.self) {
            try $0.values(request, names, Value.self)
        }
    }

    /// The values of some properties of the models that a request describes, without the rest of these.
    ///
    /// ```swift
    /// let dear = ModelRequest(Book.self).filter(\.price > 20).sorted(by: .descending(\.price))
    /// let rows = try await manager.values(dear, \.title, \.author?.name)
    /// ```
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - first: a property, of the models or of those that they lead to.
    ///   - second: another one.
    ///   - others: more of them.
    /// - Returns: a tuple of the values for each model, in the order of the properties.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a value that is not of the property's type, and what `fetch` throws.
    /// - SQL: `SELECT <properties> FROM Z<ENTITY> WHERE <filter> ORDER BY <order> LIMIT <limit> OFFSET <offset>`
    public func values<
        Model: CoreModel, First: Codable & Sendable, Second: Codable & Sendable, each Other: Codable & Sendable
    >(
        _ request: ModelRequest<Model>, _ first: KeyPath<Model, First>, _ second: KeyPath<Model, Second>,
        _ others: repeat KeyPath<Model, each Other>
    ) async throws -> [(First, Second, repeat each Other)] {
        let names = PropertyName.names(first, second, repeat each others)
        return try await asking(oneStatementAbout: Model.self) {
            try $0.values(request, names, First.self, Second.self, repeat (each Other).self)
        }
    }
}
