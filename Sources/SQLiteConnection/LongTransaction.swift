/// A transaction of which those opened inside it become parts.
struct LongTransaction {
    /// Whether a part can be rolled back by itself.
    var undoesParts: Bool
}
