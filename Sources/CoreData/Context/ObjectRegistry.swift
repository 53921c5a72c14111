/// The objects of a context by ID, held weakly: an open-addressing table without a hash of strings or classes.
///
/// Entries of objects that are gone are swept when the table would grow, so that an object need not tell when it
/// goes. Confined to the context's queue.
struct ObjectRegistry {
    private struct Entry {
        var key: Int64 = 0
        var tag = Entry.free
        weak var object: NSManagedObject?

        /// Never used since the table was made.
        static let free = UInt64.max
        /// Was used; a search goes on past it.
        static let removed = UInt64.max - 1
    }

    private var entries: [Entry] = []
    /// How many entries are not free.
    private var used = 0

    private static func tag(of identifier: NSManagedObjectID) -> UInt64 {
        guard let store = identifier.storeIdentity else { return 0 }
        return UInt64(store.number) << 24 | UInt64(identifier.layout.root.number)
    }

    private func start(_ key: Int64, _ tag: UInt64) -> Int {
        let mixed = (UInt64(bitPattern: key) &+ tag &* 0x9E37_79B9_7F4A_7C15) &* 0xD6E8_FEB8_6659_FD93
        return Int(truncatingIfNeeded: (mixed ^ (mixed >> 32))) & (entries.count - 1)
    }

    /// The object of an ID.
    func object(for identifier: NSManagedObjectID) -> NSManagedObject? {
        guard !entries.isEmpty else { return nil }
        let tag = Self.tag(of: identifier)
        var position = start(identifier.key, tag)
        while entries[position].tag != Entry.free {
            if entries[position].key == identifier.key, entries[position].tag == tag,
                let object = entries[position].object,
                identifier.reference == nil || object.identifier.matches(identifier)
            {
                return object
            }
            position = (position + 1) & (entries.count - 1)
        }
        return nil
    }

    /// Registers an object under its ID, which must not be registered.
    mutating func insert(_ object: NSManagedObject) {
        if (used + 1) * 4 > entries.count * 3 { makeRoom(for: 1) }
        place(object)
    }

    private mutating func place(_ object: NSManagedObject) {
        let tag = Self.tag(of: object.identifier)
        var position = start(object.identifier.key, tag)
        while entries[position].tag < Entry.removed { position = (position + 1) & (entries.count - 1) }
        if entries[position].tag == Entry.free { used += 1 }
        entries[position].key = object.identifier.key
        entries[position].tag = tag
        entries[position].object = object
    }

    /// Forgets the object that is registered under an ID.
    mutating func remove(_ object: NSManagedObject, registeredAs identifier: NSManagedObjectID) {
        guard !entries.isEmpty else { return }
        let tag = Self.tag(of: identifier)
        var position = start(identifier.key, tag)
        while entries[position].tag != Entry.free {
            if entries[position].key == identifier.key, entries[position].tag == tag,
                entries[position].object === object
            {
                entries[position].tag = Entry.removed
                entries[position].object = nil
                return
            }
            position = (position + 1) & (entries.count - 1)
        }
    }

    /// Makes room for more objects at once, sweeping entries of objects that are gone.
    mutating func makeRoom(for count: Int) {
        guard (used + count) * 4 > entries.count * 3 else { return }
        let live = all
        var capacity = 64
        while capacity * 3 < (live.count + count) * 4 + live.count { capacity *= 2 }
        entries = Array(repeating: Entry(), count: capacity)
        used = 0
        for object in live { place(object) }
    }

    /// All objects that are still there.
    var all: [NSManagedObject] {
        entries.compactMap { $0.tag < Entry.removed ? $0.object : nil }
    }

    mutating func removeAll() {
        entries = []
        used = 0
    }
}
