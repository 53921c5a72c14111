/// A stand-in for a model in a property: a `Reference`.
protocol ModelReference {
    static var target: Any.Type { get }
    func keyValue() throws -> Any
}

extension Reference: ModelReference {
    static var target: Any.Type { Model.self }
    func keyValue() throws -> Any { try Model.keyValue(of: id) }
}

/// Several models, or references to them, in a property.
protocol ModelCollection {
    /// The type of the elements: a model or a reference.
    static var member: Any.Type { get }
    static var isOrdered: Bool { get }
    var members: [Any] { get }
    /// The members, as an array of their own type.
    var ordered: Any { get }
}

extension Array: ModelCollection {
    static var member: Any.Type { Element.self }
    static var isOrdered: Bool { true }
    var members: [Any] { self }
    var ordered: Any { self }
}

extension Set: ModelCollection {
    static var member: Any.Type { Element.self }
    static var isOrdered: Bool { false }
    var members: [Any] { Array(self) }
    var ordered: Any { Array(self) }
}
