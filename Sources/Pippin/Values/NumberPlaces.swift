/// Places by integers, in a table with open addressing.
///
/// Consecutive numbers lie side by side, eight in a cache line: most identifiers are asked for in order, and a large
/// table does not fit the processor's cache.
struct NumberPlaces {
    private struct Entry {
        var key: Int64 = 0
        /// -1 where there is none.
        var place = -1
    }

    private var entries: ContiguousArray<Entry> = []
    private var count = 0
    private var shift: UInt64 = 64
    /// Random, so that input cannot be chosen to collide.
    private static let factor = UInt64.random(in: .min ... .max) | 1
    /// How many numbers lie side by side, as a power of two.
    private static let group: UInt64 = 3

    func place(of key: Int64) -> Int? {
        guard !entries.isEmpty else { return nil }
        let place = entries[slot(of: key)].place
        return place < 0 ? nil : place
    }

    mutating func place(of key: Int64, orPut new: Int) -> Int {
        if count * 2 >= entries.count { grow(to: max(entries.count * 2, 16)) }
        let slot = slot(of: key)
        if entries[slot].place >= 0 { return entries[slot].place }
        entries[slot] = Entry(key: key, place: new)
        count += 1
        return new
    }

    mutating func reserve(_ more: Int) {
        var capacity = max(entries.count, 16)
        while capacity < (count + more) * 2 { capacity *= 2 }
        if capacity > entries.count { grow(to: capacity) }
    }

    /// The slot of a key, or the slot where it would be put.
    @inline(__always)
    private func slot(of key: Int64) -> Int {
        let mask = entries.count - 1
        let bits = UInt64(bitPattern: key)
        let line = ((bits >> Self.group) &* Self.factor) >> shift
        var slot = Int(line << Self.group | bits & (1 << Self.group - 1))
        while entries[slot].place >= 0, entries[slot].key != key { slot = (slot + 1) & mask }
        return slot
    }

    private mutating func grow(to capacity: Int) {
        let old = entries
        entries = ContiguousArray(repeating: Entry(), count: capacity)
        shift = 64 - UInt64(capacity.trailingZeroBitCount) + Self.group
        for entry in old where entry.place >= 0 { entries[slot(of: entry.key)] = entry }
    }
}
