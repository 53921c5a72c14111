/// The models of a fetch, page by page.
///
/// ```swift
/// for try await books in manager.pages(Book.self, sortedBy: .ascending(\.title)) {
///     for book in books { export(book) }
/// }
/// ```
///
/// Each page is a statement of its own, which begins after the last model of the page before, and is only run when the
/// page is asked for. What is saved between two pages counts for the next one: no model comes twice unless its place
/// in the order was changed. For one state of the store, fetch the pages in a `read` block, with `after:`.
public struct ModelPages<Model: CoreModel>: AsyncSequence, Sendable {
    /// The models of a page.
    public typealias Element = [Model]

    let manager: PersistenceManager
    let request: ModelRequest<Model>
    let size: Int

    /// Begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: self, request: request.limit(size)) }

    /// The pages, one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let pages: ModelPages
        /// The request for the next page; nil after the last one.
        var request: ModelRequest<Model>?

        /// The next page, which has at least one model; nil after the last one.
        ///
        /// - Throws: what ``PersistenceManager/fetch(_:)`` throws, and ``PersistenceError/Code/unknownProperty`` or
        ///   ``PersistenceError/Code/notComparable`` for an order in which no page can begin after a model.
        public mutating func next() async throws -> [Model]? {
            guard let request else { return nil }
            self.request = nil
            let registry = pages.manager.registry
            _ = try Page(request.order, try registry.plan(of: Model.self), registry)
            let page = try await pages.manager.fetch(request)
            guard let last = page.last else { return nil }
            if page.count == pages.size { self.request = request.after(last) }
            return page
        }
    }
}

extension PersistenceManager {
    /// The models that a filter selects, page by page, as a sequence. It is for more models than should be in memory at
    /// once.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: the condition that the models meet.
    ///   - order: the order, which must be one of plain properties of the model, or of structs nested in it. Models of
    ///     equal order are sorted by their identifiers.
    ///   - last: the model after which to begin, as in `fetch`.
    ///   - limit: how many models a page has at most, at least one.
    /// - Returns: the pages, for `for try await`. Nothing is read before the first one is asked for.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE <filter> AND <after> ORDER BY <order>, Z<ID> LIMIT <limit>`, for each
    ///   page
    public func pages<Model: CoreModel>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy order: Order<Model> = [],
        after last: Model? = nil, limit: Int = 1_000
    ) -> ModelPages<Model> {
        let request = ModelRequest(type).filter(filter).sorted(by: order).after(last)
        return ModelPages(manager: self, request: request, size: Swift.max(1, limit))
    }
}

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
