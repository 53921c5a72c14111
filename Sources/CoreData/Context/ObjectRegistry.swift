/// The objects of a context by ID, not retained: an open-addressing table without a hash of strings or classes.
///
/// An object is in the table from its registration until its `deinit`; see `ObjectTable`, which guards both.
struct ObjectRegistry: ~Copyable {
    private struct Entry {
        var key: Int64
        var tag: UInt64
        var object: ObjectIdentifier?

        /// Never used since the table was made.
        static let free = UInt64.max
        /// Was used; a search goes on past it.
        static let removed = UInt64.max - 1
        static var empty: Entry { Entry(key: 0, tag: free, object: nil) }
    }

    // Memory of its own: bounds are kept by masking positions, and checking them again was a third of a search.
    private var entries = UnsafeMutableBufferPointer<Entry>(start: nil, count: 0)
    /// How many entries are not free.
    private var used = 0
    /// How many of the last bits the keys mostly have in common: 5 where a server has given out every 32nd key, as it does for rows that it makes
    /// keys for itself, and 0 else. It changes with the entries.
    private var commonBits: UInt64 = 0

    deinit { entries.deallocate() }

    /// Whether nothing has been registered since it was made or cleared.
    var isUnused: Bool { used == 0 }

    /// Where the search for a key begins.
    ///
    /// Sixteen neighbouring keys share a run of entries, because objects mostly come and go in the order of their keys:
    /// an entry of its own far away for each would cost a cache miss for each.
    private func start(_ key: Int64, _ tag: UInt64) -> Int {
        let all = UInt64(bitPattern: key)
        // Without the bits that neighbours have in common, which come first.
        let key = all >> commonBits | (all & ((1 << commonBits) - 1)) << (64 - commonBits)
        let mixed = (key >> 4 &+ tag &* 0x9E37_79B9_7F4A_7C15) &* 0xD6E8_FEB8_6659_FD93
        return Int(truncatingIfNeeded: (mixed ^ (mixed >> 32)) << 4 | key & 15) & (entries.count - 1)
    }

    /// The first object that is registered under an ID and that `retain` can still get hold of.
    ///
    /// - Parameters:
    ///   - place: where the object lies.
    ///   - passedOver: takes objects that were retained and proved to be others.
    ///   - retain: keeps the object alive while it is looked at; `nil` for one that is just being freed.
    /// - Returns: the object; `nil` when none is registered.
    func object(
        at place: ObjectPlace, passingOver passedOver: inout [NSManagedObject],
        retain: (ObjectIdentifier) -> NSManagedObject?
    ) -> NSManagedObject? {
        guard !entries.isEmpty else { return nil }
        let (key, tag) = (place.key, place.tag)
        var position = start(key, tag)
        while entries[position].tag != Entry.free {
            if entries[position].key == key, entries[position].tag == tag,
                let pointer = entries[position].object, let object = retain(pointer)
            {
                guard let identifier = place.identifier, identifier.reference != nil else { return object }
                if object.identifier.matches(identifier) { return object }
                passedOver.append(object)
            }
            position = (position + 1) & (entries.count - 1)
        }
        return nil
    }

    /// Registers an object, unless any other has an entry with the key.
    ///
    /// - Returns: whether the object was registered.
    mutating func insertIfNew(_ object: ObjectIdentifier, _ key: Int64, _ tag: UInt64) -> Bool {
        makeRoom(for: 1)
        var position = start(key, tag)
        while entries[position].tag != Entry.free {
            if entries[position].key == key, entries[position].tag == tag { return false }
            position = (position + 1) & (entries.count - 1)
        }
        used += 1
        entries[position] = Entry(key: key, tag: tag, object: object)
        return true
    }

    /// Registers an object.
    mutating func insert(_ object: ObjectIdentifier, _ key: Int64, _ tag: UInt64) {
        makeRoom(for: 1)
        place(Entry(key: key, tag: tag, object: object))
    }

    private mutating func place(_ entry: Entry) {
        var position = start(entry.key, entry.tag)
        while entries[position].tag < Entry.removed { position = (position + 1) & (entries.count - 1) }
        if entries[position].tag == Entry.free { used += 1 }
        entries[position] = entry
    }

    /// Forgets an object.
    mutating func remove(_ object: ObjectIdentifier, _ key: Int64, _ tag: UInt64) {
        guard !entries.isEmpty else { return }
        var position = start(key, tag)
        while entries[position].tag != Entry.free {
            if entries[position].object == object, entries[position].tag == tag {
                // What follows a free entry starts nothing: the entry can be free again.
                let next = (position + 1) & (entries.count - 1)
                let isLast = entries[next].tag == Entry.free
                entries[position] = Entry(key: 0, tag: isLast ? Entry.free : Entry.removed, object: nil)
                if isLast { used -= 1 }
                return
            }
            position = (position + 1) & (entries.count - 1)
        }
    }

    /// Makes room for more objects at once.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - areSpaced: whether their keys are multiples of 32 apart; nil where nobody knows.
    mutating func makeRoom(for count: Int, areSpaced: Bool? = nil) {
        guard (used + count) * 4 > entries.count * 3 else { return }
        if let areSpaced { commonBits = areSpaced ? 5 : 0 }
        let old = entries
        defer { old.deallocate() }
        let live = old.count { $0.tag < Entry.removed }
        var capacity = 64
        while capacity < (live + count) * 2 { capacity *= 2 }
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: .empty)
        used = 0
        for entry in old where entry.tag < Entry.removed { place(entry) }
    }

    /// All objects that are registered.
    var all: [ObjectIdentifier] { entries.compactMap { $0.tag < Entry.removed ? $0.object : nil } }

    /// Whether an object of a store is registered.
    func holdsObjects(ofStore number: Int) -> Bool {
        entries.contains { $0.tag < Entry.removed && $0.tag >> 24 == UInt64(number) }
    }

    /// Whether no object with a tag is registered; `false` where there are more entries than a limit.
    func holdsNone(_ tag: UInt64, amongAtMost limit: Int) -> Bool {
        entries.count <= limit && !entries.contains { $0.tag == tag }
    }

    mutating func removeAll() {
        entries.deallocate()
        entries = UnsafeMutableBufferPointer(start: nil, count: 0)
        used = 0
    }
}
