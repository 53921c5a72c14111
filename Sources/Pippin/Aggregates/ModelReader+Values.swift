extension ModelReader {
    /// The values of a property, without the rest of the models. A block's own changes count.
    ///
    /// ```swift
    /// let titles = try store.values(Book.self, \.title, where: \.price < 20, sortedBy: .ascending(\.title))
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
    public func values<Model: CoreModel, Value: Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all,
        sortedBy order: Order<Model> = [], limit: Int? = nil, offset: Int = 0
    ) throws -> [Value] {
        let request = ModelRequest(type).filter(filter).sorted(by: order).limit(limit).offset(offset)
        return try values(request, property)
    }

    /// The values of some properties, without the rest of the models. A block's own changes count.
    ///
    /// ```swift
    /// for (title, price, author) in try store.values(Book.self, \.title, \.price, \.author?.name) { … }
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
    public func values<Model: CoreModel, First: Codable, Second: Codable, each Other: Codable>(
        _ type: Model.Type, _ first: KeyPath<Model, First>, _ second: KeyPath<Model, Second>,
        _ others: repeat KeyPath<Model, each Other>, where filter: Filter<Model> = .all,
        sortedBy order: Order<Model> = [], limit: Int? = nil, offset: Int = 0
    ) throws -> [(First, Second, repeat each Other)] {
        let request = ModelRequest(type).filter(filter).sorted(by: order).limit(limit).offset(offset)
        return try values(request, first, second, repeat each others)
    }

    /// The values of a property of the models that a request describes, without the rest of these.
    ///
    /// ```swift
    /// let dear = ModelRequest(Book.self).filter(\.price > 20).sorted(by: .descending(\.price))
    /// let titles = try store.values(dear, \.title)
    /// ```
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - property: the property, of the models or of those that they lead to.
    /// - Returns: a value for each model.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a value that is not of the property's type, and what `fetch` throws.
    /// - SQL: `SELECT <property> FROM Z<ENTITY> WHERE <filter> ORDER BY <order> LIMIT <limit> OFFSET <offset>`
    public func values<Model: CoreModel, Value: Codable>(
        _ request: ModelRequest<Model>, _ property: KeyPath<Model, Value>
    ) throws -> [Value] {
        try values(request, [PropertyName(property)], Value.self)
    }

    /// The values of some properties of the models that a request describes, without the rest of these.
    ///
    /// ```swift
    /// let dear = ModelRequest(Book.self).filter(\.price > 20).sorted(by: .descending(\.price))
    /// let rows = try store.values(dear, \.title, \.author?.name)
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
    public func values<Model: CoreModel, First: Codable, Second: Codable, each Other: Codable>(
        _ request: ModelRequest<Model>, _ first: KeyPath<Model, First>, _ second: KeyPath<Model, Second>,
        _ others: repeat KeyPath<Model, each Other>
    ) throws -> [(First, Second, repeat each Other)] {
        try values(
            request, PropertyName.names(first, second, repeat each others), First.self, Second.self,
            repeat (each Other).self)
    }

    func values<Model: CoreModel, each Value: Codable>(
        _ request: ModelRequest<Model>, _ properties: [PropertyName], _ types: repeat (each Value).Type
    ) throws -> [(repeat each Value)] {
        let fetcher = try access.fetcher(Model.self)
        let values = try SelectedValues(properties, fetcher.plan, access.manager.registry)
        return try fetcher.reading(request) { selection in
            let selection = try access.seeingChanges(selection, fetcher.plan)
            return try PersistenceError.explaining(.readFailed) {
                try values.tuples(repeat each types, of: selection, in: try access.source())
            }
        }
    }
}

extension PropertyName {
    static func names<Model, each Value>(_ properties: repeat KeyPath<Model, each Value>) -> [PropertyName] {
        var names: [PropertyName] = []
        for property in repeat each properties { names.append(PropertyName(property)) }
        return names
    }
}
