/// An `Optional`, for code that does not know the wrapped type.
protocol OptionalValue {
    /// The wrapped value; nil for none.
    var wrappedValue: (any Encodable)? { get }
    /// The type of the wrapped value.
    static var wrappedType: Any.Type { get }
}

extension Optional: OptionalValue where Wrapped: Encodable {
    var wrappedValue: (any Encodable)? { self }
    static var wrappedType: Any.Type { Wrapped.self }
}
