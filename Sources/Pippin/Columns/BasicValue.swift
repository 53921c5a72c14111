/// A type for which containers have methods of their own, which generic code would not call.
protocol BasicValue: Codable {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Self
    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Self?
    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws
}

extension Bool: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Bool {
        try container.decode(Bool.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Bool? {
        try container.decodeIfPresent(Bool.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension String: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> String {
        try container.decode(String.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> String? {
        try container.decodeIfPresent(String.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension Double: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Double {
        try container.decode(Double.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Double? {
        try container.decodeIfPresent(Double.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension Float: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Float {
        try container.decode(Float.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Float? {
        try container.decodeIfPresent(Float.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension Int: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int {
        try container.decode(Int.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int? {
        try container.decodeIfPresent(Int.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension Int8: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int8 {
        try container.decode(Int8.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int8? {
        try container.decodeIfPresent(Int8.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension Int16: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int16 {
        try container.decode(Int16.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int16? {
        try container.decodeIfPresent(Int16.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension Int32: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int32 {
        try container.decode(Int32.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int32? {
        try container.decodeIfPresent(Int32.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension Int64: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int64 {
        try container.decode(Int64.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int64? {
        try container.decodeIfPresent(Int64.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension UInt: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt {
        try container.decode(UInt.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt? {
        try container.decodeIfPresent(UInt.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension UInt8: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt8 {
        try container.decode(UInt8.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt8? {
        try container.decodeIfPresent(UInt8.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension UInt16: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt16 {
        try container.decode(UInt16.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt16? {
        try container.decodeIfPresent(UInt16.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension UInt32: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt32 {
        try container.decode(UInt32.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt32? {
        try container.decodeIfPresent(UInt32.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension UInt64: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt64 {
        try container.decode(UInt64.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt64? {
        try container.decodeIfPresent(UInt64.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

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

    /// Decodes a value that may be missing, and is the property's initial value then.
    ///
    /// - Parameters:
    ///   - key: the property's key.
    ///   - container: the container that may have the value.
    ///   - initial: the initial value.
    /// - Returns: the value.
    /// - Throws: `DecodingError`, or what the container throws.
    public static func value<Key: CodingKey, Value: Decodable>(
        of key: Key, in container: KeyedDecodingContainer<Key>, initially initial: () -> Value
    ) throws -> Value {
        do { return try value(of: key, in: container) } catch DecodingError.keyNotFound(let missing, let context)
            where missing.stringValue == key.stringValue && context.codingPath.count == container.codingPath.count
        {
            return initial()
        }
    }

    /// The initial value of a property.
    ///
    /// - Parameters:
    ///   - property: the property, which says of which type the value is.
    ///   - value: makes the value.
    /// - Returns: the value.
    public static func initial<Model, Value: Encodable & Sendable>(
        of property: KeyPath<Model, Value>, _ value: () -> Value
    ) -> any Encodable & Sendable { value() }

    /// What the compiler shows for a property whose type is not `Codable`.
    ///
    /// - Parameters:
    ///   - key: the property's key.
    ///   - container: the container.
    /// - Returns: never.
    /// - Throws: never.
    @available(*, unavailable, message: "a model's properties are Codable: make the type of this one Codable")
    @_disfavoredOverload
    public static func value<Key: CodingKey, Value>(
        of key: Key, in container: KeyedDecodingContainer<Key>
    ) throws -> Value { fatalError("the compiler refuses this call") }

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
