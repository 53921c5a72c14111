import CoreData

/// A type of values that a store has a type of attribute for.
protocol StoredPrimitive: Codable, Sendable {
    static var attributeType: NSAttributeType { get }
    /// The value of a column; nil for one of another type.
    init?(stored: StoredValue)
    /// Nil for a value that the attribute's type cannot hold.
    var stored: StoredValue? { get }
    /// A value for a property that has none in the store, because others removed it.
    static var absent: Self { get }
    /// A value that few computations leave as it is.
    static var sample: Self { get }
}

extension StoredPrimitive {
    /// The value in key-value coding, for an element of a composite attribute or of a collection.
    var object: Any {
        switch stored {
        case .integer(let number)?:
            Self.attributeType == .booleanAttributeType ? NSNumber(value: number != 0) : NSNumber(value: number)
        case .double(let number)?:
            Self.attributeType == .floatAttributeType ? NSNumber(value: Float(number)) : NSNumber(value: number)
        case .object(let object)?: (object as? NSURL).map { $0 as URL as Any } ?? object
        case .string(let text)?: text
        case .date, .data, .uuid: self
        case .null?, .identifier?, nil: UnacceptableValue(self)
        }
    }

    /// The value of an object in key-value coding; nil for one of another type.
    init?(object: Any) {
        let stored: StoredValue
        switch object {
        case let value as Self:
            self = value
            return
        case let text as String: stored = .string(text)
        case let number as NSNumber:
            stored = number.isFloatingPoint ? .double(number.doubleValue) : .integer(number.int64Value)
        case let object as NSObject: stored = .object(object)
        default: return nil
        }
        self.init(stored: stored)
    }
}

/// Whole numbers: the narrowest attribute that holds all values of the type, except unsigned ones of 64 bits.
protocol StoredInteger: StoredPrimitive, FixedWidthInteger {}

extension StoredInteger {
    init?(stored: StoredValue) {
        switch stored {
        case .integer(let number): self.init(exactly: number)
        case .double(let number): self.init(exactly: number)
        default: return nil
        }
    }

    var stored: StoredValue? { Int64(exactly: self).map { .integer($0) } }

    static var absent: Self { 0 }
    static var sample: Self { 101 }
}

extension Int: StoredInteger { static var attributeType: NSAttributeType { .integer64AttributeType } }
extension Int8: StoredInteger { static var attributeType: NSAttributeType { .integer16AttributeType } }
extension Int16: StoredInteger { static var attributeType: NSAttributeType { .integer16AttributeType } }
extension Int32: StoredInteger { static var attributeType: NSAttributeType { .integer32AttributeType } }
extension Int64: StoredInteger { static var attributeType: NSAttributeType { .integer64AttributeType } }
extension UInt: StoredInteger { static var attributeType: NSAttributeType { .integer64AttributeType } }
extension UInt8: StoredInteger { static var attributeType: NSAttributeType { .integer16AttributeType } }
extension UInt16: StoredInteger { static var attributeType: NSAttributeType { .integer32AttributeType } }
extension UInt32: StoredInteger { static var attributeType: NSAttributeType { .integer64AttributeType } }
extension UInt64: StoredInteger { static var attributeType: NSAttributeType { .integer64AttributeType } }

extension Bool: StoredPrimitive {
    static var attributeType: NSAttributeType { .booleanAttributeType }
    static var absent: Bool { false }
    static var sample: Bool { true }

    init?(stored: StoredValue) {
        guard case .integer(let number) = stored else { return nil }
        self = number != 0
    }

    var stored: StoredValue? { .integer(self ? 1 : 0) }
}

extension Double: StoredPrimitive {
    static var attributeType: NSAttributeType { .doubleAttributeType }
    static var absent: Double { 0 }
    static var sample: Double { 0.6180339887 }

    init?(stored: StoredValue) {
        switch stored {
        case .double(let number): self = number
        case .integer(let number): self = Double(number)
        default: return nil
        }
    }

    var stored: StoredValue? { .double(self) }
}

extension Float: StoredPrimitive {
    static var attributeType: NSAttributeType { .floatAttributeType }
    static var absent: Float { 0 }
    static var sample: Float { 0.618034 }

    init?(stored: StoredValue) {
        guard let number = Double(stored: stored) else { return nil }
        self = Float(number)
    }

    var stored: StoredValue? { .double(Double(self)) }
}

extension String: StoredPrimitive {
    static var attributeType: NSAttributeType { .stringAttributeType }
    static var absent: String { "" }
    static var sample: String { " sAmple\u{301} " }

    init?(stored: StoredValue) {
        guard case .string(let text) = stored else { return nil }
        self = text
    }

    var stored: StoredValue? { .string(self) }
}

extension Date: StoredPrimitive {
    static var attributeType: NSAttributeType { .dateAttributeType }
    static var absent: Date { Date(timeIntervalSinceReferenceDate: 0) }
    static var sample: Date { Date(timeIntervalSinceReferenceDate: 12_345.678) }

    init?(stored: StoredValue) {
        guard case .date(let seconds) = stored else { return nil }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }

    var stored: StoredValue? {
        let seconds = timeIntervalSinceReferenceDate
        return seconds.isFinite ? .date(seconds) : nil
    }
}

extension Data: StoredPrimitive {
    static var attributeType: NSAttributeType { .binaryDataAttributeType }
    static var absent: Data { Data() }
    static var sample: Data { Data([1, 0, 2]) }

    init?(stored: StoredValue) {
        guard case .data(let bytes) = stored else { return nil }
        self = bytes
    }

    var stored: StoredValue? { .data(self) }
}

extension UUID: StoredPrimitive {
    static var attributeType: NSAttributeType { .UUIDAttributeType }
    static var absent: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    static var sample: UUID { UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)) }

    init?(stored: StoredValue) {
        guard case .uuid(let uuid) = stored else { return nil }
        self = uuid
    }

    var stored: StoredValue? { .uuid(self) }
}

extension URL: StoredPrimitive {
    static var attributeType: NSAttributeType { .URIAttributeType }
    static var absent: URL { URL(fileURLWithPath: "/") }
    static var sample: URL { URL(fileURLWithPath: "/sAmple/./path") }

    init?(stored: StoredValue) {
        guard case .object(let object as NSURL) = stored else { return nil }
        self = object as URL
    }

    var stored: StoredValue? { .object(self as NSURL) }
}

extension Decimal: StoredPrimitive {
    static var attributeType: NSAttributeType { .decimalAttributeType }
    static var absent: Decimal { 0 }
    static var sample: Decimal { Decimal(sign: .minus, exponent: -3, significand: 618) }

    init?(stored: StoredValue) {
        switch stored {
        case .object(let number as NSDecimalNumber): self = number.decimalValue
        case .integer(let number): self = Decimal(number)
        case .double(let number): self = Decimal(number)
        default: return nil
        }
    }

    var stored: StoredValue? { .object(NSDecimalNumber(decimal: self)) }
}
