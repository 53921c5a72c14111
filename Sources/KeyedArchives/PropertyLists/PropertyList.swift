import Foundation

/// A property list as a value: the content of a binary property list (`bplist00`), including references between
/// archived objects (`UID`).
///
/// Shared parts of a file are shared in memory too, and the reader bounds depth and size, so that traversing a value
/// from the reader is always safe.
package enum PropertyList: Equatable, Sendable {
    case boolean(Bool)
    case integer(Int64)
    /// An integer above `Int64.max`; smaller ones are `.integer`.
    case unsignedInteger(UInt64)
    case real(Double)
    case date(Date)
    case data(Data)
    case string(String)
    /// A keyed archive's reference to an entry of its `$objects`.
    case uid(UInt32)
    case array([PropertyList])
    case dictionary([String: PropertyList])
}

extension PropertyList {
    /// The kind of the value, in the words of error messages.
    package var kind: String {
        switch self {
        case .boolean: "a boolean"
        case .integer, .unsignedInteger: "an integer"
        case .real: "a real number"
        case .date: "a date"
        case .data: "data"
        case .string: "a string"
        case .uid: "a reference"
        case .array: "an array"
        case .dictionary: "a dictionary"
        }
    }

    package var dictionaryValue: [String: PropertyList]? {
        if case .dictionary(let value) = self { return value }
        return nil
    }

    package var arrayValue: [PropertyList]? {
        if case .array(let value) = self { return value }
        return nil
    }

    package var stringValue: String? {
        if case .string(let value) = self { return value }
        return nil
    }

    package var dataValue: Data? {
        if case .data(let value) = self { return value }
        return nil
    }

    package var integerValue: Int64? {
        if case .integer(let value) = self { return value }
        return nil
    }
}
