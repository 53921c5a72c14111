/// A range of identifiers: those whose hash begins with some bits. The range of depth 0 has all of them; each has
/// sixteen parts.
package struct IdentifierRange: Hashable, Comparable, Sendable {
    /// How deep ranges go: there are 65,536 of this depth.
    package static let deepest = 4
    package static let all = IdentifierRange(depth: 0, place: 0)

    package let depth: Int
    package let place: Int

    package init(depth: Int, place: Int) { (self.depth, self.place) = (depth, place) }

    /// The deepest range that an identifier is in.
    package init(of id: RowID) {
        var hash = RowHash()
        hash.add(id)
        self.init(depth: Self.deepest, place: Int(hash.finished >> UInt64(64 - 4 * Self.deepest)))
    }

    package var parts: [IdentifierRange] {
        (0..<16).map { IdentifierRange(depth: depth + 1, place: place << 4 + $0) }
    }

    /// Its deepest ranges, by their places.
    var leaves: Range<Int> {
        let bits = 4 * (Self.deepest - depth)
        return (place << bits)..<((place + 1) << bits)
    }

    package static func < (one: IdentifierRange, other: IdentifierRange) -> Bool {
        (one.depth, one.place) < (other.depth, other.place)
    }
}

/// Sums of a store's rows by ranges of their identifiers. Two stores have the same rows, as far as these are known, if
/// their sums are the same; where they are not, the parts of a range are compared. Pure.
package struct RangeSums: Sendable {
    private let known: KnownProperties
    private var leaves: [UInt64]

    /// - Parameter known: the properties that count.
    package init(_ known: KnownProperties) {
        self.known = known
        leaves = Array(repeating: 0, count: IdentifierRange.all.leaves.count)
    }

    package mutating func add(_ id: RowID, _ values: [String: SyncValue]) {
        guard let sum = Self.sum(of: id, values, known) else { return }
        leaves[IdentifierRange(of: id).place] &+= sum
    }

    /// Takes a row out again that was added with the same values.
    package mutating func remove(_ id: RowID, _ values: [String: SyncValue]) {
        guard let sum = Self.sum(of: id, values, known) else { return }
        leaves[IdentifierRange(of: id).place] &-= sum
    }

    package subscript(range: IdentifierRange) -> UInt64 { leaves[range.leaves].reduce(0, &+) }

    /// The sums of the parts of some ranges, in order.
    package func sums(ofParts ranges: [IdentifierRange]) -> [UInt64] { ranges.flatMap(\.parts).map { self[$0] } }

    /// The parts of some ranges whose sums are others in another store.
    package func differing(partsOf ranges: [IdentifierRange], from others: [UInt64]) -> [IdentifierRange] {
        zip(ranges.flatMap(\.parts), others).filter { self[$0] != $1 }.map(\.0)
    }

    /// The sum of one row; nil for an entity that is not known.
    static func sum(of id: RowID, _ values: [String: SyncValue], _ known: KnownProperties) -> UInt64? {
        guard let properties = known.kinds[id.entity] else { return nil }
        var hash = RowHash()
        hash.add(id)
        for (name, kind) in properties.sorted(by: { $0.key < $1.key }) {
            hash.add(name)
            var value = values[name] ?? .null
            if value == .null, kind == .list { value = .list([]) }
            if value == .null, kind == .set { value = .set([]) }
            hash.add(value)
        }
        return hash.finished
    }

    /// What makes a device's rows those of the server, in the ranges whose rows both are given.
    ///
    /// - Parameters:
    ///   - own: the device's rows, without what is unsent.
    ///   - theirs: the server's.
    ///   - known: the properties that count.
    /// - Returns: the changes of a page.
    package static func repair(
        _ own: [RowID: Row], _ theirs: [RowID: Row], _ known: KnownProperties
    ) -> [PageChange] {
        var changes: [PageChange] = []
        for (id, row) in theirs where known.contains(id.entity) {
            let values = known.part(of: row.values, in: id.entity)
            guard let mine = own[id] else {
                changes.append(.row(id, values, row.scope))
                continue
            }
            if sum(of: id, mine.values, known) == sum(of: id, values, known) { continue }
            changes.append(
                .values(id, values.filter { mine.values[$0.key] != $0.value }, row.scope))
        }
        for id in own.keys where theirs[id] == nil && known.contains(id.entity) { changes.append(.deleted(id)) }
        return changes.sorted { $0.id < $1.id }
    }
}

/// What a device asks a server about its rows by ranges, at a state that it has reached.
package struct SumsRequest: Hashable, Sendable {
    package enum Wanted: Hashable, Sendable {
        /// The sums of the parts of these ranges.
        case sums([IdentifierRange])
        /// The rows of these ranges, after a place.
        case rows(Set<IdentifierRange>, after: RowID?)
    }

    package var device: DeviceID
    package var agreement: Agreement
    package var epoch: String
    /// The state: the last transaction.
    package var at: HistoryNumber
    package var known: KnownProperties
    package var wanted: Wanted

    package init(
        device: DeviceID, agreement: Agreement, epoch: String, at: HistoryNumber, known: KnownProperties, wanted: Wanted
    ) {
        (self.device, self.agreement, self.epoch) = (device, agreement, epoch)
        (self.at, self.known, self.wanted) = (at, known, wanted)
    }
}

/// Hashes what a row has: the same on every machine. Pure.
struct RowHash {
    private var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }

    mutating func add(_ number: UInt64) {
        value = (value ^ number) &* 0x9E37_79B9_7F4A_7C15
        value ^= value >> 29
    }

    mutating func add(_ text: String) {
        add(UInt64(text.utf8.count))
        for byte in text.utf8 { add(byte) }
    }

    mutating func add(_ id: RowID) {
        add(id.entity)
        add(id.key.string)
    }

    mutating func add(_ value: SyncValue) {
        switch value {
        case .null: add(UInt8(0))
        case .bool(let flag): add(UInt8(flag ? 2 : 1))
        case .integer(let number):
            add(UInt8(3))
            add(UInt64(bitPattern: number))
        case .double(let number):
            add(UInt8(4))
            add(number.value.bitPattern)
        case .decimal(let digits):
            add(UInt8(5))
            add(digits)
        case .text(let text):
            add(UInt8(6))
            add(text.string)
        case .date(let time):
            add(UInt8(7))
            add(UInt64(bitPattern: time))
        case .bytes(let bytes):
            add(UInt8(8))
            add(UInt64(bytes.count))
            for byte in bytes { add(byte) }
        case .reference(let id):
            add(UInt8(9))
            add(id)
        case .list(let ids):
            add(UInt8(10))
            add(UInt64(ids.count))
            for id in ids { add(id) }
        case .set(let values):
            // Without an order.
            add(UInt8(11))
            add(
                values.reduce(UInt64(values.count)) { sum, value in
                    var hash = RowHash()
                    hash.add(value)
                    return sum &+ hash.finished
                })
        }
    }

    /// The hash, with every bit of it depending on all that was added.
    var finished: UInt64 {
        var hash = value
        hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ (hash >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ (hash >> 33)
    }
}
