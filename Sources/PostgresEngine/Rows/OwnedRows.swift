import PostgresConnection

/// The rows of a result in the order of their owners, and each owner's rows in theirs: counted and sorted here, which
/// is cheaper than having the server sort whole rows.
struct OwnedRows {
    /// By owner: where its rows begin in `rows`; after the last one, where they end.
    private let starts: [Int]
    private let rows: [Int32]

    /// - Parameters:
    ///   - result: rows, in any order. The first column has their keys.
    ///   - owner: the column with the key of the owner.
    ///   - order: the column with the place among the owner's rows; nil if they are in the order of their keys.
    ///   - keys: the owners, in the desired order. Rows of others are left out.
    init(_ result: PostgresResult, owner: Int, order: Int?, of keys: [Int64]) {
        var places: [Int64: Int] = [:]
        places.reserveCapacity(keys.count)
        for (place, key) in keys.enumerated() { places[key] = place }
        var found = [Int32](repeating: -1, count: result.count)
        // The rows' places in result order; rows without one come first.
        var orders = [Int64](repeating: .min, count: result.count)
        var starts = [Int](repeating: 0, count: keys.count + 1)
        // Rows of one owner often come one after the other.
        var latest: (key: Int64, place: Int?) = (0, places[0])
        for row in 0..<result.count {
            let key = result.integer(row, owner)
            if key != latest.key { latest = (key, places[key]) }
            guard let place = latest.place else { continue }
            found[row] = Int32(place)
            let raw = result.raw(row, order ?? 0)
            if !raw.isEmpty { orders[row] = BinaryNumber.integer(raw) }
            starts[place + 1] += 1
        }
        for place in keys.indices { starts[place + 1] += starts[place] }
        var next = starts
        var rows = [Int32](repeating: 0, count: starts[keys.count])
        for (row, place) in found.enumerated() where place >= 0 {
            rows[next[Int(place)]] = Int32(row)
            next[Int(place)] += 1
        }
        func precedes(_ one: Int32, _ other: Int32) -> Bool {
            let (one, other) = (Int(one), Int(other))
            if orders[one] != orders[other] { return orders[one] < orders[other] }
            return result.integer(one, 0) < result.integer(other, 0)
        }
        for place in keys.indices {
            let range = starts[place]..<starts[place + 1]
            // They often are in order already, as they were written.
            let isSorted = range.dropFirst().allSatisfy { orders[Int(rows[$0 - 1])] < orders[Int(rows[$0])] }
            if !isSorted { rows[range].sort(by: precedes) }
        }
        (self.starts, self.rows) = (starts, rows)
    }

    /// Each row with the position of its owner.
    @inline(__always)
    func forEach(_ body: (_ place: Int, _ row: Int) throws -> Void) rethrows {
        for place in 0..<starts.count - 1 {
            for position in starts[place]..<starts[place + 1] { try body(place, Int(rows[position])) }
        }
    }
}
