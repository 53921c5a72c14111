/// A transaction that those opened inside it are parts of.
struct LongTransaction {
    /// Whether a part can be undone by itself.
    let undoesParts: Bool
}
