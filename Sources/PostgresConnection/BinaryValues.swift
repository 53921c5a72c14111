import Foundation

/// Values in PostgreSQL's binary form, one after the other in one piece of memory.
@usableFromInline package struct BinaryValues {
    @usableFromInline package var bytes = BinaryMemory()

    package init() {}

    package mutating func reserve(_ count: Int) { bytes.reserve(count) }
    package mutating func removeAll() { bytes.removeAll() }

    @inlinable @inline(__always)
    package mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        bytes.extend(by: MemoryLayout<Number>.size).storeBytes(of: number.bigEndian, as: Number.self)
    }

    /// The length that marks NULL.
    @inlinable package mutating func appendNull() { append(Int32(-1)) }

    /// A value preceded by its length, as in arrays and `COPY`.
    @inlinable @inline(__always)
    package mutating func appendSized(_ value: some BinaryValue) {
        append(Int32(value.binaryCount))
        value.write(to: &self)
    }

    @inlinable package mutating func append(contentsOf raw: UnsafeRawBufferPointer) {
        guard let start = raw.baseAddress else { return }
        bytes.extend(by: raw.count).copyMemory(from: start, byteCount: raw.count)
    }
}

/// A value that knows its binary form.
@usableFromInline package protocol BinaryValue {
    static var type: PostgresType { get }
    var binaryCount: Int { get }
    func write(to values: inout BinaryValues)
}

extension Int64: BinaryValue {
    @inlinable package static var type: PostgresType { .bigint }
    @inlinable package var binaryCount: Int { 8 }
    @inlinable package func write(to values: inout BinaryValues) { values.append(self) }
}

extension Int32: BinaryValue {
    @inlinable package static var type: PostgresType { .integer }
    @inlinable package var binaryCount: Int { 4 }
    @inlinable package func write(to values: inout BinaryValues) { values.append(self) }
}

extension Int16: BinaryValue {
    @inlinable package static var type: PostgresType { .smallint }
    @inlinable package var binaryCount: Int { 2 }
    @inlinable package func write(to values: inout BinaryValues) { values.append(self) }
}

extension Bool: BinaryValue {
    @inlinable package static var type: PostgresType { .boolean }
    @inlinable package var binaryCount: Int { 1 }
    @inlinable package func write(to values: inout BinaryValues) { values.append(UInt8(self ? 1 : 0)) }
}

extension Double: BinaryValue {
    @inlinable package static var type: PostgresType { .double }
    @inlinable package var binaryCount: Int { 8 }
    @inlinable package func write(to values: inout BinaryValues) { values.append(bitPattern) }
}

extension String: BinaryValue {
    @inlinable package static var type: PostgresType { .text }
    @inlinable package var binaryCount: Int { utf8.count }
    @inlinable package func write(to values: inout BinaryValues) {
        var copy = self
        copy.withUTF8 { values.append(contentsOf: UnsafeRawBufferPointer($0)) }
    }
}

extension Data: BinaryValue {
    @inlinable package static var type: PostgresType { .bytes }
    @inlinable package var binaryCount: Int { count }
    @inlinable package func write(to values: inout BinaryValues) { withUnsafeBytes { values.append(contentsOf: $0) } }
}

extension UUID: BinaryValue {
    @inlinable package static var type: PostgresType { .uuid }
    @inlinable package var binaryCount: Int { 16 }
    @inlinable package func write(to values: inout BinaryValues) {
        withUnsafeBytes(of: uuid) { values.append(contentsOf: $0) }
    }
}

/// A moment, in microseconds since 2000-01-01 00:00 UTC, as PostgreSQL counts them.
@usableFromInline package struct Timestamp: BinaryValue, Hashable, Sendable {
    @usableFromInline package var microseconds: Int64

    @inlinable package init(microseconds: Int64) { self.microseconds = microseconds }

    package static let infinity = Timestamp(microseconds: .max)
    package static let negativeInfinity = Timestamp(microseconds: .min)

    @inlinable package static var type: PostgresType { .timestamp }
    @inlinable package var binaryCount: Int { 8 }
    @inlinable package func write(to values: inout BinaryValues) { values.append(microseconds) }
}
