/// What became of the values of an import.
public struct ImportReport: Sendable, Equatable {
    /// A value that was not saved.
    public struct Refusal: Sendable, Equatable {
        /// The value's place in the source, from 1: the line of a file.
        public let position: Int
        /// Why: what decoding or saving it said.
        public let reason: String
    }

    /// How many models are new.
    public internal(set) var inserted = 0
    /// How many models that were there have other values now.
    public internal(set) var updated = 0
    /// How many models were there already, just so.
    public internal(set) var unchanged = 0
    /// How many values a later one with the same identifier, in the same batch, has taken the place of.
    public internal(set) var superseded = 0
    /// The values that were refused; all others are saved.
    public internal(set) var refused: [Refusal] = []

    /// A report of nothing.
    public init() {}

    /// How many values made no difference: because the model was there just so, or a later value had the same identifier.
    public var skipped: Int { unchanged + superseded }

    /// How many values were read.
    public var total: Int { inserted + updated + skipped + refused.count }

    static func + (left: ImportReport, right: ImportReport) -> ImportReport {
        var sum = left
        sum.inserted += right.inserted
        sum.updated += right.updated
        sum.unchanged += right.unchanged
        sum.superseded += right.superseded
        sum.refused += right.refused
        return sum
    }
}
