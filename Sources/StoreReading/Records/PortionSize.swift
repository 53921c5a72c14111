import CoreData
import StoreEngine

/// How many rows are read at a time: many short ones, few whose values fill the memory. Pure.
package struct PortionSize {
    /// How many rows to read next.
    package private(set) var count = 1
    private let most: Int

    /// - Parameter most: how many at most.
    package init(most: Int = 500) { self.most = most }

    /// Follows the sizes of the values of a portion.
    package mutating func follow(_ rows: some Sequence<Row>) {
        let bytes = rows.reduce(0) { $0 + $1.byteCount }
        if bytes > 1 << 20 { count = max(1, count / 2) } else if bytes < 1 << 18 { count = min(most, count * 2) }
    }
}
