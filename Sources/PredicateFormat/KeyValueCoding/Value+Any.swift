import Foundation

extension Value {
    /// The operand for any value from a caller: a Swift value, its Foundation counterpart, a collection, an object.
    package init(_ any: Any?) {
        guard let any else {
            self = .null
            return
        }
        // The usual types come first, compared by identity: a failing cast costs more than the whole comparison.
        let type = type(of: any)
        if type == String.self, let value = any as? String {
            self = .string(value)
        } else if type == Int.self, let value = any as? Int {
            self = .integer(Int64(value))
        } else if type == Double.self, let value = any as? Double {
            self = .double(value)
        } else if type == Date.self, let value = any as? Date {
            self = .date(value)
        } else if type == Bool.self, let value = any as? Bool {
            self = .boolean(value)
        } else if type == UUID.self, let value = any as? UUID {
            self = .uuid(value)
        } else if type is NSNumber.Type, let value = any as? NSNumber {
            self = Value.number(value)
        } else if let value = any as? any KeyedOperand {
            self = .object(value)
        } else {
            self = Value.bridged(any)
        }
    }

    /// The operand for a value of an unusual type.
    private static func bridged(_ any: Any) -> Value {
        if let value = any as? any BinaryInteger, !(any is NSNumber) { return integer(of: value) }
        if type(of: any) is any AnyOptional.Type, let optional = any as? any AnyOptional {
            return Value(optional.wrapped)
        }
        switch any {
        case let value as Value: return value
        case let value as Value?: return value ?? .null
        case is NSNull: return .null
        case let value as NSNumber: return number(value)
        case let value as Decimal: return .decimal(NSDecimalNumber(decimal: value))
        case let value as Float: return .double(Double(value))
        case let value as CGFloat: return .double(Double(value))
        case let value as String: return .string(value)
        case let value as any StringProtocol: return .string(String(value))
        case let value as Character: return .string(String(value))
        case let value as Date: return .date(value)
        case let value as UUID: return .uuid(value)
        case let value as URL: return .url(value)
        case let value as Data: return .data(value)
        // A value that a program makes an argument by its raw value's encoding, such as an enumeration of keys.
        case let value as any RawRepresentable & CVarArg: return Value(value.rawValue as Any)
        default: return sequence(any) ?? .object(adapter(for: any))
        }
    }

    private static func integer(of value: any BinaryInteger) -> Value {
        if let integer = Int64(exactly: value) { return .integer(integer) }
        // More than 63 bits: a decimal represents it exactly.
        return .decimal(NSDecimalNumber(string: String(describing: value)))
    }

    private static func number(_ number: NSNumber) -> Value {
        if let decimal = number as? NSDecimalNumber { return .decimal(decimal) }
        switch number.objCType.pointee {
        case 0x66, 0x64: return .double(number.doubleValue)  // "f", "d"
        case 0x51: return integer(of: number.uint64Value)  // "Q"
        default: return .integer(number.int64Value)
        }
    }

    private static func sequence(_ any: Any) -> Value? {
        switch any {
        case let array as [Value]: return .collection(array)
        case let array as NSArray: return .collection(array.map { Value($0) })
        case let set as NSSet: return .collection(set.map { Value($0) })
        case let set as NSOrderedSet: return .collection(set.map { Value($0) })
        case let array as [Any]: return .collection(array.map { Value($0) })
        case is NSDictionary, is [AnyHashable: Any]: return nil
        case let sequence as any Collection: return .collection(elements(of: sequence))
        default: return nil
        }
    }

    private static func elements(of collection: some Collection) -> [Value] {
        collection.map { Value($0) }
    }
}

/// An `Optional` of any type, to unwrap one that was passed as `Any`.
package protocol AnyOptional {
    /// The wrapped value; nil for none.
    var wrapped: Any? { get }
}

extension Optional: AnyOptional {
    package var wrapped: Any? { self }
}

extension Value {
    /// The value in the user's form: numbers as `NSNumber`, collections as arrays, objects without adapters.
    package var any: Any? {
        switch self {
        case .null: nil
        case .integer(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .decimal(let value): value
        case .string(let value): value
        case .date(let value): value
        case .data(let value): value
        case .uuid(let value): value
        case .url(let value): value
        case .collection(let elements): elements.map { $0.any ?? NSNull() }
        case .object(let reference): reference.operand.operandObject
        }
    }
}
