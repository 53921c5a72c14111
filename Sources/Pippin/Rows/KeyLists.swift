/// A list of keys for each of several objects, all in one array.
struct KeyLists {
    private var keys: ContiguousArray<Int64> = []
    private var ranges: ContiguousArray<Range<Int>>

    /// - Parameter count: the number of lists, which are empty at first.
    init(count: Int) { ranges = ContiguousArray(repeating: 0..<0, count: count) }

    /// Adds a key to a list. All keys of one list must be added one after the other.
    mutating func add(_ key: Int64, to list: Int) {
        let first = ranges[list].isEmpty ? keys.count : ranges[list].lowerBound
        keys.append(key)
        ranges[list] = first..<keys.count
    }

    subscript(list: Int) -> ContiguousArray<Int64>.SubSequence { keys[ranges[list]] }
}
