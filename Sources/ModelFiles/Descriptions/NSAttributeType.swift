import Foundation

/// The type of an attribute's value. The raw values are those of Apple's model files.
public enum NSAttributeType: UInt, Sendable, CaseIterable {
    /// No type yet; allowed for transient attributes only.
    case undefinedAttributeType = 0
    /// A 16-bit signed integer.
    case integer16AttributeType = 100
    /// A 32-bit signed integer.
    case integer32AttributeType = 200
    /// A 64-bit signed integer.
    case integer64AttributeType = 300
    /// A decimal number, an `NSDecimalNumber`.
    case decimalAttributeType = 400
    /// A double-precision number.
    case doubleAttributeType = 500
    /// A single-precision number.
    case floatAttributeType = 600
    /// A string.
    case stringAttributeType = 700
    /// A Boolean.
    case booleanAttributeType = 800
    /// A date, stored as seconds since 2001-01-01 00:00 UTC.
    case dateAttributeType = 900
    /// Bytes.
    case binaryDataAttributeType = 1000
    /// A UUID, stored as its 16 bytes.
    case UUIDAttributeType = 1100
    /// A URL, stored as its string.
    case URIAttributeType = 1200
    /// Any value that a value transformer turns into bytes.
    case transformableAttributeType = 1800
    /// The ID of a managed object; for expression results only.
    case objectIDAttributeType = 2000
    /// A value made of named elements.
    case compositeAttributeType = 2100
}

// What types have in common, for code that treats several of them alike: each new type is classified here.
extension NSAttributeType {
    /// Whether the values are numbers, which Booleans are not.
    package var isNumber: Bool {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
            .doubleAttributeType, .floatAttributeType:
            true
        case .undefinedAttributeType, .stringAttributeType, .booleanAttributeType, .dateAttributeType,
            .binaryDataAttributeType, .UUIDAttributeType, .URIAttributeType, .transformableAttributeType,
            .objectIDAttributeType, .compositeAttributeType:
            false
        }
    }

    /// The numbers that a type of whole numbers holds; nil for other types.
    package var wholeNumbers: ClosedRange<Int64>? {
        switch self {
        case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
        case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
        case .integer64AttributeType: .min ... .max
        default: nil
        }
    }

    /// Whether each value is a single one of a known class: no collection, no composite, and no object of any class.
    package var isPlain: Bool { self != .compositeAttributeType && valueClassName != nil }

    /// Whether the values have an order that people know: all plain ones but bytes.
    package var isOrdered: Bool { isPlain && self != .binaryDataAttributeType }

    /// The class of the values, by its name in Apple's model files.
    package var valueClassName: String? {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType, .booleanAttributeType:
            return "NSNumber"
        case .decimalAttributeType: return "NSDecimalNumber"
        case .stringAttributeType: return "NSString"
        case .dateAttributeType: return "NSDate"
        case .binaryDataAttributeType: return "NSData"
        case .UUIDAttributeType: return "NSUUID"
        case .URIAttributeType: return "NSURL"
        case .compositeAttributeType: return "NSDictionary"
        case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType: return nil
        }
    }
}

/// How a fetch index orders an element.
public enum NSFetchIndexElementType: UInt, Sendable {
    /// A B-tree over the value.
    case binary = 0
    /// A spatial index over numbers.
    case rTree = 1
}

/// What happens to the objects at the other end of a relationship when an object is deleted.
public enum NSDeleteRule: UInt, Sendable {
    /// Nothing: the others may be left pointing at a deleted object.
    case noActionDeleteRule = 0
    /// The others lose their reference to the object.
    case nullifyDeleteRule = 1
    /// The others are deleted too.
    case cascadeDeleteRule = 2
    /// The object cannot be deleted while there are others.
    case denyDeleteRule = 3
}
