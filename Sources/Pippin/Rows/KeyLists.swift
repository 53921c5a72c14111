/// A list of keys for each of several objects, in memory one after the other.
struct KeyLists {
    private var keys: ContiguousArray<Int64> = []
    private var ranges: ContiguousArray<Range<Int>>

    /// - Parameter count: how many lists there are. They are empty.
    init(count: Int) { ranges = ContiguousArray(repeating: 0..<0, count: count) }

    /// Adds a key to a list. Those of one list come one after the other.
    mutating func add(_ key: Int64, to list: Int) {
        let first = ranges[list].isEmpty ? keys.count : ranges[list].lowerBound
        keys.append(key)
        ranges[list] = first..<keys.count
    }

    subscript(list: Int) -> ContiguousArray<Int64>.SubSequence { keys[ranges[list]] }
}
