/// Where a record's fields are, by the keys of a type's coding.
///
/// Keys are mostly the cases of an enumeration, told apart by one byte: each is asked for its name once, not once a value.
final class FieldPlaces {
    /// The type of the keys.
    let key: Any.Type
    /// Unsafe memory, by the byte of a key: allocated and filled here, released with the object.
    fileprivate let known: UnsafeMutableBufferPointer<Int32>

    /// - Parameters:
    ///   - key: the type of the keys.
    ///   - count: how many fields the record has, and keys of one byte mostly at most.
    init<Key: CodingKey>(_ key: Key.Type, count: Int) {
        self.key = key
        // Bits say all about a key of a trivial type; those of any other one may be a reference to what does.
        let isByte = MemoryLayout<Key>.size == 1 && _isPOD(Key.self)
        known = .allocate(capacity: isByte ? min(count, 256) : 0)
        known.initialize(repeating: unknown)
    }

    deinit { known.deallocate() }
}

/// ``FieldPlaces`` for a container of keys. It does not retain them, since containers are copied for each value: a coder does.
struct FieldPlace {
    private let known: UnsafeMutableBufferPointer<Int32>

    init(_ places: FieldPlaces) { known = places.known }

    /// The place of a key's field.
    ///
    /// - Parameters:
    ///   - key: a key of the type that the places were made for.
    ///   - find: looks the key's name up.
    /// - Returns: the place; -1 for a key that the record does not have.
    @inline(__always)
    func callAsFunction<Key: CodingKey>(_ key: Key, _ find: (String) -> Int?) -> Int {
        guard !known.isEmpty else { return find(key.stringValue) ?? -1 }
        let byte = Int(unsafeBitCast(key, to: UInt8.self))
        guard byte < known.count else { return find(key.stringValue) ?? -1 }
        let place = known[byte]
        return place == unknown ? remember(key, byte, find) : Int(place)
    }

    @inline(never)
    private func remember<Key: CodingKey>(_ key: Key, _ byte: Int, _ find: (String) -> Int?) -> Int {
        let place = find(key.stringValue) ?? -1
        known[byte] = Int32(truncatingIfNeeded: place)
        return place
    }
}

/// The place of a key that was not asked for yet.
private let unknown: Int32 = -2
