import Foundation
import Ordering

extension KeyedArchiveBuilder {
    /// Adds a Foundation value of the kinds that `ArchivedValue.foundationValue()` reads, as `NSKeyedArchiver` does.
    ///
    /// - Throws: `PropertyListError` naming the type of a value of any other kind.
    package mutating func foundationValue(_ value: Any?) throws(PropertyListError) -> PropertyList {
        switch value {
        case nil: return Self.null
        case let value as NSDecimalNumber: return decimalNumber(value)
        case let value as NSNumber: return scalar(PropertyList.number(value))
        case let value as String: return string(value)
        case let value as Data: return scalar(.data(value))
        case let value as Date:
            let seconds = PropertyList.real(value.timeIntervalSinceReferenceDate)
            return add(classNames: ["NSDate", "NSObject"], fields: ["NS.time": seconds])
        case let value as UUID:
            let bytes = withUnsafeBytes(of: value.uuid) { Data($0) }
            return add(classNames: ["NSUUID", "NSObject"], fields: ["NS.uuidbytes": .data(bytes)])
        case let value as URL:
            let base = try foundationValue(value.baseURL)
            let relative = string(value.relativeString)
            return add(classNames: ["NSURL", "NSObject"], fields: ["NS.base": base, "NS.relative": relative])
        case is NSNull:
            return add(classNames: ["NSNull", "NSObject"], fields: [:])
        case let value as [Any]:
            return array(try references(value))
        case let value as NSSet:
            return set(try references(value.allObjects))
        case let value as [AnyHashable: Any]:
            let sorted = value.ordered { "\($0.key)" < "\($1.key)" }
            let keys = try references(sorted.map(\.key.base))
            let values = try references(sorted.map(\.value))
            return dictionary(zip(keys, values).map { (key: $0, value: $1) })
        case .some(let value):
            throw PropertyListError(offset: nil, reason: "a \(type(of: value)) is no value that this module archives")
        }
    }

    private mutating func references(_ values: [Any]) throws(PropertyListError) -> [PropertyList] {
        var references: [PropertyList] = []
        for value in values { references.append(try foundationValue(value)) }
        return references
    }

    private mutating func decimalNumber(_ number: NSDecimalNumber) -> PropertyList {
        let decimal = number.decimalValue
        var digits: [UInt16] = []
        var rest = decimal.isNaN ? 0 : decimal.significand.magnitude
        let base = Decimal(65536)
        // The mantissa of a decimal is an integer of at most 128 bits.
        while rest > 0, digits.count < 8 {
            var quotient = rest / base
            var whole = Decimal()
            NSDecimalRound(&whole, &quotient, 0, .down)
            digits.append(UInt16(truncatingIfNeeded: NSDecimalNumber(decimal: rest - whole * base).intValue))
            rest = whole
        }
        let padded = digits + Array(repeating: 0, count: 8 - digits.count)
        let bytes = padded.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        return add(
            classNames: ["NSDecimalNumber", "NSNumber", "NSValue", "NSObject"],
            fields: [
                "NS.mantissa": .data(Data(bytes)), "NS.mantissa.bo": .integer(1),
                "NS.length": .integer(Int64(digits.count)),
                "NS.exponent": .integer(decimal.isNaN ? 0 : Int64(decimal.exponent)),
                "NS.negative": .boolean(decimal.isNaN || decimal.isSignMinus), "NS.compact": .boolean(true),
            ])
    }
}
