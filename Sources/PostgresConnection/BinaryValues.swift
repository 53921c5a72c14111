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

/// Consecutive bytes in one growing piece of memory; a value whose copies share the memory until one of them changes.
///
/// It replaces an array of bytes where each number of each row passes through: its appending methods are inlined into
/// the caller.
@usableFromInline package struct BinaryMemory {
    // Unsafe memory: allocated and freed by the storage alone, written only up to its capacity and read only up to its
    // count.
    @usableFromInline final class Storage {
        // Only one thread at a time uses this, so checking accesses for overlaps would find nothing.
        @exclusivity(unchecked) @usableFromInline var base: UnsafeMutableRawPointer
        @exclusivity(unchecked) @usableFromInline var capacity: Int
        @exclusivity(unchecked) @usableFromInline var count = 0

        init(capacity: Int) {
            base = .allocate(byteCount: max(capacity, 16), alignment: 16)
            self.capacity = max(capacity, 16)
        }

        deinit { base.deallocate() }
    }

    @usableFromInline var storage: Storage

    package init(capacity: Int = 64) { storage = Storage(capacity: capacity) }

    @inlinable package var count: Int { storage.count }

    /// Makes room for more bytes, which the caller fills.
    @inlinable @inline(__always)
    mutating func extend(by size: Int) -> UnsafeMutableRawPointer {
        if storage.count &+ size > storage.capacity || !isKnownUniquelyReferenced(&storage) { makeRoom(for: size) }
        let place = storage.base + storage.count
        storage.count &+= size
        return place
    }

    /// Copies the bytes into memory of its own, with room for more.
    @usableFromInline mutating func makeRoom(for size: Int) {
        let larger = Storage(capacity: max(storage.count + size, storage.count * 2))
        larger.base.copyMemory(from: storage.base, byteCount: storage.count)
        larger.count = storage.count
        storage = larger
    }

    package mutating func reserve(_ capacity: Int) {
        if capacity > storage.capacity { makeRoom(for: capacity - storage.count) }
    }

    package mutating func removeAll() {
        if isKnownUniquelyReferenced(&storage) { storage.count = 0 } else { storage = Storage(capacity: 64) }
    }

    /// The bytes, for as long as the closure runs.
    @inlinable package func withUnsafeBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let storage = storage
        return try withExtendedLifetime(storage) {
            try body(UnsafeRawBufferPointer(start: storage.base, count: storage.count))
        }
    }

    /// The bytes as an array.
    package var array: [UInt8] { withUnsafeBytes { Array($0) } }
}
