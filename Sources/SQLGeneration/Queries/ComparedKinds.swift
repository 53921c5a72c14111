import CoreDataModel

extension SQLOperand {
    /// What kind its values are; nil if that is not known, or if there are several.
    var kind: ValueKind? {
        if isMixed { return nil }
        if entities != nil { return .object }
        return storage.map(ValueKind.init) ?? isWhole.map { _ in .number } ?? constantKind
    }

    /// Whether the operands never hold the same object, or value: objects of two tables, whose keys may be equal by
    /// chance, or values of two kinds.
    func isNeverEqual(to other: SQLOperand) -> Bool {
        if let root, let othersRoot = other.root { return root !== othersRoot && root.name != othersRoot.name }
        let hasKey = root != nil || other.root != nil
        // An object is not among the values of several kinds.
        if hasKey, isMixed || other.isMixed { return true }
        if hasKey, (entities == nil) != (other.entities == nil) { return true }
        guard let kind, let othersKind = other.kind else { return false }
        if kind == .archive || othersKind == .archive { return hasKey }
        return !kind.isComparable(with: othersKind)
    }

    /// Whether one may be searched for the other: one of them is a text, the other one a text or a number.
    func canBeSearched(for other: SQLOperand) -> Bool {
        let kinds = [kind ?? .text, other.kind ?? .text]
        return kinds.contains(.text) && kinds.allSatisfy { $0 == .text || $0 == .number }
    }
}
