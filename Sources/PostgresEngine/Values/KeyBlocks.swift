import PostgresConnection

/// Keys that were taken from the sequences of tables and have not been used yet, so that not every new object asks the
/// server.
struct KeyBlocks {
    /// How many keys are reserved the first time, and how many at most per request: the number grows for callers that
    /// need many.
    private static let (first, most) = (32, 512)

    private var free: [String: [ClosedRange<Int64>]] = [:]
    private var sizes: [String: Int] = [:]
    /// The keys of a table that were requested from the server and not yet taken.
    var requested: (table: String, statement: StatementAhead)?

    /// How many keys of a table are to be reserved at least now.
    mutating func nextSize(_ table: String) -> Int {
        let size = sizes[table] ?? Self.first
        sizes[table] = min(size * 2, Self.most)
        return size
    }

    func count(_ table: String) -> Int { (free[table] ?? []).reduce(0) { $0 + $1.count } }

    /// Adds keys that follow the existing ones.
    mutating func add(_ range: ClosedRange<Int64>, _ table: String) {
        var ranges = free[table] ?? []
        if let last = ranges.last, last.upperBound + 1 == range.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound...range.upperBound
        } else {
            ranges.append(range)
        }
        free[table] = ranges
    }

    /// Takes one key, if there is one.
    mutating func take(_ table: String) -> Int64? {
        guard let first = free[table]?.first else { return nil }
        if first.count == 1 {
            free[table]?.removeFirst()
        } else {
            free[table]?[0] = first.lowerBound + 1...first.upperBound
        }
        return first.lowerBound
    }

    /// Takes the given number of keys; fewer if there are not enough.
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

    /// Forgets the reserved keys of a table.
    mutating func removeAll(_ table: String) { free[table] = nil }
    mutating func removeAll() { (free, requested) = ([:], nil) }
}
