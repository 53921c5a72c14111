import Foundation

extension PropertyList {
    /// Writes the value as a binary property list. Equal strings, numbers, dates and data are written once; a
    /// dictionary's keys are sorted, so equal values give equal bytes.
    ///
    /// - Throws: `PropertyListError` if the value nests deeper than the reader allows.
    package func binaryData() throws(PropertyListError) -> Data {
        var writer = BinaryPropertyListWriter()
        let root = try writer.add(self, depth: 1)
        return Data(writer.finish(root: root))
    }
}

/// The state of one writing: the objects as bytes. Their references are filled in once the number of objects, and so
/// the size of a reference, is known.
private struct BinaryPropertyListWriter {
    private enum Object {
        case encoded([UInt8])
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    private var objects: [Object] = []
    private var indices: [UniqueScalar: Int] = [:]

    mutating func add(_ value: PropertyList, depth: Int) throws(PropertyListError) -> Int {
        let limit = PropertyListLimits().depth
        guard depth <= limit else {
            throw PropertyListError(offset: nil, reason: "it nests deeper than \(limit) levels")
        }
        switch value {
        case .array(let values):
            let index = reserve()
            var references: [Int] = []
            for value in values { references.append(try add(value, depth: depth + 1)) }
            objects[index] = .array(references)
            return index
        case .dictionary(let dictionary):
            let index = reserve()
            let sorted = dictionary.sorted { $0.key < $1.key }
            var keys: [Int] = []
            var values: [Int] = []
            for (key, _) in sorted { keys.append(try add(.string(key), depth: depth + 1)) }
            for (_, value) in sorted { values.append(try add(value, depth: depth + 1)) }
            objects[index] = .dictionary(keys: keys, values: values)
            return index
        default:
            guard let scalar = UniqueScalar(value) else { return reserve() }
            if let index = indices[scalar] { return index }
            objects.append(.encoded(Self.encode(value)))
            indices[scalar] = objects.count - 1
            return objects.count - 1
        }
    }

    private mutating func reserve() -> Int {
        objects.append(.encoded([]))
        return objects.count - 1
    }

    func finish(root: Int) -> [UInt8] {
        let referenceSize = Self.size(of: UInt64(objects.count))
        var bytes = BinaryPropertyListLayout.header
        var offsets: [UInt64] = []
        offsets.reserveCapacity(objects.count)
        for object in objects {
            offsets.append(UInt64(bytes.count))
            switch object {
            case .encoded(let encoded):
                bytes += encoded
            case .array(let references):
                bytes += Self.marker(0xA, count: references.count)
                for reference in references { bytes += Self.bigEndian(UInt64(reference), size: referenceSize) }
            case .dictionary(let keys, let values):
                bytes += Self.marker(0xD, count: keys.count)
                for reference in keys + values { bytes += Self.bigEndian(UInt64(reference), size: referenceSize) }
            }
        }
        let tableOffset = UInt64(bytes.count)
        let offsetSize = Self.size(of: tableOffset)
        for offset in offsets { bytes += Self.bigEndian(offset, size: offsetSize) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        for number in [UInt64(objects.count), UInt64(root), tableOffset] { bytes += Self.bigEndian(number, size: 8) }
        return bytes
    }

    // MARK: Bytes

    private static func encode(_ value: PropertyList) -> [UInt8] {
        switch value {
        case .array, .dictionary:
            return []
        case .boolean(let value):
            return [value ? 0x09 : 0x08]
        case .integer(let value):
            return integer(value)
        case .unsignedInteger(let value):
            return [0x14] + bigEndian(0, size: 8) + bigEndian(value, size: 8)
        case .real(let value):
            return [0x23] + bigEndian(value.bitPattern, size: 8)
        case .date(let value):
            return [0x33] + bigEndian(value.timeIntervalSinceReferenceDate.bitPattern, size: 8)
        case .data(let value):
            return marker(0x4, count: value.count) + value
        case .string(let value):
            if value.utf8.allSatisfy({ $0 < 0x80 }) { return marker(0x5, count: value.utf8.count) + value.utf8 }
            return marker(0x6, count: value.utf16.count) + value.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        case .uid(let value):
            let size = size(of: UInt64(value))
            return [0x80 | UInt8(size - 1)] + bigEndian(UInt64(value), size: size)
        }
    }

    private static func integer(_ value: Int64) -> [UInt8] {
        let bits = UInt64(bitPattern: value)
        let size = size(of: bits)
        let exponent: UInt8 = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3
        return [0x10 | exponent] + bigEndian(bits, size: size)
    }

    private static func marker(_ kind: UInt8, count: Int) -> [UInt8] {
        count < 0x0F ? [kind << 4 | UInt8(count)] : [kind << 4 | 0x0F] + integer(Int64(count))
    }

    private static func size(of value: UInt64) -> Int {
        value <= 0xFF ? 1 : value <= 0xFFFF ? 2 : value <= 0xFFFF_FFFF ? 4 : 8
    }

    private static func bigEndian(_ value: UInt64, size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (size - 1 - $0))) }
    }
}

/// The numbers of the file format that reader and writer share.
enum BinaryPropertyListLayout {
    static let header = Array("bplist00".utf8)
    /// Six bytes unused, the two integer sizes, then object count, root object and offset table, eight bytes each.
    static let trailerLength = 32
}
