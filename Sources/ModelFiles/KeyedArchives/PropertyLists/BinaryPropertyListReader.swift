import Foundation

/// The state of one reading of a binary property list. Each object is read once and kept, so a file with shared objects
/// costs no more than its size.
struct BinaryPropertyListReader {
    /// An object, with the objects in it.
    private struct Decoded {
        let value: PropertyList
        /// How deep it nests.
        var height = 1
        /// How many values it holds, a shared one each time.
        var expandedSize = 1
    }

    private enum Entry {
        case unread
        case open
        case read(Decoded)
    }

    private let bytes: [UInt8]
    private let limits: PropertyListLimits
    private let offsetSize: Int
    private let referenceSize: Int
    private let rootIndex: Int
    private let tableOffset: Int
    private var entries: [Entry]
    /// How many bytes the texts and data read so far have.
    private var contentSize = 0

    init(bytes: [UInt8], limits: PropertyListLimits) throws(PropertyListError) {
        let header = BinaryPropertyListLayout.header
        guard bytes.starts(with: header) else {
            throw PropertyListError(offset: 0, reason: "it does not begin with “bplist00”")
        }
        let trailer = bytes.count - BinaryPropertyListLayout.trailerLength
        guard trailer > header.count else {
            throw PropertyListError(
                offset: bytes.count, reason: "it ends before its 32-byte trailer, so it was cut off")
        }
        self.bytes = bytes
        self.limits = limits
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
            throw PropertyListError(
                offset: trailer + 6,
                reason: "integer sizes of 1 to 8 bytes expected, \(offsetSize) and \(referenceSize) found")
        }
        let count = Self.unsigned(bytes, at: trailer + 8, size: 8)
        let root = Self.unsigned(bytes, at: trailer + 16, size: 8)
        let table = Self.unsigned(bytes, at: trailer + 24, size: 8)
        guard table >= UInt64(header.count), table < UInt64(trailer) else {
            throw PropertyListError(
                offset: trailer + 24, reason: "the offset table lies outside of the file (\(table))")
        }
        guard count > 0, count <= (UInt64(trailer) - table) / UInt64(offsetSize) else {
            throw PropertyListError(offset: trailer + 8, reason: "the offset table has no room for \(count) objects")
        }
        guard root < count else {
            throw PropertyListError(offset: trailer + 16, reason: "root object \(root) of \(count) does not exist")
        }
        tableOffset = Int(table)
        rootIndex = Int(root)
        entries = Array(repeating: .unread, count: Int(count))
    }

    mutating func readRoot() throws(PropertyListError) -> PropertyList {
        try object(at: rootIndex, depth: 1, referredFrom: bytes.count - 16).value
    }

    /// The object with that number in the offset table.
    private mutating func object(
        at index: Int, depth: Int, referredFrom origin: Int
    ) throws(PropertyListError) -> Decoded {
        switch entries[index] {
        case .read(let object):
            return object
        case .open:
            throw PropertyListError(offset: origin, reason: "object \(index) contains itself")
        case .unread:
            break
        }
        guard depth <= limits.depth else {
            throw PropertyListError(offset: origin, reason: "it nests deeper than \(limits.depth) levels")
        }
        entries[index] = .open
        let position = Self.unsigned(bytes, at: tableOffset + index * offsetSize, size: offsetSize)
        guard position >= UInt64(BinaryPropertyListLayout.header.count), position < UInt64(tableOffset) else {
            throw PropertyListError(
                offset: tableOffset + index * offsetSize,
                reason: "object \(index) lies outside of the file (\(position))")
        }
        let result = try decode(at: Int(position), depth: depth)
        guard result.height <= limits.depth else {
            throw PropertyListError(offset: Int(position), reason: "it nests deeper than \(limits.depth) levels")
        }
        guard result.expandedSize <= limits.values else {
            throw PropertyListError(offset: Int(position), reason: "it holds more than \(limits.values) values")
        }
        entries[index] = .read(result)
        return result
    }

    private mutating func decode(at offset: Int, depth: Int) throws(PropertyListError) -> Decoded {
        let low = Int(bytes[offset] & 0x0F)
        switch bytes[offset] >> 4 {
        case 0xA:
            return try array(at: offset, depth: depth)
        case 0xD:
            return try dictionary(at: offset, depth: depth)
        case 0x0:
            guard low == 8 || low == 9 else { break }
            return Decoded(value: .boolean(low == 9))
        case 0x1:
            return Decoded(value: try integer(at: offset + 1, sizeExponent: low))
        case 0x2:
            return Decoded(value: .real(try real(at: offset + 1, sizeExponent: low)))
        case 0x3:
            guard low == 3 else { break }
            let seconds = try real(at: offset + 1, sizeExponent: 3)
            return Decoded(value: .date(Date(timeIntervalSinceReferenceDate: seconds)))
        case 0x4:
            let range = try ownContents(at: offset, unit: 1)
            return Decoded(value: .data(Data(bytes[range])))
        case 0x5:
            let range = try ownContents(at: offset, unit: 1)
            guard let wrong = bytes[range].firstIndex(where: { $0 >= 0x80 }) else {
                return Decoded(value: .string(String(decoding: bytes[range], as: UTF8.self)))
            }
            throw PropertyListError(offset: wrong, reason: "a byte above 127 in an ASCII string")
        case 0x6:
            return Decoded(value: .string(try utf16String(in: ownContents(at: offset, unit: 2))))
        case 0x8:
            return Decoded(value: .uid(try uid(at: offset, size: low + 1)))
        default:
            break
        }
        let marker = String(bytes[offset], radix: 16)
        throw PropertyListError(offset: offset, reason: "no kind of object begins with the byte 0x\(marker)")
    }

    // MARK: Collections

    private mutating func array(at offset: Int, depth: Int) throws(PropertyListError) -> Decoded {
        let range = try contents(at: offset, unit: referenceSize)
        var values: [PropertyList] = []
        values.reserveCapacity(range.count / referenceSize)
        var height = 0
        var size = 1
        for position in stride(from: range.lowerBound, to: range.upperBound, by: referenceSize) {
            let child = try object(at: reference(at: position), depth: depth + 1, referredFrom: position)
            values.append(child.value)
            height = max(height, child.height)
            size = try sum(size, child.expandedSize, at: offset)
        }
        return Decoded(value: .array(values), height: height + 1, expandedSize: size)
    }

    private mutating func dictionary(at offset: Int, depth: Int) throws(PropertyListError) -> Decoded {
        let range = try contents(at: offset, unit: 2 * referenceSize)
        let count = range.count / (2 * referenceSize)
        var values: [String: PropertyList] = [:]
        values.reserveCapacity(count)
        var height = 0
        var size = 1
        for number in 0..<count {
            let keyPosition = range.lowerBound + number * referenceSize
            let valuePosition = keyPosition + count * referenceSize
            let key = try object(at: reference(at: keyPosition), depth: depth + 1, referredFrom: keyPosition).value
            guard case .string(let name) = key else {
                throw PropertyListError(offset: keyPosition, reason: "a dictionary's key is \(key.kind), not a string")
            }
            let child = try object(at: reference(at: valuePosition), depth: depth + 1, referredFrom: valuePosition)
            guard values.updateValue(child.value, forKey: name) == nil else {
                throw PropertyListError(offset: keyPosition, reason: "a dictionary has the key “\(name)” twice")
            }
            height = max(height, child.height)
            size = try sum(size, child.expandedSize + 1, at: offset)
        }
        return Decoded(value: .dictionary(values), height: height + 1, expandedSize: size)
    }

    private func sum(_ left: Int, _ right: Int, at offset: Int) throws(PropertyListError) -> Int {
        let (total, overflow) = left.addingReportingOverflow(right)
        guard !overflow, total <= limits.values else {
            throw PropertyListError(offset: offset, reason: "it holds more than \(limits.values) values")
        }
        return total
    }

    private func reference(at position: Int) throws(PropertyListError) -> Int {
        let index = Self.unsigned(bytes, at: position, size: referenceSize)
        guard index < UInt64(entries.count) else {
            throw PropertyListError(offset: position, reason: "object \(index) of \(entries.count) does not exist")
        }
        return Int(index)
    }

    /// The bytes of an object with a count: `count` times `unit`, after the marker and a long count's integer.
    private func contents(at offset: Int, unit: Int) throws(PropertyListError) -> Range<Int> {
        var start = offset + 1
        var count = UInt64(bytes[offset] & 0x0F)
        if count == 0x0F {
            guard start < tableOffset, bytes[start] >> 4 == 1, bytes[start] & 0x0F <= 3 else {
                throw PropertyListError(offset: start, reason: "the length of the object is not an integer")
            }
            let size = 1 << Int(bytes[start] & 0x0F)
            guard size <= tableOffset - start - 1 else {
                throw PropertyListError(offset: start, reason: "the length of the object runs past the end")
            }
            count = Self.unsigned(bytes, at: start + 1, size: size)
            start += 1 + size
        }
        guard count <= UInt64((tableOffset - start) / unit) else {
            throw PropertyListError(offset: offset, reason: "\(count) items do not fit before the end of the objects")
        }
        return start..<(start + Int(count) * unit)
    }

    /// The bytes of a text or of data. Several objects in the same place would make a small file a large list.
    private mutating func ownContents(at offset: Int, unit: Int) throws(PropertyListError) -> Range<Int> {
        let range = try contents(at: offset, unit: unit)
        contentSize += range.count
        guard contentSize <= bytes.count else {
            throw PropertyListError(offset: offset, reason: "its texts and data lie over one another")
        }
        return range
    }

    // MARK: Scalars

    /// An integer: one, two and four bytes are unsigned, eight are signed, and sixteen are for values above
    /// `Int64.max`.
    private func integer(at offset: Int, sizeExponent: Int) throws(PropertyListError) -> PropertyList {
        guard sizeExponent <= 4, 1 << sizeExponent <= tableOffset - offset else {
            throw PropertyListError(offset: offset - 1, reason: "an integer runs past the end of the objects")
        }
        if sizeExponent < 4 {
            let bits = Self.unsigned(bytes, at: offset, size: 1 << sizeExponent)
            return .integer(Int64(bitPattern: bits))
        }
        let high = Self.unsigned(bytes, at: offset, size: 8)
        let low = Self.unsigned(bytes, at: offset + 8, size: 8)
        if high == 0 {
            return low <= UInt64(Int64.max) ? .integer(Int64(low)) : .unsignedInteger(low)
        }
        guard high == .max, Int64(bitPattern: low) < 0 else {
            throw PropertyListError(offset: offset, reason: "an integer of more than 64 bits")
        }
        return .integer(Int64(bitPattern: low))
    }

    private func real(at offset: Int, sizeExponent: Int) throws(PropertyListError) -> Double {
        guard sizeExponent == 2 || sizeExponent == 3, 1 << sizeExponent <= tableOffset - offset else {
            throw PropertyListError(offset: offset - 1, reason: "a number of 4 or 8 bytes expected")
        }
        let bits = Self.unsigned(bytes, at: offset, size: 1 << sizeExponent)
        return sizeExponent == 2 ? Double(Float(bitPattern: UInt32(bits))) : Double(bitPattern: bits)
    }

    private func uid(at offset: Int, size: Int) throws(PropertyListError) -> UInt32 {
        guard size <= 8, size <= tableOffset - offset - 1 else {
            throw PropertyListError(offset: offset, reason: "a reference runs past the end of the objects")
        }
        guard let value = UInt32(exactly: Self.unsigned(bytes, at: offset + 1, size: size)) else {
            throw PropertyListError(offset: offset, reason: "a reference of more than 32 bits")
        }
        return value
    }

    private func utf16String(in range: Range<Int>) throws(PropertyListError) -> String {
        var units: [UInt16] = []
        units.reserveCapacity(range.count / 2)
        for position in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            units.append(UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1]))
        }
        guard let string = String(validating: units, as: UTF16.self) else {
            throw PropertyListError(offset: range.lowerBound, reason: "a string is not valid UTF-16")
        }
        return string
    }

    /// A big-endian unsigned integer; the caller has checked that it is within the bytes.
    private static func unsigned(_ bytes: [UInt8], at offset: Int, size: Int) -> UInt64 {
        var value: UInt64 = 0
        for position in offset..<(offset + size) { value = value << 8 | UInt64(bytes[position]) }
        return value
    }
}
