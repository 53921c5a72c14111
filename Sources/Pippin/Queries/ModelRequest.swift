import StoreSession

/// A fetch that is built step by step.
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

    /// The request with an additional condition.
    ///
    /// - Parameter filter: the additional condition.
    /// - Returns: the narrower request.
    public func filter(_ filter: Filter<Model>) -> ModelRequest {
        var request = self
        if case .all = self.filter.term { request.filter = filter } else { request.filter = self.filter && filter }
        return request
    }

    /// The request with a Swift predicate as an additional condition.
    ///
    /// - Parameter predicate: the additional condition.
    /// - Returns: the narrower request.
    public func filter(_ predicate: Predicate<Model>) -> ModelRequest { filter(.matching(predicate)) }

    /// The request with an additional order. It sorts models that the earlier orders leave equal.
    ///
    /// - Parameter order: the order.
    /// - Returns: the request in that order.
    public func sorted(by order: Order<Model>) -> ModelRequest {
        var request = self
        request.order = [self.order, order]
        return request
    }

    /// The request with a limit.
    ///
    /// - Parameter limit: the largest number of models to fetch; nil for no limit.
    /// - Returns: the request with that limit.
    public func limit(_ limit: Int?) -> ModelRequest {
        var request = self
        request.limit = limit
        return request
    }

    /// The request with an offset.
    ///
    /// - Parameter offset: how many models to skip at the start.
    /// - Returns: the request with that offset.
    public func offset(_ offset: Int) -> ModelRequest {
        var request = self
        request.offset = offset
        return request
    }

    /// The request for the models after a given one.
    ///
    /// - Parameter last: the last model of the previous page, even if it has moved or is gone; `nil` to begin at the
    ///   beginning. The order must be one of plain properties of the model, or of structs nested in it.
    /// - Returns: the request for the next page.
    public func after(_ last: Model?) -> ModelRequest {
        var request = self
        request.last = last
        return request
    }
}
