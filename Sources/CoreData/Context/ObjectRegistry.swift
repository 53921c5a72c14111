/// The objects of a context by ID, not retained: an open-addressing table that avoids hashing strings or classes.
///
/// Eight neighbouring keys share an entry, since objects usually come and go in the order of their keys. The entries of
/// many objects then fit in the processor's cache, and an object next to the last one is found without a search.
///
/// An object is in the table from its registration until its `deinit`; see `ObjectTable`, which guards both.
struct ObjectRegistry: ~Copyable {
    /// Eight neighbours: the part that their keys have in common.
    private struct Group {
        var number: UInt64
        var tag: UInt64

        static let size = 8
        /// Unused since the table was made.
        static let free = UInt64.max
        /// Formerly used; a search continues past it.
        static let removed = UInt64.max - 1
        static var empty: Group { Group(number: 0, tag: free) }

        var isLive: Bool { tag < Self.removed }
    }

    /// An ID with two registered objects: one of them is being freed, or references of a developer's store share a key.
    private struct SharedID: Hashable {
        let key: Int64
        let tag: UInt64
    }

    // Manually allocated: masking keeps positions within bounds, and checking them again took a third of a search.
    private var groups = UnsafeMutableBufferPointer<Group>(start: nil, count: 0)
    /// The objects of the groups, eight each.
    private var objects = UnsafeMutableBufferPointer<ObjectIdentifier?>(start: nil, count: 0)
    /// Further objects of IDs whose group has, or had, an object.
    private var others: [SharedID: [ObjectIdentifier]] = [:]
    /// How many groups are not free.
    private var used = 0
    /// The group that was found last.
    private var last = 0
    /// The number of low bits that most keys have in common: 5 if a server has given out every 32nd key, as it does for
    /// rows that create keys themselves, and 0 otherwise. It changes when the table is rebuilt.
    private var commonBits: UInt64 = 0

    deinit {
        groups.deallocate()
        objects.deallocate()
    }

    /// Whether nothing has been registered since it was made or cleared.
    var isUnused: Bool { used == 0 && others.isEmpty }

    // MARK: Groups

    /// The key with its common low bits moved to the front.
    private func spread(_ key: Int64) -> UInt64 {
        let key = UInt64(bitPattern: key)
        return key >> commonBits | (key & ((1 << commonBits) - 1)) << (64 - commonBits)
    }

    private func key(_ spread: UInt64) -> Int64 {
        guard commonBits > 0 else { return Int64(bitPattern: spread) }
        return Int64(bitPattern: spread << commonBits | spread >> (64 - commonBits))
    }

    /// The position where the search for a group begins. Sixteen neighbours lie together.
    private func start(_ number: UInt64, _ tag: UInt64) -> Int {
        let mixed = (number >> 4 &+ tag &* 0x9E37_79B9_7F4A_7C15) &* 0xD6E8_FEB8_6659_FD93
        return Int(truncatingIfNeeded: (mixed ^ (mixed >> 32)) << 4 | number & 15) & (groups.count - 1)
    }

    /// The place of a key among `objects`; nil if its group does not exist.
    private mutating func place(of key: Int64, _ tag: UInt64) -> Int? {
        guard !groups.isEmpty else { return nil }
        let spread = spread(key)
        let (number, member) = (spread >> 3, Int(spread & 7))
        if groups[last].number == number, groups[last].tag == tag { return last * Group.size + member }
        var position = start(number, tag)
        while groups[position].tag != Group.free {
            if groups[position].number == number, groups[position].tag == tag {
                last = position
                return position * Group.size + member
            }
            position = (position + 1) & (groups.count - 1)
        }
        return nil
    }

    /// The place of a key among `objects`; its group is made if necessary.
    private mutating func placeToFill(of key: Int64, _ tag: UInt64) -> Int {
        if let place = place(of: key, tag) { return place }
        makeRoom(forGroups: 1)
        let spread = spread(key)
        let number = spread >> 3
        var position = start(number, tag)
        while groups[position].isLive { position = (position + 1) & (groups.count - 1) }
        if groups[position].tag == Group.free { used += 1 }
        groups[position] = Group(number: number, tag: tag)
        last = position
        return position * Group.size + Int(spread & 7)
    }

    /// Removes the object at a place, and its group if that was the last object.
    private mutating func clear(_ place: Int) {
        objects[place] = nil
        let position = place / Group.size
        let first = position * Group.size
        for member in first..<first + Group.size where objects[member] != nil { return }
        // If a free group follows, no search continues past this one, so it can be free again.
        let isLast = groups[(position + 1) & (groups.count - 1)].tag == Group.free
        groups[position] = Group(number: 0, tag: isLast ? Group.free : Group.removed)
        if isLast { used -= 1 }
    }

