/// A transaction that those opened inside it are parts of.
struct LongTransaction {
    /// Whether a part can be undone by itself.
    var undoesParts: Bool
}
