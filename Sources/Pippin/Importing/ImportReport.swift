/// The outcome of an import.
public struct ImportReport: Sendable, Equatable {
    /// A value that was not saved.
    public struct Refusal: Sendable, Equatable {
        /// The value's place in the source, from 1: the line of a file.
        public let position: Int
        /// The reason, from decoding or saving the value.
        public let reason: String
    }

    /// How many models were inserted.
    public internal(set) var inserted = 0
    /// How many stored models have new values.
    public internal(set) var updated = 0
    /// How many models were stored already, with the same values.
    public internal(set) var unchanged = 0
    /// How many values gave way to another one: to a later one with the same identifier in the same batch, or to a
    /// model that ``SchemaRule/unique(_:keeping:)`` keeps in their place.
    public internal(set) var superseded = 0
    /// The values that were refused; all others were saved.
    public internal(set) var refused: [Refusal] = []

    /// An empty report.
    public init() {}

    /// How many values made no difference, because the model was stored already with the same values, or another one
    /// came in its place.
    public var skipped: Int { unchanged + superseded }

    /// How many values were read.
    public var total: Int { inserted + updated + skipped + refused.count }
}
