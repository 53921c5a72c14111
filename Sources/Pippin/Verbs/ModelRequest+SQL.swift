extension ModelRequest {
    /// The statement that fetches what the request describes, with a `?` for each value; in PostgreSQL with `$1`, `$2`,
    /// …, followed by remarks about anything that Pippin evaluates itself. Models within the models are fetched by
    /// statements of their own.
    ///
    /// ```swift
    /// print(try await ModelRequest(Book.self).filter(\.price < 20).limit(10).sql(in: manager) ?? "")
    /// ```
    ///
    /// - Parameter manager: the manager that would run it. Its store is opened if necessary.
    /// - Returns: the statement; `nil` for a store that does not run statements, such as an XML store.
    /// - Throws: ``PersistenceError`` for a request that the store would refuse, and what `load()` throws.
    public func sql(in manager: PersistenceManager) async throws -> String? {
        try await manager.openIfNeeded()
        let request = self
        return try await manager.offThread {
            let plan = try manager.registry.plan(of: Model.self)
            let fetcher = StructFetcher<Model>(plan: plan, registry: manager.registry)
            return try manager.storeRows.statement(of: plan, try fetcher.selection(request))
        }
    }
}
