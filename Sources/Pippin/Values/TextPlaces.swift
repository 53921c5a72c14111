/// Places by ASCII texts, which are equal if their bytes are, in a table with open addressing. Pure.
struct TextPlaces {
    /// A slot holds enough to decide most look-ups: a large table does not fit the processor's cache, so each look-up
    /// should touch memory once.
    private struct Slot {
        var hash: UInt32 = 0
        /// The number of the text; -1 if the slot is free.
        var text: Int32 = -1
    }

    private var slots: ContiguousArray<Slot> = []
    /// In order of insertion.
    private var texts: ContiguousArray<(text: String, place: Int)> = []
    // Random, so that input cannot be chosen to collide.
    private static let seed = UInt64.random(in: .min ... .max)
    private static let factor = UInt64.random(in: .min ... .max) | 1

    /// The hash of a text; nil for a text that is not ASCII, which may equal a text with other bytes.
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
        guard !slots.isEmpty else { return nil }
        let number = slots[slot(of: text, hash)].text
        return number < 0 ? nil : texts[Int(number)].place
    }

    mutating func place(of text: String, _ hash: UInt64, orPut new: Int) -> Int {
        if texts.count * 2 >= slots.count { grow(to: max(slots.count * 2, 16)) }
        let slot = slot(of: text, hash)
        let known = slots[slot].text
        if known >= 0 { return texts[Int(known)].place }
        slots[slot] = Slot(hash: Self.short(hash), text: Int32(texts.count))
        texts.append((text, new))
        return new
    }

    mutating func reserve(_ more: Int) {
        var capacity = max(slots.count, 16)
        while capacity < (texts.count + more) * 2 { capacity *= 2 }
        if capacity > slots.count { grow(to: capacity) }
        texts.reserveCapacity(texts.count + more)
    }

    /// The part of a hash that a slot keeps.
    private static func short(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) }

    /// The slot of a text, or the slot where it would be put.
    @inline(__always)
    private func slot(of text: String, _ hash: UInt64) -> Int {
        let mask = slots.count - 1
        let short = Self.short(hash)
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot].text >= 0, slots[slot].hash != short || texts[Int(slots[slot].text)].text != text {
            slot = (slot + 1) & mask
        }
        return slot
    }

    private mutating func grow(to capacity: Int) {
        slots = ContiguousArray(repeating: Slot(), count: capacity)
        let mask = capacity - 1
        for (number, text) in texts.enumerated() {
            guard let hash = Self.hash(of: text.text) else { continue }
            var slot = Int(truncatingIfNeeded: hash) & mask
            while slots[slot].text >= 0 { slot = (slot + 1) & mask }
            slots[slot] = Slot(hash: Self.short(hash), text: Int32(number))
        }
    }
}
