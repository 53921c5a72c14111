/// An optional value that coding asks for by its own type, `decode(Int?.self, forKey: .count)`, as coding by hand and
/// that of generic models does. It is kept as one that is asked for by `decodeIfPresent`.
protocol CodedOptional: Decodable {
    static func decoded<Container: KeyedDecodingContainerProtocol>(
        from container: Container, forKey key: Container.Key
    ) throws -> Self

    static func read(_ reader: borrowing ColumnReader, at index: Int) throws -> Self

    /// The type of the wrapped value.
    static var wrapped: Any.Type { get }
}

extension Optional: CodedOptional where Wrapped: Decodable {
    static var wrapped: Any.Type { Wrapped.self }

    static func decoded<Container: KeyedDecodingContainerProtocol>(
        from container: Container, forKey key: Container.Key
    ) throws -> Self {
        try container.decodeIfPresent(Wrapped.self, forKey: key)
    }

    static func read(_ reader: borrowing ColumnReader, at index: Int) throws -> Self {
        let value: Wrapped? = try reader.value(at: index)
        return value
    }
}

extension KeyedDecodingContainerProtocol {
    /// - Returns: the value, if the type is that of an optional; nil for any other type.
    func codedOptional<Value>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard isOptional(type), let optional = type as? any CodedOptional.Type else { return nil }
        return try value(optional, key) as? Value
    }

    private func value<Optional: CodedOptional>(_ type: Optional.Type, _ key: Key) throws -> Any {
        try type.decoded(from: self, forKey: key)
    }
}

extension ColumnReader {
    /// - Returns: the value in a column, if the type is that of an optional; nil for any other type.
    func codedOptional<Value>(_ type: Value.Type, at index: Int) throws -> Value? {
        guard let optional = type as? any CodedOptional.Type else { return nil }
        return try value(optional, index) as? Value
    }

    private func value<Optional: CodedOptional>(_ type: Optional.Type, _ index: Int) throws -> Any {
        try type.read(self, at: index)
    }
}

/// Whether a type is an `Optional`, as the runtime says. A cast finds it out, too, slowly.
func isOptional(_ type: Any.Type) -> Bool { metadataKind(of: type) == 0x202 }

/// Whether a type is an enumeration other than `Optional`, as the runtime says.
func isEnumeration(_ type: Any.Type) -> Bool { metadataKind(of: type) == 0x201 }

/// Of the Swift runtime; declared as in the standard library, which uses it to reflect values. The kinds are those of
/// its `_MetadataKind`.
@_silgen_name("swift_getMetadataKind")
private func metadataKind(of type: Any.Type) -> UInt
