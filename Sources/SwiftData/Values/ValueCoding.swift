import CoreData
import Synchronization

/// Converts the values of one type to what a store keeps for an attribute, and back.
class ValueCoding<Value> {
    /// The stored form. A value that the attribute cannot hold is kept as it is, and refused by the save.
    func stored(_ value: Value) -> StoredValue { .object(UnacceptableValue(value)) }

    /// The value of a stored form.
    ///
    /// - Throws: the errors of decoding, and one for a stored form of another type, or none.
    func value(of stored: StoredValue) throws -> Value { throw mismatch(stored) }

    fileprivate final func mismatch(_ stored: StoredValue) -> DecodingError {
        DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: [], debugDescription: "\(stored) is not a value of \(Value.self)."))
    }

    /// Whether a stored form is that of a value.
    final func reads(_ stored: StoredValue) -> Bool {
        do {
            _ = try value(of: stored)
            return true
        } catch { return false }
    }

    /// A value that could not be stored, which is shown until the save refuses it.
    fileprivate final func refused(_ stored: StoredValue) -> Value? {
        if case .object(let refused as UnacceptableValue) = stored { refused.value as? Value } else { nil }
    }

    /// A value for an attribute that has none in the store; nil if the type has none to offer.
    var absent: Value? { nil }

    /// A value of the type, whatever it says, for an attribute of which nothing can be read; nil if there is none.
    var placeholder: Value? { EmptyValue.value(of: Value.self) }

    /// A value that few computations leave as it is; nil if the type has none to offer.
    var sample: Value? { absent }
}

/// Tells whether values can be read, whatever their type.
protocol StoredFormReading: AnyObject {
    func reads(_ stored: StoredValue) -> Bool
    /// Whether there is a value to show where none can be read.
    var hasPlaceholder: Bool { get }
}

extension ValueCoding: StoredFormReading {
    final var hasPlaceholder: Bool { absent != nil || placeholder != nil }
}

private final class PrimitiveCoding<Value: StoredPrimitive>: ValueCoding<Value> {
    override func stored(_ value: Value) -> StoredValue { value.stored ?? .object(UnacceptableValue(value)) }
    override func value(of stored: StoredValue) throws -> Value {
        if let value = Value(stored: stored) ?? refused(stored) { return value }
        throw mismatch(stored)
    }
    override var absent: Value? { Value.absent }
    override var sample: Value? { Value.sample }
}

private final class OptionalCoding<Wrapped>: ValueCoding<Wrapped?> {
    private let wrapped: ValueCoding<Wrapped>

    init(_ wrapped: ValueCoding<Wrapped>) { self.wrapped = wrapped }

    override func stored(_ value: Wrapped?) -> StoredValue { value.map(wrapped.stored) ?? .null }
    override func value(of stored: StoredValue) throws -> Wrapped? {
        stored.isNull ? nil : try wrapped.value(of: stored)
    }
    override var absent: Wrapped?? { .some(.none) }
    override var sample: Wrapped?? { wrapped.sample.map { .some($0) } }
}

private final class CompositeCoding<Value: Codable>: ValueCoding<Value> {
    private let shape: CompositeShape

    init(_ shape: CompositeShape) { self.shape = shape }

    override func stored(_ value: Value) -> StoredValue {
        guard let elements = try? CompositeEncoder.elements(of: value, shape) else { return super.stored(value) }
        return .object(CompositeValue(elements))
    }

    override func value(of stored: StoredValue) throws -> Value {
        switch stored {
        case .object(let composite as CompositeValue):
            return try CompositeDecoder.value(Value.self, of: composite.elements, shape)
        // All elements are NULL.
        case .null: return try CompositeDecoder.value(Value.self, of: [:], shape)
        default:
            if let value = refused(stored) { return value }
            throw mismatch(stored)
        }
    }

    override var absent: Value? { try? CompositeDecoder.value(Value.self, of: shape.sample, shape) }
}

/// Values as JSON: in a column of bytes, or as the object of a transformable attribute, which is kept as an archive.
private final class JSONValueCoding<Value: Codable>: ValueCoding<Value> {
    private let isArchived: Bool

