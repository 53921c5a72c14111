import Foundation

extension PropertyList {
    /// The value as Foundation's objects: `NSNumber`, `String`, `Data`, `Date`, arrays and dictionaries. A reference
    /// becomes the dictionary `["CF$UID": number]`, as XML property lists write it.
    package var foundationObject: Any {
        switch self {
        case .boolean(let value): NSNumber(value: value)
        case .integer(let value): NSNumber(value: value)
        case .unsignedInteger(let value): NSNumber(value: value)
        case .real(let value): NSNumber(value: value)
        case .date(let value): value
        case .data(let value): value
        case .string(let value): value
        case .uid(let value): ["CF$UID": NSNumber(value: value)]
        case .array(let values): values.map(\.foundationObject)
        case .dictionary(let values): values.mapValues(\.foundationObject)
        }
    }

    /// The property list for Foundation's objects.
    ///
    /// - Throws: `PropertyListError` naming the class of an object that no property list can hold, or the path to it.
    package init(foundationObject object: Any) throws(PropertyListError) {
        try self.init(object, path: [])
    }

    private init(_ object: Any, path: [String]) throws(PropertyListError) {
        let place = path.isEmpty ? "at the top" : "at “\(path.joined(separator: "."))”"
        guard path.count < PropertyListLimits().depth else {
            throw PropertyListError(offset: nil, reason: "it nests deeper than \(path.count) levels")
        }
        switch object {
        case let value as PropertyList:
            self = value
        case let value as NSNumber:
            self = Self.number(value)
        case let value as String:
            self = .string(value)
        case let value as Data:
            self = .data(value)
        case let value as Date:
            self = .date(value)
        case let values as [Any]:
            var result: [PropertyList] = []
            for (index, value) in values.enumerated() {
                result.append(try PropertyList(value, path: path + ["\(index)"]))
            }
            self = .array(result)
        case let values as [AnyHashable: Any]:
            var result: [String: PropertyList] = [:]
            for (key, value) in values {
                guard let name = key.base as? String else {
                    throw PropertyListError(
                        offset: nil, reason: "the dictionary \(place) has a key that is not a string")
                }
                result[name] = try PropertyList(value, path: path + [name])
            }
            self = .dictionary(result)
        default:
            throw PropertyListError(offset: nil, reason: "the value \(place) is a \(type(of: object))")
        }
    }

    /// Reads a binary or an XML property list; `nil` for anything else.
    ///
    /// - Throws: `PropertyListError` for a damaged binary one.
    package init?(data: Data) throws(PropertyListError) {
        if Self.isBinary(data) {
            try self.init(binary: data)
            return
        }
        guard let object = try? PropertyListSerialization.propertyList(from: data, format: nil) else { return nil }
        try self.init(foundationObject: object)
    }

    /// The objects of a binary or an XML property list, as `foundationObject` has them; `nil` for anything else.
    ///
    /// Foundation reads a binary list without any limit, and makes a shared part anew for each of its uses: a list of
    /// one kilobyte can fill any memory. So this is the way for all bytes from outside.
    ///
    /// - Throws: `PropertyListError` for a damaged binary one, and for one that shares its parts too often.
    package static func foundationObject(of data: Data) throws(PropertyListError) -> Any? {
        if isBinary(data) {
            return try PropertyList(binary: data, limits: .forObjects(byteCount: data.count)).foundationObject
        }
        return try? PropertyListSerialization.propertyList(from: data, format: nil)
    }

    /// A number in the kind from which its `NSNumber` was made.
    package static func number(_ number: NSNumber) -> PropertyList {
        switch NumberKind(of: number) {
        case .boolean: .boolean(number.boolValue)
        case .real: .real(number.doubleValue)
        case .unsigned where number.uint64Value > UInt64(Int64.max): .unsignedInteger(number.uint64Value)
        default: .integer(number.int64Value)
        }
    }
}

/// The kind from which an `NSNumber` was made, read from its Objective-C type code.
private enum NumberKind {
    case boolean, integer, unsigned, real

    init(of number: NSNumber) {
        // Booleans have a class of their own; their type code is that of a small integer.
        if type(of: number) == type(of: NSNumber(value: true)) {
            self = .boolean
            return
        }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): self = .real
        case UInt8(ascii: "Q"), UInt8(ascii: "L"): self = .unsigned
        default: self = .integer
        }
    }
}

/// Why bytes are not a property list that this module reads, or why a value cannot be written.
package struct PropertyListError: Error, Equatable, CustomStringConvertible {
    /// The offset in bytes; nil when writing a value.
    package let offset: Int?
    /// What was expected there and what was found.
    package let reason: String

    package init(offset: Int?, reason: String) {
        self.offset = offset
        self.reason = reason
    }

    package var description: String {
        guard let offset else { return "The property list cannot be written: \(reason)." }
        return "The binary property list is damaged at byte \(offset): \(reason)."
    }
}

extension PropertyListError: LocalizedError {
    package var errorDescription: String? { description }
}

/// The size of a property list that a reader accepts. Files from outside are hostile until proven otherwise: a few
/// bytes can describe a tree that no memory holds.
package struct PropertyListLimits: Sendable {
    /// How deep arrays and dictionaries may nest.
    package var depth = 128
    /// How many values there may be, counting shared parts everywhere they are used.
    package var values = 16_000_000

    package init() {}

    /// The limits of a list that becomes Foundation's objects, which share nothing: every value takes memory wherever
    /// it is used. A list whose collections are not shared has no more values than bytes, since each use takes one.
    ///
    /// - Parameter byteCount: the size of the file.
    /// - Returns: the limits.
    package static func forObjects(byteCount: Int) -> PropertyListLimits {
        var limits = PropertyListLimits()
        limits.values = min(limits.values, 250_000 + 4 * byteCount)
        return limits
    }
}