    private mutating func makeRoom(forGroups count: Int, areSpaced: Bool? = nil) {
        guard (used + count) * 4 > groups.count * 3 else { return }
        let (oldGroups, oldObjects) = (groups, objects)
        defer {
            oldGroups.deallocate()
            oldObjects.deallocate()
        }
        let live = oldGroups.count { $0.isLive }
        var capacity = 16
        while capacity < (live + count) * 2 { capacity *= 2 }
        let bits = areSpaced.map { $0 ? 5 as UInt64 : 0 } ?? commonBits
        // Keys that differ in other bits belong to other groups.
        let moved = bits == commonBits ? [] : inGroups
        groups = .allocate(capacity: capacity)
        groups.initialize(repeating: .empty)
        objects = .allocate(capacity: capacity * Group.size)
        objects.initialize(repeating: nil)
        (used, last) = (0, 0)
        if bits != commonBits {
            commonBits = bits
            for entry in moved { objects[placeToFill(of: entry.key, entry.tag)] = entry.object }
            return
        }
        for (old, group) in oldGroups.enumerated() where group.isLive {
            var position = start(group.number, group.tag)
            while groups[position].isLive { position = (position + 1) & (capacity - 1) }
            groups[position] = group
            used += 1
            for member in 0..<Group.size {
                objects[position * Group.size + member] = oldObjects[old * Group.size + member]
            }
        }
    }

    private var inGroups: [(key: Int64, tag: UInt64, object: ObjectIdentifier)] {
        objects.indices.compactMap { place in
            let group = groups[place / Group.size]
            return objects[place].map { (key(group.number << 3 | UInt64(place % Group.size)), group.tag, $0) }
        }
    }

    // MARK: Objects

    /// The first object registered under an ID that `retain` can still retain.
    ///
    /// - Parameters:
    ///   - identity: the object.
    ///   - passedOver: takes objects that were retained and turned out to be others.
    ///   - retain: keeps the object alive while it is checked; `nil` for one that is being freed.
    /// - Returns: the object; `nil` if none is registered.
    mutating func object(
        at identity: ObjectIdentity, passingOver passedOver: inout [NSManagedObject],
        retain: (ObjectIdentifier) -> NSManagedObject?
    ) -> NSManagedObject? {
        let (key, tag) = (identity.key, identity.tag)
        func accepted(_ pointer: ObjectIdentifier) -> NSManagedObject? {
            guard let object = retain(pointer) else { return nil }
            guard let identifier = identity.identifier, identifier.reference != nil else { return object }
            if object.identifier.matches(identifier) { return object }
            passedOver.append(object)
            return nil
        }
        if let place = self.place(of: key, tag), let pointer = objects[place], let object = accepted(pointer) {
            return object
        }
        guard !others.isEmpty else { return nil }
        for pointer in others[SharedID(key: key, tag: tag)] ?? [] {
            if let object = accepted(pointer) { return object }
        }
        return nil
    }

    /// Registers an object, unless another has an entry with the key.
    ///
    /// - Returns: whether the object was registered.
    mutating func insertIfNew(_ object: ObjectIdentifier, _ key: Int64, _ tag: UInt64) -> Bool {
        let place = placeToFill(of: key, tag)
        guard objects[place] == nil else { return false }
        guard others.isEmpty || others[SharedID(key: key, tag: tag)] == nil else {
            // The group may have been made only for this.
            clear(place)
            return false
        }
        objects[place] = object
        return true
    }

    /// Registers an object.
    mutating func insert(_ object: ObjectIdentifier, _ key: Int64, _ tag: UInt64) {
        let place = placeToFill(of: key, tag)
        guard objects[place] != nil else { return objects[place] = object }
        others[SharedID(key: key, tag: tag), default: []].append(object)
    }

    /// Forgets an object.
    mutating func remove(_ object: ObjectIdentifier, _ key: Int64, _ tag: UInt64) {
        if let place = place(of: key, tag), objects[place] == object { return clear(place) }
        guard !others.isEmpty else { return }
        let shared = SharedID(key: key, tag: tag)
        others[shared]?.removeAll { $0 == object }
        if others[shared]?.isEmpty == true { others[shared] = nil }
    }

    /// Makes room for more objects at once.
    ///
    /// - Parameters:
    ///   - count: the number of objects.
    ///   - areSpaced: whether their keys are multiples of 32 apart; nil if unknown.
    mutating func makeRoom(for count: Int, areSpaced: Bool? = nil) {
        makeRoom(forGroups: count / Group.size + 1, areSpaced: areSpaced)
    }

    /// All objects that are registered.
    var all: [ObjectIdentifier] { objects.compactMap { $0 } + others.values.joined() }

    /// Whether an object of a store is registered.
    func holdsObjects(ofStore number: Int) -> Bool {
        groups.contains { $0.isLive && $0.tag >> 24 == UInt64(number) }
            || others.keys.contains { $0.tag >> 24 == UInt64(number) }
    }

    /// Whether no object with a tag is registered; `false` if there are more groups than a limit.
    func holdsNone(_ tag: UInt64, amongAtMost limit: Int) -> Bool {
        groups.count <= limit && !groups.contains { $0.tag == tag } && !others.keys.contains { $0.tag == tag }
    }

    mutating func removeAll() {
        groups.deallocate()
        objects.deallocate()
        groups = UnsafeMutableBufferPointer(start: nil, count: 0)
        objects = UnsafeMutableBufferPointer(start: nil, count: 0)
        others = [:]
        (used, last) = (0, 0)
    }
}
