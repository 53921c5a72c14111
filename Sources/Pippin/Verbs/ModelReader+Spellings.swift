// What one writes first: a Swift predicate in the place of a filter, a key path in that of an order. They are
// disfavoured, so that the compiler looks at the plain forms first.
extension PersistenceManager {
    /// `fetch(_:where:sortedBy:after:limit:offset:)` with ``Filter/matching(_:)``.
    @_disfavoredOverload
    public func fetch<Model: CoreModel>(
        _ type: Model.Type, where predicate: Predicate<Model>, sortedBy order: Order<Model> = [],
        after last: Model? = nil, limit: Int? = nil, offset: Int = 0
    ) async throws -> [Model] {
        try await fetch(
            type, where: .matching(predicate), sortedBy: order, after: last, limit: limit, offset: offset)
    }

    /// `fetch(_:where:sortedBy:after:limit:offset:)` with ``Order/ascending(_:)``.
    @_disfavoredOverload
    public func fetch<Model: CoreModel, Value>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy property: KeyPath<Model, Value> & Sendable,
        after last: Model? = nil, limit: Int? = nil, offset: Int = 0
    ) async throws -> [Model] {
        try await fetch(
            type, where: filter, sortedBy: .ascending(property), after: last, limit: limit, offset: offset)
    }

    /// `fetch(_:where:sortedBy:after:limit:offset:)` with ``Filter/matching(_:)`` and ``Order/ascending(_:)``.
    @_disfavoredOverload
    public func fetch<Model: CoreModel, Value>(
        _ type: Model.Type, where predicate: Predicate<Model>, sortedBy property: KeyPath<Model, Value> & Sendable,
        after last: Model? = nil, limit: Int? = nil, offset: Int = 0
    ) async throws -> [Model] {
        try await fetch(
            type, where: .matching(predicate), sortedBy: .ascending(property), after: last, limit: limit,
            offset: offset)
    }

    /// `first(_:where:sortedBy:)` with ``Filter/matching(_:)``.
    @_disfavoredOverload
    public func first<Model: CoreModel>(
        _ type: Model.Type, where predicate: Predicate<Model>, sortedBy order: Order<Model> = []
    ) async throws -> Model? { try await first(type, where: .matching(predicate), sortedBy: order) }

    /// `first(_:where:sortedBy:)` with ``Order/ascending(_:)``.
    @_disfavoredOverload
    public func first<Model: CoreModel, Value>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy property: KeyPath<Model, Value> & Sendable
    ) async throws -> Model? { try await first(type, where: filter, sortedBy: .ascending(property)) }

    /// `first(_:where:sortedBy:)` with ``Filter/matching(_:)`` and ``Order/ascending(_:)``.
    @_disfavoredOverload
    public func first<Model: CoreModel, Value>(
        _ type: Model.Type, where predicate: Predicate<Model>, sortedBy property: KeyPath<Model, Value> & Sendable
    ) async throws -> Model? { try await first(type, where: .matching(predicate), sortedBy: .ascending(property)) }

    /// `count(_:where:)` with ``Filter/matching(_:)``.
    @_disfavoredOverload
    public func count<Model: CoreModel>(
        _ type: Model.Type, where predicate: Predicate<Model>
    ) async throws -> Int { try await count(type, where: .matching(predicate)) }

    /// `exists(_:where:)` with ``Filter/matching(_:)``.
    @_disfavoredOverload
    public func exists<Model: CoreModel>(
        _ type: Model.Type, where predicate: Predicate<Model>
    ) async throws -> Bool { try await exists(type, where: .matching(predicate)) }

    /// `delete(_:where:)` with ``Filter/matching(_:)``.
    @discardableResult
    @_disfavoredOverload
    public func delete<Model: CoreModel>(
        _ type: Model.Type, where predicate: Predicate<Model>
    ) async throws -> Int { try await delete(type, where: .matching(predicate)) }

    /// `update(_:where:_:)` with ``Filter/matching(_:)``.
    @discardableResult
    @_disfavoredOverload
    public func update<Model: CoreModel>(
        _ type: Model.Type, where predicate: Predicate<Model>,
        _ changes: @Sendable (inout ModelChanges<Model>) throws -> Void
    ) async throws -> Int { try await update(type, where: .matching(predicate), changes) }
}

extension ModelReader {
    /// `fetch(_:where:sortedBy:after:limit:offset:)` with ``Filter/matching(_:)``.
    @_disfavoredOverload
    public func fetch<Model: CoreModel>(
        _ type: Model.Type, where predicate: Predicate<Model>, sortedBy order: Order<Model> = [],
        after last: Model? = nil, limit: Int? = nil, offset: Int = 0
    ) throws -> [Model] {
        try fetch(type, where: .matching(predicate), sortedBy: order, after: last, limit: limit, offset: offset)
    }

