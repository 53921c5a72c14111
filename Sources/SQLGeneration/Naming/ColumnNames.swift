/// Hands out the names of one table's columns, or of a store's tables, as Core Data does: `Z` and the name in capitals,
/// followed by a number if the name is taken.
struct ColumnNames {
    private var taken: Set<String>

    init(reserved: Set<String> = []) { taken = reserved }

    /// The name for a property or entity: `ZNAME`, or `ZNAME1`, `ZNAME2` if that is taken.
    mutating func next(for name: String) -> String {
        let base = "Z" + name.uppercased()
        var candidate = base
        var digit = 0
        while !taken.insert(candidate).inserted {
            digit += 1
            candidate = base + String(digit)
        }
        return candidate
    }

    /// The name for the order column of a relationship: `Z_FOK_OWNER`. It is numbered by itself, whatever the number of
    /// the relationship's own column is.
    mutating func next(forOrderOf name: String) -> String { next(for: "_FOK_\(name)") }
}
