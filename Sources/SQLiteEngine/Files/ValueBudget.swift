import CoreDataModel

/// How many bytes the values of a row, or of a page of rows, may have, for programs that read stores of unknown origin.
/// A value that exceeds the rest is not read: something that says so takes its place.
final class ValueBudget: @unchecked Sendable {
    // @unchecked Sendable: confined to the store's lock, as the reading of rows is.
    private let most: Int
    private var rest: Int
    /// The row whose values are counted; nil for those of a page.
    private var key: Int64?
    private var isPage = false
    /// Values of fewer bytes are not counted.
    private static let least = 1 << 16

    /// - Parameter most: how many bytes.
    init(_ most: Int) { (self.most, rest) = (most, most) }

    /// Counts the values of all rows together that are read meanwhile.
    func readingPage<Result>(_ body: () throws -> Result) rethrows -> Result {
        (isPage, rest) = (true, most)
        defer { (isPage, key) = (false, nil) }
        return try body()
    }

    /// Counts a value.
    ///
    /// - Parameters:
    ///   - count: how many bytes it has.
    ///   - key: the row's key.
    /// - Returns: what takes the place of a value that is too large; nil for one that may be read.
    func refusal(of count: Int, in key: Int64) -> StoredValue? {
        guard count > Self.least else { return nil }
        if !isPage, self.key != key { (self.key, rest) = (key, most) }
        guard count > rest else {
            rest -= count
            return nil
        }
        let scope = isPage ? "of the values that are shown together" : "of an object’s values"
        return .object(
            UnavailableValue(
                "the value has \(count) bytes, and is not read: of \(most) bytes \(scope), \(rest) are left"))
    }
}
