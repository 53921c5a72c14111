/// An `Optional`, for code that does not know the wrapped type.
protocol OptionalValue {
    /// The wrapped value; nil for none.
    var wrappedValue: (any Encodable)? { get }
}

extension Optional: OptionalValue where Wrapped: Encodable {
    var wrappedValue: (any Encodable)? { self }
}
