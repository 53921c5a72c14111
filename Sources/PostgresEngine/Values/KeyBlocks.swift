/// Keys that were taken from the sequences of tables and have yet to be used, so that not each new object asks the server.
struct KeyBlocks {
    /// How many keys are taken at least the first time, and at least the next times at most: who needs many is given more each time.
    private static let (first, most) = (32, 512)

    private var free: [String: [ClosedRange<Int64>]] = [:]
    private var sizes: [String: Int] = [:]

    /// How many keys of a table are to be taken at least now.
    mutating func nextSize(_ table: String) -> Int {
        let size = sizes[table] ?? Self.first
        sizes[table] = min(size * 2, Self.most)
        return size
    }

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

    /// Takes one key, where there is one.
    mutating func take(_ table: String) -> Int64? {
        guard let first = free[table]?.first else { return nil }
        if first.count == 1 {
            free[table]?.removeFirst()
        } else {
            free[table]?[0] = first.lowerBound + 1...first.upperBound
        }
        return first.lowerBound
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
