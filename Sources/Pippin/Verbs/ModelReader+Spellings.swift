// What one writes first, with what to write instead in the compiler's words.
extension PersistenceManager {
    /// Takes a filter: `where: .matching(#Predicate { … })`.
    @available(*, unavailable, message: "write where: .matching(#Predicate { … }), or \\.price < 10")
    @_disfavoredOverload
    public func fetch<Model: CoreModel>(
        _ type: Model.Type, where predicate: Predicate<Model>, sortedBy order: Order<Model> = [],
        after last: Model? = nil,
        limit: Int? = nil, offset: Int = 0
    ) async throws -> [Model] { [] }

    /// Takes an order: `sortedBy: .ascending(\.title)`.
    @available(*, unavailable, message: "write sortedBy: .ascending(\\.title), or .descending(\\.title)")
    @_disfavoredOverload
    public func fetch<Model: CoreModel, Value>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy property: KeyPath<Model, Value>,
        after last: Model? = nil, limit: Int? = nil, offset: Int = 0
    ) async throws -> [Model] { [] }
}

extension ModelReader {
    /// Takes a filter: `where: .matching(#Predicate { … })`.
    @available(*, unavailable, message: "write where: .matching(#Predicate { … }), or \\.price < 10")
    @_disfavoredOverload
    public func fetch<Model: CoreModel>(
        _ type: Model.Type, where predicate: Predicate<Model>, sortedBy order: Order<Model> = [],
        after last: Model? = nil,
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Model] { [] }

    /// Takes an order: `sortedBy: .ascending(\.title)`.
    @available(*, unavailable, message: "write sortedBy: .ascending(\\.title), or .descending(\\.title)")
    @_disfavoredOverload
    public func fetch<Model: CoreModel, Value>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy property: KeyPath<Model, Value>,
        after last: Model? = nil, limit: Int? = nil, offset: Int = 0
    ) throws -> [Model] { [] }
}
