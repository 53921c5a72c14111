import CoreDataModel
import Foundation

/// A value of a step, that prints as it is written in Swift, and names objects by their numbers.
package enum PlainValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case double(Double)
    case text(String)
    /// A date, in seconds since 2001.
    case date(Double)
    case bytes([UInt8])
    /// Bytes that do not fit a column of a store that keeps large values elsewhere.
    case largeBytes(count: Int, UInt8)
    case uuid(UInt8)
    case decimal(String)
    case url(String)
    case list([String])
    case composite([String: PlainValue])
    case object(Int)
}

extension PlainValue {
    /// The value as rows have it.
    ///
    /// - Parameter identifier: the ID of an object by its number, nil for one that there never was.
    /// - Returns: the value.
    func stored(_ identifier: (Int) -> NSManagedObjectID?) -> StoredValue {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .double(let number): .double(number)
        case .text(let text): .string(text)
        case .date(let seconds): .date(seconds)
        case .bytes(let bytes): .data(Data(bytes))
        case .largeBytes(let count, let byte): .data(Data(repeating: byte, count: count))
        case .uuid(let byte): .uuid(Self.uuid(byte))
        case .decimal(let text): .object(NSDecimalNumber(string: text))
        case .url(let text): URL(string: text).map { .object($0 as NSURL) } ?? .null
        case .list(let texts): .object(texts.map { $0 as NSString } as NSArray)
        case .composite(let elements): .object(CompositeValue(elements.compactMapValues(\.elementValue)))
        case .object(let number): identifier(number).map { .identifier($0) } ?? .null
        }
    }

    /// The value as a format string spells it.
    var format: String {
        switch self {
        case .integer(let number): Value.integer(number).format
        case .double(let number): Value.double(number).format
        case .text(let text): Value.string(text).format
        case .date(let seconds): Value.date(Date(timeIntervalSinceReferenceDate: seconds)).format
        case .bytes(let bytes): Value.data(Data(bytes)).format
        case .largeBytes(let count, let byte): Value.data(Data(repeating: byte, count: count)).format
        case .uuid(let byte): Value.uuid(Self.uuid(byte)).format
        case .decimal(let text): Value.decimal(NSDecimalNumber(string: text)).format
        case .url(let text): URL(string: text).map { Value.url($0).format } ?? "nil"
        case .null, .list, .composite, .object: "nil"
        }
    }

    private static func uuid(_ byte: UInt8) -> UUID {
        UUID(uuid: (byte, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255 - byte))
    }

    private var elementValue: Any? {
        switch self {
        case .integer(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .text(let text): text
        default: nil
        }
    }
}
