/// The largest part of some places that is in ascending order: what need not move when the rest does.
///
/// The time grows with `n log n` of how many there are, whatever their order: a difference of collections takes the square of it for a list
/// that was turned around, and as much memory.
///
/// - Parameter places: former places, in the new order.
/// - Returns: for each, whether it is one of that part.
func ascendingPart(of places: [Int]) -> [Bool] {
    if zip(places, places.dropFirst()).allSatisfy(<) { return Array(repeating: true, count: places.count) }
    /// For each length, the index of the least place that a part of that length can end with.
    var ends: [Int] = []
    /// For each index, the one before it in its part.
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
