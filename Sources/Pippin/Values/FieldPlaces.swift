/// The fields of a record, by the coding keys of a type.
///
/// Keys are usually the cases of an enumeration, which one byte distinguishes: each key is asked for its name once,
/// rather than once per value.
final class FieldPlaces {
    /// The type of the keys.
    let key: Any.Type
    /// Unsafe memory, by the byte of a key: allocated and filled here, released with the object.
    fileprivate let known: UnsafeMutableBufferPointer<Int32>

    /// - Parameters:
    ///   - key: the type of the keys.
    ///   - count: how many fields the record has, which is also the usual number of one-byte keys.
    init<Key: CodingKey>(_ key: Key.Type, count: Int) {
        self.key = key
        // The bytes of a trivial key determine it. A key of another type may be a reference to what determines it.
        let isByte = MemoryLayout<Key>.size == 1 && _isPOD(Key.self)
        known = .allocate(capacity: isByte ? min(count, 256) : 0)
        known.initialize(repeating: unknown)
    }

    deinit { known.deallocate() }
}

/// ``FieldPlaces`` for a container of keys. It does not retain them, since containers are copied for each value; the
/// coder does.
struct FieldPlace {
    private let known: UnsafeMutableBufferPointer<Int32>

    init(_ places: FieldPlaces) { known = places.known }

    /// The place of a key's field.
    ///
    /// - Parameters:
    ///   - key: a key of the type for which the places were made.
    ///   - find: looks up the field by the key's name.
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

/// The place of a key that has not been asked for yet.
private let unknown: Int32 = -2
