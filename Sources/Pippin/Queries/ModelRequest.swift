import CoreData

/// A fetch put together piece by piece.
///
/// ```swift
/// var request = ModelRequest(Person.self).filter(\.age > 30)
/// if let text { request = request.filter(.contains(\.name, text)) }
/// let people = try await manager.fetch(request.sorted(by: .ascending(\.name)).limit(20))
/// ```
public struct ModelRequest<Model: CoreModel>: Sendable {
    var filter: Filter<Model> = .all
    var order: Order<Model> = []
    /// The model after which to begin.
    var last: Model?
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

    /// The request for what comes after a model.
    ///
    /// - Parameter last: the last model of the page before, wherever it is now; `nil` to begin at the beginning. The order must be one of
    ///   plain properties of the model.
    /// - Returns: the request for the next page.
    public func after(_ last: Model?) -> ModelRequest {
        var request = self
        request.last = last
        return request
    }
}
