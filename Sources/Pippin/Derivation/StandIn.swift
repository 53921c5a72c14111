import Foundation

/// A type with a value to start from.
///
/// A model's schema is found by decoding the model once from made-up values. An enumeration that accepts none of these takes part
/// by naming one that it does accept:
///
/// ```swift
/// extension Currency: Prototyped {
///     static let prototype = Currency.euro
/// }
/// ```
///
/// Most need not: of an enumeration that is `CaseIterable`, or whose cases carry no values, the first case is taken.
public protocol Prototyped {
    /// Any value of the type.
    static var prototype: Self { get }
}

extension TimeZone: Prototyped {
    /// That of Greenwich.
    public static var prototype: TimeZone { .gmt }
}

/// Values to decode a type from when all that matters is what it asks for.
enum StandIn {
    /// A value of a type that did not accept the made-up values it was decoded from.
    static func value<Value>(of type: Value.Type) -> Value? {
        if let prototyped = type as? any Prototyped.Type { return prototype(prototyped) as? Value }
        if let iterable = type as? any CaseIterable.Type { return first(iterable) as? Value }
        return firstCase(type)
    }

    /// The first case of an enumeration without associated values.
    ///
    /// Such an enumeration is its case's number, in one byte, or nothing at all where there is only one: the kind of its metadata
    /// tells that it is an enumeration, and its being trivial and small that all zeros are one of its values.
    static func firstCase<Value>(_ type: Value.Type) -> Value? {
        guard isEnumeration(type), _isPOD(type), MemoryLayout<Value>.size <= 1 else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { bytes in
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            return bytes.load(as: Value.self)
        }
    }

    /// Whether a type's metadata say that it is an enumeration: `MetadataKind::Enum` of Swift's stable ABI.
    private static func isEnumeration(_ type: Any.Type) -> Bool {
        unsafeBitCast(type, to: UnsafePointer<Int>.self).pointee == 0x201
    }

    private static func prototype<Value: Prototyped>(_ type: Value.Type) -> Any { Value.prototype }

    private static func first<Value: CaseIterable>(_ type: Value.Type) -> Any? { Value.allCases.first }
}
