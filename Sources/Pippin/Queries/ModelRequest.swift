import CoreData

/// A fetch put together piece by piece.
///
/// ```swift
/// var request = ModelRequest(Person.self).filter(\.age > 30)
/// if let text { request = request.filter(.contains(\.name, text)) }
/// let people = try await manager.fetch(request.sorted(by: .ascending(\.name)).limit(20))
/// ```
public struct ModelRequest<Model: CoreModel & Codable>: Sendable {
    var filter: Filter<Model> = .all
    var order: Order<Model> = []
    var limit: Int?
    var offset = 0

    /// A request for all models of a type.
    ///
    /// - Parameter type: the models' type.
    public init(_ type: Model.Type = Model.self) {}

    /// The request with one more condition.
    ///
    /// - Parameter filter: what must hold as well.
    /// - Returns: the narrower request.
    public func filter(_ filter: Filter<Model>) -> ModelRequest {
        var request = self
        if case .all = self.filter.term { request.filter = filter } else { request.filter = self.filter && filter }
        return request
    }

    /// The request with one more condition, a Swift predicate.
    ///
    /// - Parameter predicate: what must hold as well.
    /// - Returns: the narrower request.
    public func filter(_ predicate: Predicate<Model>) -> ModelRequest { filter(.matching(predicate)) }

    /// The request in an order. It sorts models that the earlier orders leave equal.
    ///
    /// - Parameter order: the order.
    /// - Returns: the request in that order.
    public func sorted(by order: Order<Model>) -> ModelRequest {
        var request = self
        request.order = [self.order, order]
        return request
    }

    /// The request for at most so many models.
    ///
    /// - Parameter limit: the most to fetch; nil for no limit.
    /// - Returns: the request with that limit.
    public func limit(_ limit: Int?) -> ModelRequest {
        var request = self
        request.limit = limit
        return request
    }

    /// The request without so many models at the start.
    ///
    /// - Parameter offset: how many to leave out at the start.
    /// - Returns: the request with that offset.
    public func offset(_ offset: Int) -> ModelRequest {
        var request = self
        request.offset = offset
        return request
    }
}

extension PersistenceManager {
    /// The models that a request describes.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - context: where to read, its unsaved changes included; without one, the store.
    /// - Returns: the models, in order.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    public func fetch<Model: CoreModel & Codable & Sendable>(
        _ request: ModelRequest<Model>, context: NSManagedObjectContext? = nil
    ) async throws -> [Model] {
        try await fetch(
            Model.self, where: request.filter, sortedBy: request.order, limit: request.limit, offset: request.offset,
            context: context)
    }

    /// The models that a request describes, as the `async` form gives them, waiting for them.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - context: where to read, its unsaved changes included; without one, the store.
    /// - Returns: the models, in order.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    public func fetch<Model: CoreModel & Codable>(
        _ request: ModelRequest<Model>, context: NSManagedObjectContext? = nil
    ) throws -> [Model] {
        try fetch(
            Model.self, where: request.filter, sortedBy: request.order, limit: request.limit, offset: request.offset,
            context: context)
    }
}
