/// Keys that were taken from the sequences of tables and have yet to be used, so that not each new object asks the server.
struct KeyBlocks {
    /// How many keys are taken at least.
    static let size = 32

    private var free: [String: [ClosedRange<Int64>]] = [:]

    func count(_ table: String) -> Int { (free[table] ?? []).reduce(0) { $0 + $1.count } }

    /// Adds keys that come after those that are there.
    mutating func add(_ range: ClosedRange<Int64>, _ table: String) {
        var ranges = free[table] ?? []
        if let last = ranges.last, last.upperBound + 1 == range.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound...range.upperBound
        } else {
            ranges.append(range)
        }
        free[table] = ranges
    }

    /// Takes so many keys; fewer where there are not enough.
    mutating func take(_ count: Int, _ table: String) -> [Int64] {
        var keys: [Int64] = []
        keys.reserveCapacity(count)
        while keys.count < count, let first = free[table]?.first {
            let part = first.prefix(count - keys.count)
            keys += part
            if part.count == first.count {
                free[table]?.removeFirst()
            } else {
                free[table]?[0] = first.lowerBound + Int64(part.count)...first.upperBound
            }
        }
        return keys
    }

    /// Forgets what lies below a key that somebody brings along.
    mutating func removeAll(_ table: String) { free[table] = nil }
    mutating func removeAll() { free.removeAll() }
}
