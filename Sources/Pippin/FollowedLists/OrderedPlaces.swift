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
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if places[ends[middle]] < places[index] { low = middle + 1 } else { high = middle }
        }
        if low > 0 { previous[index] = ends[low - 1] }
        if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var isPart = Array(repeating: false, count: places.count)
    var index = ends.last ?? -1
    while index >= 0 {
        isPart[index] = true
        index = previous[index]
    }
    return isPart
}
