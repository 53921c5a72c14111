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
