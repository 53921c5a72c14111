import Foundation

/// Values in the form in which PostgreSQL takes and gives them, one after the other in one piece of memory.
package struct BinaryValues {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }
    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    @inline(__always)
    package mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// The length that says that there is no value.
    package mutating func appendNull() { append(Int32(-1)) }

    /// A value with its length before it, as arrays and `COPY` have it.
    package mutating func appendSized(_ value: some BinaryValue) {
        append(Int32(value.binaryCount))
        value.write(to: &self)
    }

    package mutating func append(contentsOf raw: UnsafeRawBufferPointer) { bytes.append(contentsOf: raw) }

    mutating func overwrite(_ number: Int32, at position: Int) {
        withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(position..<position + 4, with: $0) }
    }
}

/// A value that knows its binary form.
package protocol BinaryValue {
    static var type: PostgresType { get }
    var binaryCount: Int { get }
    func write(to values: inout BinaryValues)
}

extension Int64: BinaryValue {
    package static var type: PostgresType { .bigint }
    package var binaryCount: Int { 8 }
    package func write(to values: inout BinaryValues) { values.append(self) }
}

extension Int32: BinaryValue {
    package static var type: PostgresType { .integer }
    package var binaryCount: Int { 4 }
    package func write(to values: inout BinaryValues) { values.append(self) }
}

extension Int16: BinaryValue {
    package static var type: PostgresType { .smallint }
    package var binaryCount: Int { 2 }
    package func write(to values: inout BinaryValues) { values.append(self) }
}

extension Bool: BinaryValue {
    package static var type: PostgresType { .boolean }
    package var binaryCount: Int { 1 }
    package func write(to values: inout BinaryValues) { values.append(UInt8(self ? 1 : 0)) }
}

extension Double: BinaryValue {
    package static var type: PostgresType { .double }
    package var binaryCount: Int { 8 }
    package func write(to values: inout BinaryValues) { values.append(bitPattern) }
}

extension String: BinaryValue {
    package static var type: PostgresType { .text }
    package var binaryCount: Int { utf8.count }
    package func write(to values: inout BinaryValues) {
        var copy = self
        copy.withUTF8 { values.append(contentsOf: UnsafeRawBufferPointer($0)) }
    }
}

extension Data: BinaryValue {
    package static var type: PostgresType { .bytes }
    package var binaryCount: Int { count }
    package func write(to values: inout BinaryValues) { withUnsafeBytes { values.append(contentsOf: $0) } }
}

extension UUID: BinaryValue {
    package static var type: PostgresType { .uuid }
    package var binaryCount: Int { 16 }
    package func write(to values: inout BinaryValues) {
        withUnsafeBytes(of: uuid) { values.append(contentsOf: $0) }
    }
}

/// A moment, in microseconds since 2000-01-01 00:00 UTC, as PostgreSQL counts them.
package struct Timestamp: BinaryValue, Hashable, Sendable {
    package var microseconds: Int64

    package init(microseconds: Int64) { self.microseconds = microseconds }

    package static let infinity = Timestamp(microseconds: .max)
    package static let negativeInfinity = Timestamp(microseconds: .min)

    package static var type: PostgresType { .timestamp }
    package var binaryCount: Int { 8 }
    package func write(to values: inout BinaryValues) { values.append(microseconds) }
}
