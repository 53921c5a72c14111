/// Hands out the names of one table's columns, or of a store's tables, as Core Data does: `Z` and the name in capitals,
/// with a digit where two would be the same.
struct ColumnNames {
    private var taken: Set<String>

    init(reserved: Set<String> = []) { taken = reserved }

    /// The name for a property or entity: `ZNAME`, or `ZNAME1`, `ZNAME2` when that is taken.
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
}

/// Writes an identifier as SQL: as it is when it is a plain one, in double quotes otherwise.
package func quoted(_ identifier: String) -> String {
    let isPlain = identifier.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            return true
        default: return false
        }
    }
    // Core Data's names begin with Z or A_ and are no keywords; a leading digit cannot occur.
    if isPlain { return identifier }
    return "\"" + identifier.replacing("\"", with: "\"\"") + "\""
}
