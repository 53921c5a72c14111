import Foundation
import PredicateFormat

/// Takes the place of a value of a wrong type until validation refuses it: a setter cannot throw, and the value must
/// not be lost.
package final class UnacceptableValue: NSObject {
    package let value: Any
    package init(_ value: Any) { self.value = value }

    /// The value for a message. Foundation stops the program over dates outside all calendars.
    package var text: String { Self.text(of: value) }

    package static func text(of value: Any) -> String {
        guard let date = value as? Date, isDateOutsideCalendars(date) else { return "\(value)" }
        return "\(date.timeIntervalSinceReferenceDate) seconds after the first instant of 2001"
    }

    package static func isDateOutsideCalendars(_ value: Any) -> Bool {
        guard let date = value as? Date else { return false }
        return !(date.timeIntervalSinceReferenceDate.magnitude < 1e12)
    }
}

extension StoredValue {
    /// The stored form of a value that a developer sets.
    ///
    /// A value that the attribute's type does not accept becomes an `UnacceptableValue`, which saving refuses.
    package init(_ value: Any?, for attribute: AttributeLayout) {
        guard let value = Self.unwrapped(value), !(value is NSNull) else {
            self = .null
            return
        }
        self = Self.accepted(value, for: attribute) ?? .object(UnacceptableValue(value))
    }

    /// Unwraps an optional inside an `Any`.
    package static func unwrapped(_ value: Any?) -> Any? {
        guard let value else { return nil }
        if let optional = value as? any AnyOptional { return optional.wrapped.flatMap { unwrapped($0) } }
        return value
    }

