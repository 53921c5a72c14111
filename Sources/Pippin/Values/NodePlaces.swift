import Foundation

/// The nodes of an entity by identifier. Integers and texts, which most identifiers are, have tables of their own,
/// which are faster than a dictionary.
struct NodePlaces {
    private var numbers = NumberPlaces()
    private var texts = TextPlaces()
    private var others: [RecordKey: Int] = [:]
    /// Dates by their microseconds.
    private var microseconds: [Double: (place: Int, date: Date)] = [:]
    /// Two dates that are the same in microseconds; nil for none.
    private(set) var closeDates: (Date, Date)?

    /// The place of a key, or of a date that is the same in microseconds: servers keep no more precision, and return
    /// slightly different dates from those asked for.
    func place(of key: RecordKey) -> Int? {
        switch key {
        case .integer(let number): return numbers.place(of: number)
        case .string(let text):
            if let hash = TextPlaces.hash(of: text) { return texts.place(of: text, hash) }
            return others[key]
        case .date(let date): return others[key] ?? microseconds[Self.microseconds(date)]?.place
        default: return others[key]
        }
    }

    /// The place of a key; a key without one gets the given place.
    mutating func place(of key: RecordKey, orPut new: Int) -> Int {
        switch key {
        case .integer(let number): return numbers.place(of: number, orPut: new)
        case .string(let text):
            if let hash = TextPlaces.hash(of: text) { return texts.place(of: text, hash, orPut: new) }
        case .date(let date):
            if others[key] == nil,
                let close = microseconds.updateValue((new, date), forKey: Self.microseconds(date))
            {
                closeDates = (close.date, date)
            }
        default: break
        }
        return Self.taken(&others[key, default: new])
    }

    /// Stores the place unless there is one, with one look-up.
    private static func taken(_ place: inout Int) -> Int { place }

    private static func microseconds(_ date: Date) -> Double {
        (date.timeIntervalSinceReferenceDate * 1_000_000).rounded()
    }

    /// Makes room for more keys of a kind.
    mutating func reserve(_ count: Int, _ kind: AttributeKind?) {
        switch kind {
        case .integer16, .integer32, .integer64: numbers.reserve(count)
        case .string: texts.reserve(count)
        default: others.reserveCapacity(others.count + count)
        }
    }
}

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

/// Identifiers that were asked for, each once, with the place of its first occurrence.
struct IdentifierPlaces {
    private var places = NodePlaces()
    /// How many distinct identifiers there are.
    private(set) var count = 0
    /// The place of each identifier asked for.
    private(set) var asked: [Int] = []

    /// - Parameters:
    ///   - capacity: how many will be asked for.
    ///   - kind: the kind of the identifiers, if it is known.
    init(capacity: Int, _ kind: AttributeKind?) {
        asked.reserveCapacity(capacity)
        places.reserve(capacity, kind)
    }

    /// Adds an identifier.
    ///
    /// - Returns: whether it was not there before.
    mutating func add(_ key: RecordKey) -> Bool {
        let place = places.place(of: key, orPut: count)
        asked.append(place)
        guard place == count else { return false }
        count += 1
        return true
    }

    /// The place of an identifier; nil for one that was not asked for.
    func place(of key: RecordKey) -> Int? { places.place(of: key) }
}
