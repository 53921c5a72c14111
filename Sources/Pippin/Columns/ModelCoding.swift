/// Codes properties whose types only the compiler knows, for code that ``CoreModel()`` writes.
public enum ModelCoding {
    /// Decodes a value that must be there.
    ///
    /// - Parameters:
    ///   - key: the property's key.
    ///   - container: the container with the value.
    /// - Returns: the value.
    /// - Throws: `DecodingError`, or what the container throws.
    @_disfavoredOverload
    public static func value<Key: CodingKey, Value: Decodable>(
        of key: Key, in container: KeyedDecodingContainer<Key>
    ) throws -> Value {
        if let type = Value.self as? any BasicValue.Type, let value = try type.value(of: key, in: container) as? Value {
            return value
        }
        return try container.decode(Value.self, forKey: key)
    }

    /// Decodes a value that may be missing.
    ///
    /// - Parameters:
    ///   - key: the property's key.
    ///   - container: the container that may have the value.
    /// - Returns: the value; nil where it is missing or null.
    /// - Throws: `DecodingError`, or what the container throws.
    public static func value<Key: CodingKey, Value: Decodable>(
        of key: Key, in container: KeyedDecodingContainer<Key>
    ) throws -> Value? {
        if let type = Value.self as? any BasicValue.Type {
            return try type.valueIfPresent(of: key, in: container) as? Value
        }
        return try container.decodeIfPresent(Value.self, forKey: key)
    }

    /// Encodes a value, or leaves out what is missing.
    ///
    /// - Parameters:
    ///   - value: the value; nil for none.
    ///   - key: the property's key.
    ///   - container: takes the value.
    /// - Throws: `EncodingError`, or what the container throws.
    public static func encode<Key: CodingKey, Value: Encodable>(
        _ value: Value?, as key: Key, in container: inout KeyedEncodingContainer<Key>
    ) throws {
        guard let value else { return }
        if let value = value as? any BasicValue { return try value.encode(as: key, in: &container) }
        try container.encode(value, forKey: key)
    }

    /// The type of a property, without naming it.
    ///
    /// - Parameter property: the property. It is not asked.
    /// - Returns: its type.
    @inlinable
    @inline(__always)
    public static func type<Model, Value>(of property: (Model) -> Value) -> Value.Type { Value.self }

    /// A value of a type that a variable has.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - type: its type.
    /// - Returns: the value.
    @inlinable
    @inline(__always)
    public static func value<Value>(_ value: Value, as type: Value.Type) -> Value { value }
}