    private static func accepted(_ value: Any, for attribute: AttributeLayout) -> StoredValue? {
        switch attribute.type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
            return wholeNumber(value).flatMap { StoredValue(whole: $0, for: attribute.type) }
        case .doubleAttributeType: return doubleValue(value).map(StoredValue.double)
        case .floatAttributeType:
            guard let number = doubleValue(value), number.isInfinite || Float(number).isFinite else { return nil }
            return .double(Double(Float(number)))
        case .stringAttributeType:
            if let string = value as? String { return .string(string) }
            return (value as? NSString).map { .string($0.description) }
        case .dateAttributeType:
            guard let seconds = (value as? Date)?.timeIntervalSinceReferenceDate, seconds.isFinite else { return nil }
            return .date(seconds)
        case .binaryDataAttributeType: return (value as? Data).map(StoredValue.data)
        case .UUIDAttributeType: return (value as? UUID).map(StoredValue.uuid)
        case .URIAttributeType:
            if let url = value as? URL { return .object(url as NSURL) }
            return (value as? NSURL).map(StoredValue.object)
        case .decimalAttributeType: return decimalValue(value).map(StoredValue.object)
        case .compositeAttributeType: return composite(value, attribute)
        case .objectIDAttributeType: return (value as? NSManagedObjectID).map(StoredValue.identifier)
        case .transformableAttributeType, .undefinedAttributeType:
            return .object((value as? NSObject) ?? AnyValueBox(value))
        }
    }

    /// A whole number as stored by an integer or Boolean attribute; nil if it is outside the type's range, and for
    /// attributes of other types.
    @inline(__always)
    package init?(whole number: Int64, for type: NSAttributeType) {
        switch type {
        case .integer64AttributeType: break
        case .integer32AttributeType: guard Int32(exactly: number) != nil else { return nil }
        case .integer16AttributeType: guard Int16(exactly: number) != nil else { return nil }
        case .booleanAttributeType:
            self = .integer(number == 0 ? 0 : 1)
            return
        default: return nil
        }
        self = .integer(number)
    }

    /// A number without a fraction that fits 64 bits; nothing is rounded or truncated.
    private static func wholeNumber(_ value: Any) -> Int64? {
        switch value {
        case let number as Int: Int64(number)
        case let flag as Bool: flag ? 1 : 0
        case let number as Int64: number
        case let number as Int32: Int64(number)
        case let number as Int16: Int64(number)
        case let number as any BinaryInteger: Int64(exactly: number)
        case let number as any BinaryFloatingPoint: Int64(exactly: Double(number))
        // The text of a decimal number is a whole number exactly if the decimal is one.
        case let number as Decimal: Int64(number.description)
        case let number as NSDecimalNumber: Int64(number.decimalValue.description)
        case let number as NSNumber: number.isFloatingPoint ? Int64(exactly: number.doubleValue) : whole(number)
        default: nil
        }
    }

    private static func whole(_ number: NSNumber) -> Int64? {
        let isUnsigned = number.objCType.pointee == UInt8(ascii: "Q")
        return isUnsigned ? Int64(exactly: number.uint64Value) : number.int64Value
    }

    /// A floating-point number, except NaN, which no store can keep.
    private static func doubleValue(_ value: Any) -> Double? {
        let number: Double? =
            switch value {
            case let number as Double where type(of: value) == Double.self: number
            // Before the casts to Swift's numbers, which take the `doubleValue` of a decimal.
            case let number as NSNumber where type(of: value) is NSNumber.Type: number.nearestDouble
            case let number as Float: Double(number)
            case let number as Int: Double(number)
            case let number as Decimal: NSDecimalNumber(decimal: number).nearestDouble
            case let number as any BinaryInteger: Double(number)
            case let number as any BinaryFloatingPoint: Double(number)
            default: nil
            }
        return number.flatMap { $0.isNaN ? nil : $0 }
    }

    private static func decimalValue(_ value: Any) -> NSDecimalNumber? {
        let number: NSDecimalNumber? =
            switch value {
            case let decimal as Decimal: NSDecimalNumber(decimal: decimal)
            case let number as NSDecimalNumber: number
            case let number as NSNumber where !number.doubleValue.isFinite: nil
            case let number as NSNumber: NSDecimalNumber(decimal: number.decimalValue)
            default: nil
            }
        return number.flatMap { $0.decimalValue.isNaN ? nil : $0 }
    }

    private static func composite(_ value: Any, _ attribute: AttributeLayout) -> StoredValue? {
        guard let dictionary = value as? [String: Any] else { return nil }
        let known = Set(attribute.elements.map(\.name))
        guard dictionary.keys.allSatisfy(known.contains) else { return nil }
        for element in attribute.elements {
            guard let inner = dictionary[element.name] else { continue }
            if case .object(let object) = StoredValue(inner, for: element), object is UnacceptableValue { return nil }
        }
        return .object(CompositeValue(dictionary))
    }

    /// The value in key-value coding: an `NSNumber` for numbers and Booleans, `nil` for none.
    package func objectValue(for attribute: AttributeLayout) -> Any? {
        switch self {
        case .null: return nil
        case .integer(let number):
            switch attribute.type {
            case .booleanAttributeType: return NSNumber(value: number != 0)
            // Somebody else may have written a number outside the type's range, which is then returned as it is.
            case .integer16AttributeType: return Int16(exactly: number).map(NSNumber.init) ?? NSNumber(value: number)
            case .integer32AttributeType: return Int32(exactly: number).map(NSNumber.init) ?? NSNumber(value: number)
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
                unavailable.report()
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

extension NSNumber {
    /// Whether the number was made from a `Double` or a `Float`.
    package var isFloatingPoint: Bool {
        let type = objCType.pointee
        return type == 0x64 || type == 0x66  // "d", "f"
    }
}

extension UnacceptableValue {
    /// Why an attribute does not accept the value: Core Data's code, and what the attribute expects.
    package func refusal(by attribute: AttributeLayout) -> (code: Int, wanted: String) {
        let range = attribute.type.wholeNumbers
        let number = (value as? NSNumber)?.doubleValue
        if let range, let number, number.rounded() == number || number.magnitude >= 0x1p63 {
            let isTooLarge = number > 0
            return (
                isTooLarge ? CoreDataErrorCode.validationNumberTooLarge : CoreDataErrorCode.validationNumberTooSmall,
                "a number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        let code = CoreDataErrorCode.managedObjectValidation
        if range != nil { return (code, number == nil ? "a whole number" : "a number without a fraction") }
        if number?.isNaN ?? false { return (code, "a number, which NaN is not") }
        if let date = value as? Date, !date.timeIntervalSinceReferenceDate.isFinite {
            return (code, "a date that is a number of seconds from another")
        }
        if attribute.type == .floatAttributeType, number != nil {
            let isTooLarge = number ?? 0 > 0
            return (
                isTooLarge ? CoreDataErrorCode.validationNumberTooLarge : CoreDataErrorCode.validationNumberTooSmall,
                "a number of at most \(Float.greatestFiniteMagnitude)"
            )
        }
        return (code, attribute.valueClassName ?? "\(attribute.type)")
    }
}

/// Takes the place of a property whose place in an existing store is unknown. It reports that when the value is read.
package final class UnavailableValue: NSObject, @unchecked Sendable {
    // @unchecked Sendable: `isReported` is guarded by the lock.

    /// The reason, as a sentence that names the store, the entity and the property.
    package let reason: String
    private let lock = NSLock()
    private var isReported = false

    package init(_ reason: String) { self.reason = reason }

    package override var description: String { reason }

    /// Writes the reason to standard error, once, since a property cannot throw.
    package func report() {
        lock.lock()
        defer { lock.unlock() }
        guard !isReported else { return }
        isReported = true
        try? FileHandle.standardError.write(contentsOf: Data("CoreData: error: \(reason)\n".utf8))
    }
}
