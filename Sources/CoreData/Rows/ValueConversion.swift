import Foundation

/// Stands in a slot for a value of a wrong type until validation refuses it: setting must not throw, and nothing may
/// be lost.
package final class UnacceptableValue: NSObject {
    package let value: Any
    package init(_ value: Any) { self.value = value }
}

extension StoredValue {
    /// The stored form of what a developer sets.
    ///
    /// A value that the attribute's type does not accept becomes an `UnacceptableValue`, which saving refuses.
    package init(_ value: Any?, for attribute: AttributeLayout) {
        guard let value = Self.unwrapped(value), !(value is NSNull) else {
            self = .null
            return
        }
        self = Self.accepted(value, for: attribute) ?? .object(UnacceptableValue(value))
    }

    /// Looks through an optional inside an `Any`.
    static func unwrapped(_ value: Any?) -> Any? {
        guard let value else { return nil }
        if let optional = value as? any OptionalValue { return optional.anyValue.flatMap { unwrapped($0) } }
        return value
    }

    private static func accepted(_ value: Any, for attribute: AttributeLayout) -> StoredValue? {
        switch attribute.type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
            return integerValue(value)
        case .doubleAttributeType: return doubleValue(value).map(StoredValue.double)
        case .floatAttributeType: return doubleValue(value).map { .double(Double(Float($0))) }
        case .stringAttributeType:
            if let string = value as? String { return .string(string) }
            return (value as? NSString).map { .string($0.description) }
        case .dateAttributeType:
            return (value as? Date).map { .date($0.timeIntervalSinceReferenceDate) }
        case .binaryDataAttributeType: return (value as? Data).map(StoredValue.data)
        case .UUIDAttributeType: return (value as? UUID).map(StoredValue.uuid)
        case .URIAttributeType:
            if let url = value as? URL { return .object(url as NSURL) }
            return (value as? NSURL).map(StoredValue.object)
        case .decimalAttributeType:
            if let decimal = value as? Decimal { return .object(NSDecimalNumber(decimal: decimal)) }
            if let number = value as? NSDecimalNumber { return .object(number) }
            if let number = value as? NSNumber { return .object(NSDecimalNumber(decimal: number.decimalValue)) }
            return nil
        case .compositeAttributeType: return composite(value, attribute)
        case .objectIDAttributeType: return (value as? NSManagedObjectID).map(StoredValue.identifier)
        case .transformableAttributeType, .undefinedAttributeType:
            return .object((value as? NSObject) ?? AnyValueBox(value))
        }
    }

    /// Not named `integer`: inside, `.integer(…)` would mean this function instead of the case, and never end.
    private static func integerValue(_ value: Any) -> StoredValue? {
        switch value {
        case let number as Int: return .integer(Int64(number))
        case let flag as Bool: return .integer(flag ? 1 : 0)
        case let number as Int64: return .integer(number)
        case let number as Int32: return .integer(Int64(number))
        case let number as Int16: return .integer(Int64(number))
        case let number as NSNumber: return .integer(number.int64Value)
        case let number as any BinaryInteger: return Int64(exactly: number).map(StoredValue.integer)
        case let number as any BinaryFloatingPoint:
            return Int64(exactly: Double(number).rounded(.towardZero)).map(StoredValue.integer)
        default: return nil
        }
    }

    private static func doubleValue(_ value: Any) -> Double? {
        switch value {
        case let number as Double: return number
        case let number as Float: return Double(number)
        case let number as Int: return Double(number)
        case let number as NSNumber: return number.doubleValue
        case let number as Decimal: return NSDecimalNumber(decimal: number).doubleValue
        case let number as any BinaryInteger: return Double(number)
        default: return nil
        }
    }

    private static func composite(_ value: Any, _ attribute: AttributeLayout) -> StoredValue? {
        guard let dictionary = value as? [String: Any] else { return nil }
        let known = Set(attribute.elements.map(\.name))
        guard dictionary.keys.allSatisfy(known.contains) else { return nil }
        return .object(CompositeValue(dictionary))
    }

    /// The value as key-value coding gives it: an `NSNumber` for numbers and Booleans, `nil` for none.
    package func objectValue(for attribute: AttributeLayout) -> Any? {
        switch self {
        case .null: return nil
        case .integer(let number):
            switch attribute.type {
            case .booleanAttributeType: return NSNumber(value: number != 0)
            case .integer16AttributeType: return NSNumber(value: Int16(truncatingIfNeeded: number))
            case .integer32AttributeType: return NSNumber(value: Int32(truncatingIfNeeded: number))
            default: return NSNumber(value: number)
            }
        case .double(let number):
            return attribute.type == .floatAttributeType ? NSNumber(value: Float(number)) : NSNumber(value: number)
        case .string(let string): return string
        case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): return data
        case .uuid(let uuid): return uuid
        case .identifier(let identifier): return identifier
        case .object(let object):
            switch object {
            case let url as NSURL: return url as URL
            case let box as AnyValueBox: return box.value
            case is MissingExternalData: return nil
            case let composite as CompositeValue: return composite.elements
            case let unacceptable as UnacceptableValue: return unacceptable.value
            case let unavailable as UnavailableValue:
                unavailable.tell()
                return nil
            default: return object
            }
        }
    }
}

/// A transformable value that is not an object (an array, a struct): boxed so that it fits a slot.
package final class AnyValueBox: NSObject {
    package let value: Any
    package init(_ value: Any) { self.value = value }

    package override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? AnyValueBox else { return false }
        guard let mine = value as? any Equatable else { return false }
        return isEqual(mine, to: other.value)
    }

    private func isEqual<Mine: Equatable>(_ mine: Mine, to other: Any) -> Bool { (other as? Mine) == mine }
}

/// The value of a composite attribute.
package final class CompositeValue: NSObject {
    package let elements: [String: Any]
    package init(_ elements: [String: Any]) { self.elements = elements }

    package override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CompositeValue else { return false }
        return NSDictionary(dictionary: elements).isEqual(to: other.elements)
    }
}

/// Lets an `Any` that holds an optional be looked into.
private protocol OptionalValue {
    var anyValue: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var anyValue: Any? { map { $0 } }
}
