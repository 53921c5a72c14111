import Foundation

/// A type with a value to start from.
///
/// A model's schema is found by decoding the model once from made-up values. An enumeration that accepts none of them
/// must name a value that it does accept:
///
/// ```swift
/// extension Currency: Prototyped {
///     static let prototype = Currency.euro
/// }
/// ```
///
/// Most enumerations need not: if one is `CaseIterable`, or its cases have no associated values, the first case is
/// taken.
public protocol Prototyped {
    /// Any value of the type.
    static var prototype: Self { get }
}

extension TimeZone: Prototyped {
    /// The time zone of Greenwich.
    public static var prototype: TimeZone { .gmt }
}

extension Calendar: Prototyped {
    /// The Gregorian calendar.
    public static var prototype: Calendar { Calendar(identifier: .gregorian) }
}

/// Values for decoding a type, when only its requests matter.
enum SampleValue {
    /// A value of a type that did not accept the made-up values.
    ///
    /// - Parameters:
    ///   - type: the type.
    ///   - turn: the number of the case, if it is an enumeration that can name its cases, which begin again after the
    ///     last one.
    /// - Returns: a value; nil if none can be found.
    static func value<Value>(of type: Value.Type, _ turn: Int) -> Value? {
        if let prototyped = type as? any Prototyped.Type { return prototype(prototyped) as? Value }
        if let vector = type as? any SIMD.Type { return zero(vector) as? Value }
        if let iterable = type as? any CaseIterable.Type { return value(iterable, turn) as? Value }
        return firstCase(type)
    }

    /// The first case of an enumeration without associated values.
    ///
    /// Such an enumeration is stored as its case's number in one byte, or in nothing at all if it has only one case.
    /// The kind of its metadata shows that it is an enumeration. Since it is trivial and small, all zeros are one of
    /// its values.
    static func firstCase<Value>(_ type: Value.Type) -> Value? {
        guard isEnumeration(type), _isPOD(type), MemoryLayout<Value>.size <= 1 else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { bytes in
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            return bytes.load(as: Value.self)
        }
    }

    /// A value of a type of Foundation that stops the program for values that it does not accept, where it should
    /// throw: it is not decoded from made-up ones, and kept as JSON.
    ///
    /// - Parameter type: the type.
    /// - Returns: a value; nil for a type that can be tried.
    static func untried<Value>(_ type: Value.Type) -> Value? {
        switch ObjectIdentifier(type) {
        case ObjectIdentifier(CharacterSet.self): CharacterSet() as? Value
        case ObjectIdentifier(URLComponents.self): URLComponents() as? Value
        default: nil
        }
    }

    private static func prototype<Value: Prototyped>(_ type: Value.Type) -> Any { Value.prototype }

    private static func zero<Value: SIMD>(_ type: Value.Type) -> Any { Value() }

    private static func value<Value: CaseIterable>(_ type: Value.Type, _ turn: Int) -> Any? {
        let cases = Value.allCases
        return cases.isEmpty ? nil : cases.dropFirst(turn % cases.count).first
    }
}
