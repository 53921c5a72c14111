import Foundation

/// Builds a keyed archive, object by object. An object that others refer to before it is complete needs a reserved
/// number, so that cycles can be written.
package struct KeyedArchiveBuilder {
    private var objects: [PropertyList] = [.string("$null")]
    private var classes: [[String]: PropertyList] = [:]
    private var scalars: [UniqueScalar: PropertyList] = [:]

    package init() {}

    /// The reference for null.
    package static let null = PropertyList.uid(0)

    var objectCount: Int { objects.count }

    mutating func appendRaw(_ object: PropertyList) { objects.append(object) }

    /// A number for an object that is filled in later.
    package mutating func reserve() -> PropertyList {
        objects.append(.string("$null"))
        return .uid(UInt32(objects.count - 1))
    }

    /// Fills in an object.
    ///
    /// - Parameters:
    ///   - reference: the reference from `reserve`.
    ///   - classNames: the class, then its superclasses.
    ///   - fields: numbers and data directly, everything else as references.
    package mutating func fill(_ reference: PropertyList, classNames: [String], fields: [String: PropertyList]) {
        guard case .uid(let number) = reference, objects.indices.contains(Int(number)) else { return }
        var fields = fields
        fields["$class"] = classReference(classNames)
        objects[Int(number)] = .dictionary(fields)
    }

    /// Adds an object.
    package mutating func add(classNames: [String], fields: [String: PropertyList]) -> PropertyList {
        let reference = reserve()
        fill(reference, classNames: classNames, fields: fields)
        return reference
    }

    /// Adds a string, number or data once, however often it is used; the null reference for nil.
    package mutating func scalar(_ value: PropertyList?) -> PropertyList {
        guard let value, let key = UniqueScalar(value) else { return Self.null }
        if let reference = scalars[key] { return reference }
        objects.append(value)
        let reference = PropertyList.uid(UInt32(objects.count - 1))
        scalars[key] = reference
        return reference
    }

    package mutating func string(_ value: String?) -> PropertyList { scalar(value.map(PropertyList.string)) }

    package mutating func array(_ references: [PropertyList], isMutable: Bool = false) -> PropertyList {
        add(
            classNames: (isMutable ? ["NSMutableArray"] : []) + ["NSArray", "NSObject"],
            fields: ["NS.objects": .array(references)])
    }

    package mutating func set(_ references: [PropertyList], isMutable: Bool = false) -> PropertyList {
        add(
            classNames: (isMutable ? ["NSMutableSet"] : []) + ["NSSet", "NSObject"],
            fields: ["NS.objects": .array(references)])
    }

    package mutating func dictionary(
        _ pairs: [(key: PropertyList, value: PropertyList)], isMutable: Bool = false
    ) -> PropertyList {
        add(
            classNames: (isMutable ? ["NSMutableDictionary"] : []) + ["NSDictionary", "NSObject"],
            fields: ["NS.keys": .array(pairs.map(\.key)), "NS.objects": .array(pairs.map(\.value))])
    }

    /// The archive with one object under `$top`.
    package func archive(root: PropertyList, key: String = "root") -> KeyedArchive {
        KeyedArchive(objects: objects, top: [key: root])
    }

    private mutating func classReference(_ names: [String]) -> PropertyList {
        if let reference = classes[names] { return reference }
        objects.append(
            .dictionary([
                "$classname": .string(names.first ?? "NSObject"), "$classes": .array(names.map(PropertyList.string)),
            ]))
        let reference = PropertyList.uid(UInt32(objects.count - 1))
        classes[names] = reference
        return reference
    }
}

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
            let sorted = value.sorted { "\($0.key)" < "\($1.key)" }
            let keys = try references(sorted.map(\.key.base))
            let values = try references(sorted.map(\.value))
            return dictionary(zip(keys, values).map { (key: $0, value: $1) })
        case .some(let value):
            throw PropertyListError(
                offset: nil, reason: "a \(type(of: value)) is not a value that this module archives")
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
