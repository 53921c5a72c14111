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

// Enumerations and other types with raw values.
extension ColumnReader {
    /// A value whose type has a coding of its own.
    ///
    /// - Parameters:
    ///   - index: the column's index among the names, from 0.
    ///   - coding: the type's `init(from:)`, by which the compiler tells it from one that has a raw value; not called.
    ///   - plain: reads the value.
    /// - Returns: the value.
    /// - Throws: what `plain` throws.
    @inlinable
    public func value<Value>(
        at index: Int, _ coding: (any Decoder) throws -> Value, else plain: @autoclosure () throws -> Value
    ) throws -> Value { try plain() }

    /// A value whose type has a coding of its own, or nil. See ``value(at:_:else:)-(_,(Decoder)->Value,_)``.
    @inlinable
    public func value<Value>(
        at index: Int, _ coding: (any Decoder) throws -> Value, else plain: @autoclosure () throws -> Value?
    ) throws -> Value? { try plain() }

    /// A value whose type Swift codes by its raw value, a text.
    ///
    /// - Parameters:
    ///   - index: the column's index among the names, from 0.
    ///   - coding: the `init(from:)` of types without one of their own; not called.
    ///   - plain: reads a value that is not there, is of another type, or is not a raw value, and says so.
    /// - Returns: the value.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one that is not a raw value.
    @inlinable
    public func value<Value: RawRepresentable>(
        at index: Int, _ coding: (RawCoding) throws -> Value, else plain: @autoclosure () throws -> Value
    ) throws -> Value where Value.RawValue == String {
        if let raw = rawText(at: index), let value = Value(rawValue: raw) { return value }
        return try plain()
    }

    /// A value whose type Swift codes by its raw value, a text, or nil.
    @inlinable
    public func value<Value: RawRepresentable>(
        at index: Int, _ coding: (RawCoding) throws -> Value, else plain: @autoclosure () throws -> Value?
    ) throws -> Value? where Value.RawValue == String {
        if let raw = rawText(at: index), let value = Value(rawValue: raw) { return value }
        return try plain()
    }

    /// A value whose type Swift codes by its raw value, a whole number.
    ///
    /// - Parameters:
    ///   - index: the column's index among the names, from 0.
    ///   - coding: the `init(from:)` of types without one of their own; not called.
    ///   - plain: reads a value that is not there, is of another type, or is not a raw value, and says so.
    /// - Returns: the value.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one that is not a raw value.
    @inlinable
    public func value<Value: RawRepresentable>(
        at index: Int, _ coding: (RawCoding) throws -> Value, else plain: @autoclosure () throws -> Value
    ) throws -> Value where Value.RawValue: FixedWidthInteger {
        if let number = rawNumber(at: index), let raw = Value.RawValue(exactly: number),
            let value = Value(rawValue: raw)
        {
            return value
        }
        return try plain()
    }

    /// A value whose type Swift codes by its raw value, a whole number, or nil.
    @inlinable
    public func value<Value: RawRepresentable>(
        at index: Int, _ coding: (RawCoding) throws -> Value, else plain: @autoclosure () throws -> Value?
    ) throws -> Value? where Value.RawValue: FixedWidthInteger {
        if let number = rawNumber(at: index), let raw = Value.RawValue(exactly: number),
            let value = Value(rawValue: raw)
        {
            return value
        }
        return try plain()
    }
}

/// Tells the compiler which types Swift codes by their raw values: those whose `init(from:)` and `encode(to:)` are not
/// their own. There are no values of it.
///
/// A type's own initializer is preferred to the ones below, and these to Swift's, since they ask for more. So what a
/// name such as `Color.init(from:)` refers to says which of them the type has.
public enum RawCoding {}

extension RawRepresentable where Self: Codable, RawValue == String {
    /// Is never called. See ``RawCoding``.
    public init(from coding: RawCoding) { switch coding {} }
    /// Is never called. See ``RawCoding``.
    public func encode(to coding: RawCoding) {}
}

extension RawRepresentable where Self: Codable, RawValue: FixedWidthInteger & Codable {
    /// Is never called. See ``RawCoding``.
    public init(from coding: RawCoding) { switch coding {} }
    /// Is never called. See ``RawCoding``.
    public func encode(to coding: RawCoding) {}
}
