import CoreDataModel

/// What values are compared with one another. In memory, values of two kinds are unequal, and neither is less; SQLite orders
/// them by their kinds.
enum ValueKind {
    case number, date, text, uuid, data, object
    /// A transformable value, which is an archive of anything.
    case archive

    init(_ storage: ColumnStorage) {
        self =
            switch storage {
            case .integer, .boolean, .double, .float, .decimal: .number
            case .date: .date
            case .string, .url: .text
            case .uuid: .uuid
            case .data: .data
            case .transformable: .archive
            case .toOne: .object
            }
    }

    /// The kind of a constant; nil for nil and for collections.
    init?(_ value: Value) {
        switch value {
        case .null, .collection: return nil
        case .integer, .double, .decimal: self = .number
        case .date: self = .date
        case .string, .url: self = .text
        case .uuid: self = .uuid
        case .data: self = .data
        case .object: self = .object
        }
    }

    /// Whether values can be equal, or one of them less. A date beside a number is seconds since 2001.
    func isComparable(with other: ValueKind) -> Bool {
        switch (self, other) {
        case (.number, .date), (.date, .number): true
        default: self == other
        }
    }
}

extension SQLOperand {
    /// What kind its values are; nil if that is not known, or if there are several.
    var kind: ValueKind? {
        if isMixed { return nil }
        if entities != nil { return .object }
        return storage.map(ValueKind.init) ?? isWhole.map { _ in .number } ?? constantKind
    }

    /// Whether the operands never hold the same object, or value: objects of two tables, whose keys may be equal by chance,
    /// or values of two kinds.
    func isNeverEqual(to other: SQLOperand) -> Bool {
        if let root, let othersRoot = other.root { return root !== othersRoot && root.name != othersRoot.name }
        let hasKey = root != nil || other.root != nil
        if hasKey, (entities == nil) != (other.entities == nil) { return true }
        guard let kind, let othersKind = other.kind else { return false }
        if kind == .archive || othersKind == .archive { return hasKey }
        return !kind.isComparable(with: othersKind)
    }

    /// Whether neither is ever less than the other.
    func hasNoOrder(with other: SQLOperand) -> Bool {
        kind == .object || other.kind == .object || root != nil || other.root != nil || isNeverEqual(to: other)
    }

    /// Whether one may be searched for the other: one of them is a text, the other one a text or a number.
    func canBeSearched(for other: SQLOperand) -> Bool {
        let kinds = [kind ?? .text, other.kind ?? .text]
        return kinds.contains(.text) && kinds.allSatisfy { $0 == .text || $0 == .number }
    }
}
