/// Finds the largest subset of some places that is in ascending order: the models that need not move when the others
/// do.
///
/// The time grows with `n log n`, whatever the order. A difference of collections takes quadratic time and memory for a
/// reversed list.
///
/// - Parameter places: former places, in the new order.
/// - Returns: for each place, whether it is in the subset.
func ascendingPart(of places: [Int]) -> [Bool] {
    if zip(places, places.dropFirst()).allSatisfy(<) { return Array(repeating: true, count: places.count) }
    /// For each length, the index of the smallest place that a subset of that length can end with.
    var ends: [Int] = []
    /// For each index, the one before it in its subset.
    var previous = Array(repeating: -1, count: places.count)
    for index in places.indices {
        let length = firstIndex(in: ends.count) { places[ends[$0]] >= places[index] }
        if length > 0 { previous[index] = ends[length - 1] }
        if length == ends.count { ends.append(index) } else { ends[length] = index }
    }
    var isPart = Array(repeating: false, count: places.count)
    var index = ends.last ?? -1
    while index >= 0 {
        isPart[index] = true
        index = previous[index]
    }
    return isPart
}

/// The places of a list without those that leave. They are found by halving, so that many changes to a long list take
/// time for the changes.
struct StayingPlaces: Sendable {
    /// The places that leave, ascending.
    let leaving: [Int]
    /// How many places stay.
    let count: Int

    init(of count: Int, without leaving: [Int]) {
        self.leaving = leaving
        self.count = count - leaving.count
    }

    /// The place of one of those that stay, by its rank among them.
    func place(ofRank rank: Int) -> Int {
        // Before the place that leaves at an index, `leaving[index] - index` places stay.
        rank + firstIndex(in: leaving.count) { leaving[$0] - $0 > rank }
    }

    /// How many places stay before a place.
    func rank(of place: Int) -> Int {
        place - firstIndex(in: leaving.count) { leaving[$0] >= place }
    }

    /// Elements without those at the places that leave, and with others before some of those that stay. Slices of the
    /// elements are copied one after the other.
    ///
    /// - Parameters:
    ///   - elements: the list.
    ///   - arrivals: the new elements, each with the rank of the one that it comes before, in this order.
    ///   - count: how many elements to return at most.
    /// - Returns: the elements that stay and those that arrive, in order.
    func merge<Elements: RangeReplaceableCollection & RandomAccessCollection>(
        _ elements: Elements, with arrivals: some Sequence<(rank: Int, element: Elements.Element)>, count: Int
    ) -> Elements where Elements.Index == Int {
        var merged = Elements()
        merged.reserveCapacity(count)
        var (place, next) = (0, 0)
        func copy(upTo end: Int) {
            while next < leaving.count, leaving[next] < end {
                merged.append(contentsOf: elements[place..<leaving[next]])
                place = leaving[next] + 1
                next += 1
            }
            if place < end {
                merged.append(contentsOf: elements[place..<end])
                place = end
            }
        }
        for arrival in arrivals {
            copy(upTo: arrival.rank == 0 ? 0 : self.place(ofRank: arrival.rank - 1) + 1)
            merged.append(arrival.element)
        }
        let left = count - merged.count
        if left > 0 { copy(upTo: self.place(ofRank: rank(of: place) + left - 1) + 1) }
        return merged
    }
}

/// The first of some indexes that a condition holds for, which holds for all after it; the count if it holds for none.
func firstIndex(in count: Int, where condition: (Int) throws -> Bool) rethrows -> Int {
    var (low, high) = (0, count)
    while low < high {
        let middle = low + (high - low) / 2
        if try condition(middle) { high = middle } else { low = middle + 1 }
    }
    return low
}
