extension ModelRequest {
    /// The statement that fetches what the request describes, with a `?` for each value; in PostgreSQL with `$1`, `$2`, …, and with what
    /// Pippin evaluates itself as remarks behind it. What the models lead to is fetched by statements of its own.
    ///
    /// ```swift
    /// print(try await ModelRequest(Book.self).filter(\.price < 20).limit(10).sql(in: manager) ?? "")
    /// ```
    ///
    /// - Parameter manager: the manager that would run it; its store is opened for that.
    /// - Returns: the statement; `nil` for a store that runs none, such as one in XML.
    /// - Throws: ``PersistenceError`` for a request that the store would refuse, and what `load()` throws.
    public func sql(in manager: PersistenceManager) async throws -> String? {
        try await manager.openIfNeeded()
        #if canImport(ObjectiveC)
            return nil
        #else
            let request = self
            return try await manager.offThread {
                let plan = try manager.registry.plan(of: Model.self)
                let fetcher = StructFetcher<Model>(plan: plan, registry: manager.registry)
                return try manager.storeRows?.statement(of: plan, try fetcher.selection(request))
            }
        #endif
    }
}