    init(isArchived: Bool) { self.isArchived = isArchived }

    override func stored(_ value: Value) -> StoredValue {
        guard let data = try? JSONCoding.data(of: value) else { return super.stored(value) }
        return isArchived ? .object(NSData(data: data)) : .data(data)
    }
    override func value(of stored: StoredValue) throws -> Value {
        switch stored {
        case .data(let data) where !isArchived: return try JSONCoding.value(Value.self, in: data)
        case .object(let data as NSData): return try JSONCoding.value(Value.self, in: Data(referencing: data))
        default:
            if let value = refused(stored) { return value }
            throw mismatch(stored)
        }
    }
    override var absent: Value? {
        let empty = ["[]", "{}"].lazy.compactMap { try? JSONCoding.value(Value.self, in: Data($0.utf8)) }
        return empty.first
    }
}

/// Values that a transformer makes bytes of: the attribute holds the value itself.
///
/// Nobody can make a value of such a type but the program: the first that it had stands in for those that cannot be
/// read.
private final class TransformableCoding<Value>: ValueCoding<Value> {
    private let first = Mutex<First?>(nil)

    private struct First: @unchecked Sendable {
        // @unchecked Sendable: shown only where a value of the type must be; the program's values may be shared anyway.
        let value: Value
    }

    override func stored(_ value: Value) -> StoredValue {
        note(value)
        return .object((value as? NSObject) ?? AnyValueBox(value))
    }

    override func value(of stored: StoredValue) throws -> Value {
        guard case .object(let object) = stored, let value = ((object as? AnyValueBox)?.value ?? object) as? Value
        else {
            throw mismatch(stored)
        }
        note(value)
        return value
    }

    override var placeholder: Value? { super.placeholder ?? first.withLock { $0?.value } }

    private func note(_ value: Value) {
        let noted = First(value: value)
        first.withLock { if $0 == nil { $0 = noted } }
    }
}

/// The coding of an attribute, whose type is only known at run time.
enum ValueCodings {
    /// - Parameters:
    ///   - type: the type of the property, which may be optional.
    ///   - shape: how values are kept.
    /// - Returns: a `ValueCoding` of the type; nil for a type that is not `Codable` where it must be.
    static func coding(of type: Any.Type, _ shape: AttributeShape) -> AnyObject? {
        if let optional = type as? any AnyOptionalCoding.Type { return optional.coding(shape) }
        return wrapped(type, shape)
    }

    fileprivate static func wrapped(_ type: Any.Type, _ shape: AttributeShape) -> AnyObject? {
        switch shape {
        case .primitive(let primitive): return Self.primitive(primitive)
        case .archive: return (type as? any Codable.Type).map { json($0, isArchived: true) }
        case .composite(let shape): return (type as? any Codable.Type).map { composite($0, shape) }
        case .json: return (type as? any Codable.Type).map { json($0, isArchived: false) }
        case .transformable:
            func coding<Value>(_ type: Value.Type) -> AnyObject { TransformableCoding<Value>() }
            return _openExistential(type, do: coding)
        }
    }

    private static func primitive<Value: StoredPrimitive>(_ type: Value.Type) -> AnyObject { PrimitiveCoding<Value>() }
    private static func json<Value: Codable>(_ type: Value.Type, isArchived: Bool) -> AnyObject {
        JSONValueCoding<Value>(isArchived: isArchived)
    }
    private static func composite<Value: Codable>(_ type: Value.Type, _ shape: CompositeShape) -> AnyObject {
        CompositeCoding<Value>(shape)
    }
}

private protocol AnyOptionalCoding {
    static func coding(_ shape: AttributeShape) -> AnyObject?
}

extension Optional: AnyOptionalCoding {
    fileprivate static func coding(_ shape: AttributeShape) -> AnyObject? {
        (ValueCodings.wrapped(Wrapped.self, shape) as? ValueCoding<Wrapped>).map { OptionalCoding($0) }
    }
}
