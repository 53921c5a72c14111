/// An `Optional`, to be taken apart where its type is not known.
protocol OptionalValue {
    /// What is in it; nil for nothing.
    var wrappedValue: (any Encodable)? { get }
}

extension Optional: OptionalValue where Wrapped: Encodable {
    var wrappedValue: (any Encodable)? { self }
}
