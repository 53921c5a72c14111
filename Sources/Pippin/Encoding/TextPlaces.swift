/// Places by texts in ASCII, which are equal where their bytes are, in a table with open addressing. Pure.
struct TextPlaces {
    private var texts: ContiguousArray<String> = []
    private var hashes: ContiguousArray<UInt64> = []
    /// -1 where there is none.
    private var places: ContiguousArray<Int32> = []
    private var count = 0
    // Nobody can choose texts that all come to the same place.
    private static let seed = UInt64.random(in: .min ... .max)
    private static let factor = UInt64.random(in: .min ... .max) | 1

    /// The hash of a text; nil for one that is not in ASCII, which may equal a text of other bytes.
    static func hash(of text: String) -> UInt64? {
        let hash = text.utf8.withContiguousStorageIfAvailable { bytes -> UInt64? in
            let bytes = UnsafeRawBufferPointer(bytes)
            var hash = mixed(seed, UInt64(bytes.count))
            var all: UInt64 = 0
            var place = 0
            while place + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                all |= word
                hash = mixed(hash, word)
                place += 8
            }
            var rest: UInt64 = 0
            while place < bytes.count {
                rest = rest << 8 | UInt64(bytes[place])
                place += 1
            }
            all |= rest
            return all & 0x8080_8080_8080_8080 == 0 ? mixed(hash, rest) : nil
        }
        return hash ?? nil
    }

    @inline(__always)
    private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word).multipliedFullWidth(by: factor)
        return product.high ^ product.low &+ seed
    }

    func place(of text: String, _ hash: UInt64) -> Int? {
        guard !places.isEmpty else { return nil }
        let slot = slot(of: text, hash)
        return places[slot] < 0 ? nil : Int(places[slot])
    }

    mutating func place(of text: String, _ hash: UInt64, orPut new: Int) -> Int {
        if count * 2 >= places.count { grow(to: max(places.count * 2, 16)) }
        let slot = slot(of: text, hash)
        if places[slot] >= 0 { return Int(places[slot]) }
        (texts[slot], hashes[slot], places[slot]) = (text, hash, Int32(new))
        count += 1
        return new
    }

    mutating func reserve(_ more: Int) {
        var capacity = max(places.count, 16)
        while capacity < (count + more) * 2 { capacity *= 2 }
        if capacity > places.count { grow(to: capacity) }
    }

    /// Where a text is, or would be put.
    @inline(__always)
    private func slot(of text: String, _ hash: UInt64) -> Int {
        let mask = places.count - 1
        var slot = Int(truncatingIfNeeded: hash >> 20) & mask
        while places[slot] >= 0, hashes[slot] != hash || texts[slot] != text { slot = (slot + 1) & mask }
        return slot
    }

    private mutating func grow(to capacity: Int) {
        let (oldTexts, oldHashes, oldPlaces) = (texts, hashes, places)
        texts = ContiguousArray(repeating: "", count: capacity)
        hashes = ContiguousArray(repeating: 0, count: capacity)
        places = ContiguousArray(repeating: -1, count: capacity)
        for index in oldPlaces.indices where oldPlaces[index] >= 0 {
            let slot = slot(of: oldTexts[index], oldHashes[index])
            (texts[slot], hashes[slot], places[slot]) = (oldTexts[index], oldHashes[index], oldPlaces[index])
        }
    }
}
