import CompactCollections
import CoreDataModel
import StoreEngine

/// Finds the columns that accompany that of a relationship: the destination's entity, and the place in an order.
struct DependentColumns {
    private let matching: ColumnMatching
    private var free: [String]

    init(_ matching: ColumnMatching, _ free: [String]) {
        self.matching = matching
        self.free = free
    }

    /// `Z7_OWNER` for `ZOWNER`, with any number.
    mutating func entityColumn(_ expected: String?, of column: String) -> String? {
        let number = expected.flatMap { StoredName.numbered($0, prefix: "Z")?.number }
        if let number, let name = matching.spelling("Z\(number)_\(column.dropFirst())") { return name }
        let rest = StoredName.key("_" + column.dropFirst())
        let found = free.filter { StoredName.numbered(StoredName.key($0), prefix: "Z")?.rest == rest }
        return take(found)
            ?? (expected == nil
                ? nil
                : take(
                    free.filter { name in
                        guard let other = StoredName.numbered(StoredName.key(name), prefix: "Z")?.rest else {
                            return false
                        }
                        return StoredName.isNumbered(other, stem: StoredName.unnumbered(rest))
                            || StoredName.isTruncation(other, of: rest)
                    }))
    }

    /// `Z_FOK_OWNER` for `ZOWNER`
    mutating func orderColumn(of column: String) -> String? {
        let expected = "Z_FOK_\(column.dropFirst())"
        if let name = matching.spelling(expected) { return name }
        let key = StoredName.key(expected)
        return take(
            free.filter { name in
                let other = StoredName.key(name)
                return StoredName.isNumbered(other, stem: StoredName.unnumbered(key))
                    || StoredName.isTruncation(other, of: key)
            })
    }

    private mutating func take(_ found: [String]) -> String? {
        guard found.count == 1, let name = found.first else { return nil }
        free.removeAll { $0 == name }
        return name
    }
}
