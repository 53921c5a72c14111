/// What can be asked of a store.
///
/// A block of ``PersistenceManager/read(_:)`` or ``PersistenceManager/write(onConflict:_:)`` gets one. Functions that read take one, and
/// do not care which:
///
/// ```swift
/// func cheapest(in store: some ModelReader) throws -> Book? {
///     try store.first(Book.self, sortedBy: .ascending(\.price))
/// }
///
/// let book = try await manager.read { try cheapest(in: $0) }
/// ```
///
/// Everything that one block asks is of one state of the store, with the block's own changes.
public protocol ModelReader {
    /// What is worked on.
    var access: ModelAccess { get }
}

/// What can be done in a store, besides what can be asked.
///
/// A block of ``PersistenceManager/write(onConflict:_:)`` gets one. What it does is saved when the block ends: all of it, or nothing.
public protocol ModelWriter: ModelReader {}

/// One state of a store, to read: what a block of ``PersistenceManager/read(_:)`` works with.
public struct ReadAccess: ModelReader {
    /// What is worked on.
    public let access: ModelAccess
}

/// A transaction: what a block of ``PersistenceManager/write(onConflict:_:)`` works with.
public struct WriteAccess: ModelWriter {
    /// What is worked on.
    public let access: ModelAccess
}

// Models.
extension ModelReader {
    /// The models that a filter selects, in order.
    ///
    /// With a limit, models whose order is the same come in the order of their identifiers, so that pages fit together: the next one begins
    /// after the last model of this one.
    ///
    /// ```swift
    /// let first = try store.fetch(Book.self, sortedBy: .descending(\.price), limit: 20)
    /// let second = try store.fetch(Book.self, sortedBy: .descending(\.price), after: first.last, limit: 20)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    ///   - order: the order; without one, any.
    ///   - last: the model after which to begin, by the order's properties and its identifier, wherever it is now. The order must be one of
    ///     plain properties of the model then. Without one, at the beginning.
    ///   - limit: how many at most; all of them without one.
    ///   - offset: how many to pass over. A page after a model is faster.
    /// - Returns: the models; none where the filter selects none.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
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
    /// - Returns: the models; none where it selects none.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    public func fetch<Model: CoreModel>(_ request: ModelRequest<Model>) throws -> [Model] {
        let fetcher = try access.fetcher(Model.self)
        let selection = try fetcher.selection(request)
        return try PersistenceError.explaining(.readFailed) { try fetcher.models(selection, try access.source()) }
    }

    /// The model with an identifier.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - id: the identifier.
    /// - Returns: the model; `nil` where there is none.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE Z<ID> = ? LIMIT 1`
    public func find<Model: CoreModel>(_ type: Model.Type, id: Model.ID) throws -> Model? {
        let fetcher = try access.fetcher(type)
        return try PersistenceError.explaining(.readFailed) {
            try fetcher.model(id, access.source(finding: id, of: type))
        }
    }

    /// The models with these identifiers, in their order. Identifiers that no model has are passed over.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - ids: the identifiers.
    /// - Returns: the models that there are.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE Z<ID> IN (?, …)`, some hundred at a time
    public func find<Model: CoreModel>(_ type: Model.Type, ids: [Model.ID]) throws -> [Model] {
        let fetcher = try access.fetcher(type)
        return try PersistenceError.explaining(.readFailed) { try fetcher.models(inOrderOf: ids, access.source()) }
    }

    /// The first model that a filter selects.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - filter: what must hold.
    ///   - order: the order; without one, any.
    /// - Returns: the model; `nil` where the filter selects none.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE <filter> ORDER BY <order> LIMIT 1`
    public func first<Model: CoreModel>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy order: Order<Model> = []
    ) throws -> Model? {
        let fetcher = try access.fetcher(type)
        let selection = try fetcher.selection(filter, order, 1)
        return try PersistenceError.explaining(.readFailed) { try fetcher.models(selection, access.source()).first }
    }
}
