/// Places by whole numbers, in a table with open addressing.
struct NumberPlaces {
    private var keys: ContiguousArray<Int64> = []
    /// -1 where there is none.
    private var places: ContiguousArray<Int32> = []
    private var count = 0
    private var shift: UInt64 = 64
    /// Nobody can choose numbers that all come to the same place.
    private static let factor = UInt64.random(in: .min ... .max) | 1

    func place(of key: Int64) -> Int? {
        guard !places.isEmpty else { return nil }
        let slot = slot(of: key)
        return places[slot] < 0 ? nil : Int(places[slot])
    }

    mutating func place(of key: Int64, orPut new: Int) -> Int {
        if count * 2 >= places.count { grow(to: max(places.count * 2, 16)) }
        let slot = slot(of: key)
        if places[slot] >= 0 { return Int(places[slot]) }
        keys[slot] = key
        places[slot] = Int32(new)
        count += 1
        return new
    }

    mutating func reserve(_ more: Int) {
        var capacity = max(places.count, 16)
        while capacity < (count + more) * 2 { capacity *= 2 }
        if capacity > places.count { grow(to: capacity) }
    }

    /// Where a key is, or would be put.
    @inline(__always)
    private func slot(of key: Int64) -> Int {
        let mask = places.count - 1
        var slot = Int((UInt64(bitPattern: key) &* Self.factor) >> shift)
        while places[slot] >= 0, keys[slot] != key { slot = (slot + 1) & mask }
        return slot
    }

    private mutating func grow(to capacity: Int) {
        let (oldKeys, oldPlaces) = (keys, places)
        keys = ContiguousArray(repeating: 0, count: capacity)
        places = ContiguousArray(repeating: -1, count: capacity)
        shift = UInt64(64 - capacity.trailingZeroBitCount)
        for (key, place) in zip(oldKeys, oldPlaces) where place >= 0 {
            let slot = slot(of: key)
            (keys[slot], places[slot]) = (key, place)
        }
    }
}
