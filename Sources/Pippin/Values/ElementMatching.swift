/// Which wanted element of a list each known one is, where a program has changed the list.
///
/// Elements with an `id` are matched by that. Others are matched if they are equal; what is left between the same
/// neighbours in both lists is matched in order if it is as many, or if one has a value of the other.
struct ElementMatching {
    /// By known element, the index of the wanted one; nil for an element that was taken away.
    private(set) var wanted: [Int?]
    /// The known elements that may be another one or none, and must not be lost.
    private(set) var unclear: [Int] = []

    /// - Parameters:
    ///   - known: the elements that the program knows.
    ///   - wanted: the elements that it wants.
    ///   - kept: the stored elements of a known one, if there is more in them; nil otherwise.
    init(_ known: [JSONTree], _ wanted: [JSONTree], kept: (_ known: Int) -> [JSONTree]?) {
        self.wanted = Array(repeating: nil, count: known.count)
        if let ids = Self.ids(known), let others = Self.ids(wanted) {
            let places = Dictionary(zip(others, others.indices)) { first, _ in first }
            self.wanted = ids.map { places[$0] }
            return
        }
        matchEqual(known, wanted, kept)
        var (left, new): ([Int], [Int]) = ([], [])
        for gap in gaps(wanted.count) {
            let (left1, new1) = pair(gap, known, wanted, kept)
            left += left1
            new += new1
        }
        // One that was moved and changed at once.
        unclear += left.filter { index in
            kept(index) != nil && new.contains { Self.areSimilar(known[index], wanted[$0]) }
        }
    }

    /// The identifiers of all elements; nil if one has none, or two have the same.
    private static func ids(_ elements: [JSONTree]) -> [[UInt8]]? {
        let ids = elements.compactMap { element in element[Array("id".utf8)].flatMap { $0.isNull ? nil : $0.leaf } }
        return ids.count == elements.count && Set(ids).count == ids.count ? ids : nil
    }

    /// Matches equal elements, the first with the first.
    private mutating func matchEqual(
        _ known: [JSONTree], _ wanted: [JSONTree], _ kept: (_ known: Int) -> [JSONTree]?
    ) {
        let places = Dictionary(grouping: wanted.indices) { wanted[$0].unorderedBytes }
        for (bytes, same) in Dictionary(grouping: known.indices, by: { known[$0].unorderedBytes }) {
            let others = places[bytes] ?? []
            for (index, other) in zip(same, others) { self.wanted[index] = other }
            // Some of them were taken away: which ones matters if there is more in them.
            guard !others.isEmpty, others.count < same.count, same.contains(where: { kept($0) != kept(same[0]) }) else {
                continue
            }
            unclear += same.filter { kept($0) != nil }
        }
        unclear.sort()
    }

    /// Elements without a match between two neighbours.
    private struct Gap {
        var known: [Int] = []
        var wanted: [Int] = []
    }

    /// The elements without a match, by the matched ones around them that have kept their order.
    private func gaps(_ count: Int) -> [Gap] {
        let fixed = Self.longestIncreasing(self.wanted)
        let taken = Set(wanted.compactMap(\.self))
        var gaps: [Gap] = []
        var (known, other) = (0, 0)
        for end in fixed + [wanted.count] {
            let otherEnd = end < wanted.count ? wanted[end] ?? count : count
            gaps.append(
                Gap(
                    known: (known..<end).filter { wanted[$0] == nil },
                    wanted: (other..<otherEnd).filter { !taken.contains($0) }))
            (known, other) = (end + 1, otherEnd + 1)
        }
        return gaps
    }

    /// Matches the elements of a gap.
    ///
    /// - Returns: those that are left.
    private mutating func pair(
        _ gap: Gap, _ known: [JSONTree], _ new: [JSONTree], _ kept: (_ known: Int) -> [JSONTree]?
    ) -> (known: [Int], wanted: [Int]) {
        if gap.known.count == gap.wanted.count {
            for (index, other) in zip(gap.known, gap.wanted) { wanted[index] = other }
            return ([], [])
        }
        var (left, others) = (gap.known, gap.wanted)
        for index in gap.known {
            let similar = others.filter { Self.areSimilar(known[index], new[$0]) }
            guard similar.count == 1, left.count(where: { Self.areSimilar(known[$0], new[similar[0]]) }) == 1 else {
                continue
            }
            wanted[index] = similar[0]
            left.removeAll { $0 == index }
            others.removeAll { $0 == similar[0] }
        }
        if !others.isEmpty { unclear += left.filter { kept($0) != nil } }
        return (left, others)
    }

    /// Whether two elements have an equal member that says something.
    private static func areSimilar(_ one: JSONTree, _ other: JSONTree) -> Bool {
        guard case .object(let members) = one else { return false }
        return members.contains { member in
            guard let leaf = member.value.leaf, leaf.count > 1, !leaf.isWord else { return false }
            return other[member.key]?.leaf == leaf
        }
    }

    /// The indexes of the longest ascending series of those numbers that there are.
    private static func longestIncreasing(_ numbers: [Int?]) -> [Int] {
        // By length of a series, the index of its last number; and before each number, the one that precedes it.
        var ends: [Int] = []
        var before = Array(repeating: -1, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            guard let number else { continue }
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] ?? 0 < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { before[index] = ends[low - 1] }
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var series: [Int] = []
        var index = ends.last ?? -1
        while index >= 0 {
            series.append(index)
            index = before[index]
        }
        return series.reversed()
    }
}

extension [UInt8] {
    /// Whether a leaf is a Boolean or null, which many elements have in common.
    fileprivate var isWord: Bool { ["true", "false", "null"].contains { $0.utf8.elementsEqual(self) } }
}
