import Foundation

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