    /// `fetch(_:where:sortedBy:after:limit:offset:)` with ``Order/ascending(_:)``.
    @_disfavoredOverload
    public func fetch<Model: CoreModel, Value>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy property: KeyPath<Model, Value>,
        after last: Model? = nil, limit: Int? = nil, offset: Int = 0
    ) throws -> [Model] {
        try fetch(type, where: filter, sortedBy: .ascending(property), after: last, limit: limit, offset: offset)
    }

    /// `fetch(_:where:sortedBy:after:limit:offset:)` with ``Filter/matching(_:)`` and ``Order/ascending(_:)``.
    @_disfavoredOverload
    public func fetch<Model: CoreModel, Value>(
        _ type: Model.Type, where predicate: Predicate<Model>, sortedBy property: KeyPath<Model, Value>,
        after last: Model? = nil, limit: Int? = nil, offset: Int = 0
    ) throws -> [Model] {
        try fetch(
            type, where: .matching(predicate), sortedBy: .ascending(property), after: last, limit: limit,
            offset: offset)
    }

    /// `first(_:where:sortedBy:)` with ``Filter/matching(_:)``.
    @_disfavoredOverload
    public func first<Model: CoreModel>(
        _ type: Model.Type, where predicate: Predicate<Model>, sortedBy order: Order<Model> = []
    ) throws -> Model? { try first(type, where: .matching(predicate), sortedBy: order) }

    /// `first(_:where:sortedBy:)` with ``Order/ascending(_:)``.
    @_disfavoredOverload
    public func first<Model: CoreModel, Value>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy property: KeyPath<Model, Value>
    ) throws -> Model? { try first(type, where: filter, sortedBy: .ascending(property)) }

    /// `first(_:where:sortedBy:)` with ``Filter/matching(_:)`` and ``Order/ascending(_:)``.
    @_disfavoredOverload
    public func first<Model: CoreModel, Value>(
        _ type: Model.Type, where predicate: Predicate<Model>, sortedBy property: KeyPath<Model, Value>
    ) throws -> Model? { try first(type, where: .matching(predicate), sortedBy: .ascending(property)) }

    /// `count(_:where:)` with ``Filter/matching(_:)``.
    @_disfavoredOverload
    public func count<Model: CoreModel>(_ type: Model.Type, where predicate: Predicate<Model>) throws -> Int {
        try count(type, where: .matching(predicate))
    }

    /// `exists(_:where:)` with ``Filter/matching(_:)``.
    @_disfavoredOverload
    public func exists<Model: CoreModel>(_ type: Model.Type, where predicate: Predicate<Model>) throws -> Bool {
        try exists(type, where: .matching(predicate))
    }
}

extension ModelWriter {
    /// `delete(_:where:)` with ``Filter/matching(_:)``.
    @discardableResult
    @_disfavoredOverload
    public func delete<Model: CoreModel>(_ type: Model.Type, where predicate: Predicate<Model>) throws -> Int {
        try delete(type, where: .matching(predicate))
    }

    /// `update(_:where:_:)` with ``Filter/matching(_:)``.
    @discardableResult
    @_disfavoredOverload
    public func update<Model: CoreModel>(
        _ type: Model.Type, where predicate: Predicate<Model>,
        _ changes: (inout ModelChanges<Model>) throws -> Void
    ) throws -> Int { try update(type, where: .matching(predicate), changes) }
}

// Conditions that Swift alone could evaluate, with what to write in their place.
extension PersistenceManager {
    /// Takes a condition that the store can evaluate.
    @available(
        *, unavailable,
        message:
            "a store cannot call a closure: write where: #Predicate { … }, or \\.price < 10, or .contains(\\.title, \"x\")"
    )
    @_disfavoredOverload
    public func fetch<Model: CoreModel>(
        _ type: Model.Type, where condition: (Model) -> Bool, sortedBy order: Order<Model> = []
    ) async throws -> [Model] { [] }

    /// Takes a comparison.
    @available(*, unavailable, message: "write where: \\.isRead == true, or .contains(\\.title, \"x\") for a text")
    @_disfavoredOverload
    public func fetch<Model: CoreModel>(
        _ type: Model.Type, where property: KeyPath<Model, Bool> & Sendable, sortedBy order: Order<Model> = []
    ) async throws -> [Model] { [] }
}
