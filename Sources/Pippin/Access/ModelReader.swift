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
