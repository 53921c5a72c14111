import Foundation

/// A value as a record has it. Texts stay bytes, in the encoding of the database.
package enum RecordValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])

    /// The text of a value; nil for other values, and for bytes that are not of the encoding.
    package func string(_ encoding: DatabaseHeader.Encoding) -> String? {
        guard case .text(let bytes) = self else { return nil }
        switch encoding {
        case .utf8: return String(validating: bytes, as: UTF8.self)
        case .utf16LittleEndian: return String(bytes: bytes, encoding: .utf16LittleEndian)
        case .utf16BigEndian: return String(bytes: bytes, encoding: .utf16BigEndian)
        }
    }
}

/// The type of a value in a record's header, which also says how many bytes it has
/// (https://www.sqlite.org/fileformat2.html#record_format).
package struct SerialType: Equatable, Sendable {
    package let code: Int64

    /// - Returns: `nil` for the numbers that SQLite reserves, and for sizes beyond its limits.
    package init?(_ code: Int64) {
        guard code >= 0, code != 10, code != 11, code < 1 << 32 else { return nil }
        self.code = code
    }

    package static let null = SerialType(unchecked: 0)
    private init(unchecked code: Int64) { self.code = code }

    /// How many bytes the value has behind the header.
    package var size: Int {
        switch code {
        case 0, 8, 9: 0
        case 1...4: Int(code)
        case 5: 6
        case 6, 7: 8
        default: Int(code - 12) / 2
        }
    }

    package var isNull: Bool { code == 0 }
    package var isInteger: Bool { (1...6).contains(code) || code == 8 || code == 9 }
    package var isReal: Bool { code == 7 }
    package var isText: Bool { code >= 13 && code % 2 == 1 }
    package var isBlob: Bool { code >= 12 && code % 2 == 0 }

    /// The value with these bytes.
    ///
    /// - Parameter bytes: as many as `size` says.
    /// - Returns: `nil` for another number of bytes.
    package func value(_ bytes: ArraySlice<UInt8>) -> RecordValue? {
        guard bytes.count == size else { return nil }
        switch code {
        case 0: return .null
        case 8, 9: return .integer(code - 8)
        case 1...6:
            let start: Int64 = (bytes.first ?? 0) & 0x80 == 0 ? 0 : -1
            return .integer(bytes.reduce(start) { $0 << 8 | Int64($1) })
        case 7: return .real(Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) }))
        default: return isText ? .text(Array(bytes)) : .blob(Array(bytes))
        }
    }
}

/// A record: the types of its values, and then the values.
package struct Record: Equatable, Sendable {
    /// The values; nil for those whose bytes are not there any more.
    package var values: [RecordValue?]

    /// Whether all values are there.
    package var isComplete: Bool { !values.contains { $0 == nil } }

    package init(values: [RecordValue?]) { self.values = values }

    /// The types of a record's values. No more are read than a table can have columns.
    ///
    /// - Parameters:
    ///   - bytes: bytes that hold the record.
    ///   - start: where the record begins.
    ///   - end: where the bytes end that it may take.
    /// - Returns: the types and the size of the header; nil for other bytes.
    package static func header(
        _ bytes: [UInt8], at start: Int, before end: Int
    ) -> (types: [SerialType], size: Int)? {
        guard let size = bytes.varint(at: start, before: end), size.value >= 1, size.value <= mostHeader else {
            return nil
        }
        let headerEnd = start + Int(size.value)
        guard headerEnd <= end, headerEnd >= start + size.count else { return nil }
        guard let types = types(bytes, at: start + size.count, before: headerEnd) else { return nil }
        return (types, Int(size.value))
    }

    /// Types that fill a range exactly; nil if they do not.
    static func types(_ bytes: [UInt8], at start: Int, before end: Int) -> [SerialType]? {
        var (types, place): ([SerialType], Int) = ([], start)
        while place < end {
            guard let code = bytes.varint(at: place, before: end), let type = SerialType(code.value) else { return nil }
            types.append(type)
            place += code.count
        }
        return types
    }

    /// SQLite's tables have at most 32,767 columns, whose types take at most nine bytes each.
    private static let mostHeader: Int64 = 300_000

    /// A record as its payload has it; nil for other bytes.
    ///
    /// - Parameter payload: the bytes; those at its end may be missing.
    package init?(_ payload: [UInt8]) {
        guard let header = Self.header(payload, at: 0, before: payload.count) else { return nil }
        self.init(header.types, content: payload, at: header.size)
    }

    /// Values of given types.
    ///
    /// - Parameters:
    ///   - types: the types.
    ///   - bytes: the bytes that hold the values.
    ///   - start: where the first value begins. Values beyond the end are not there.
    init(_ types: [SerialType], content bytes: [UInt8], at start: Int) {
        var place = start
        values = types.map { type in
            defer { place += type.size }
            guard place + type.size <= bytes.count else { return nil }
            return type.value(bytes[place..<place + type.size])
        }
    }
}
