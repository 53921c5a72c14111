/// The order keys (`Z_FOK_…`) of an ordered to-many relationship. Pure.
///
/// Keys grow along the order, with gaps between them, so that a destination that is inserted between two others gets a
/// key between theirs, and no other key changes.
package enum OrderKeys {
    /// The key of the first destination, and the distance to the next one, as in Core Data.
    package static let first: Int64 = 2048
    package static let step: Int64 = 1024

    /// The initial key at a place.
    package static func key(at place: Int) -> Int64 { first + Int64(place) * step }

    /// Keys that may stay. Others are treated as missing: no order written by Pippin reaches them, and arithmetic with
    /// them may overflow.
    private static let usable: ClosedRange<Int64> = -1 << 60...1 << 60

    /// The keys that must be written for destinations to be in an order.
    ///
    /// - Parameters:
    ///   - order: all destinations, in order.
    ///   - existing: the keys of destinations that have one.
    /// - Returns: destinations and their new keys; as few as possible, or all of them if there is no room.
    package static func changes(order: [Int64], existing: [Int64: Int64]) -> [(destination: Int64, key: Int64)] {
        let existing = existing.filter { usable.contains($0.value) }
        let kept = longestIncreasing(order.map { existing[$0] })
        if let changes = fill(order, kept: kept, existing: existing) { return changes }
        return order.enumerated().map { ($1, key(at: $0)) }
    }

    /// Gives new keys to the destinations that do not keep theirs, between those that do; nil if there is no room.
    private static func fill(
        _ order: [Int64], kept: [Bool], existing: [Int64: Int64]
    ) -> [(destination: Int64, key: Int64)]? {
        var changes: [(destination: Int64, key: Int64)] = []
        var position = 0
        var previous: Int64?
        while position < order.count {
            if kept[position] {
                previous = existing[order[position]]
                position += 1
                continue
            }
            var end = position
            while end < order.count, !kept[end] { end += 1 }
            let count = Int64(end - position)
            let next = end < order.count ? existing[order[end]] : nil
            let start: Int64
            let distance: Int64
            switch (previous, next) {
            case (nil, nil): (start, distance) = (first, step)
            case (let previous?, nil): (start, distance) = (previous + step, step)
            case (nil, let next?):
                distance = min(step, next / (count + 1))
                start = next - count * distance
            case (let previous?, let next?):
                distance = (next - previous) / (count + 1)
                start = previous + distance
            }
            guard distance > 0 else { return nil }
            for offset in 0..<count {
                changes.append((order[position + Int(offset)], start + offset * distance))
                previous = start + offset * distance
            }
            position = end
        }
        return changes
    }

    /// Which elements belong to a longest strictly increasing subsequence; elements without a value do not.
    private static func longestIncreasing(_ values: [Int64?]) -> [Bool] {
        var tails: [Int] = []
        var predecessors = Array(repeating: -1, count: values.count)
        for (index, value) in values.enumerated() {
            guard let value else { continue }
            var low = 0
            var high = tails.count
            while low < high {
                let middle = (low + high) / 2
                if (values[tails[middle]] ?? .min) < value { low = middle + 1 } else { high = middle }
            }
            if low > 0 { predecessors[index] = tails[low - 1] }
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var kept = Array(repeating: false, count: values.count)
        var index = tails.last ?? -1
        while index >= 0 {
            kept[index] = true
            index = predecessors[index]
        }
        return kept
    }
}
