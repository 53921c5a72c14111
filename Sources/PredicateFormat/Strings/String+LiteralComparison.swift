import Foundation

extension String {
    /// Whether two strings have the same bytes. Swift's `==` also holds for canonically equivalent strings, which
    /// differ for `isEqual(_:)` and for SQLite.
    package func isLiterallyEqual(to other: String) -> Bool {
        let fast = utf8.withContiguousStorageIfAvailable { first in
            other.utf8.withContiguousStorageIfAvailable { second in
                first.count == second.count && first.elementsEqual(second)
            }
        }
        if let fast, let fast { return fast }
        return utf8.elementsEqual(other.utf8)
    }

    /// The order of the strings' bytes, which is that of their Unicode scalars, and that of SQLite.
    package func literalComparison(with other: String) -> ComparisonResult {
        if utf8.lexicographicallyPrecedes(other.utf8) { return .orderedAscending }
        return isLiterallyEqual(to: other) ? .orderedSame : .orderedDescending
    }
}
