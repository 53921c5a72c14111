import Foundation

// Texts that spell UUIDs, in a predicate that is asked of what holds UUIDs. Not beside `NSPredicate`: templates of format strings
// ask, which the model compiler has, too.

extension PredicateTree {
    /// Whether a text that spells a UUID is compared anywhere.
    var hasUUIDTexts: Bool {
        contains { comparison in [comparison.left, comparison.right].contains { $0.uuidText([]) != nil } }
    }

    /// Whether such a text, spelled out or among the arguments, is compared with what holds UUIDs.
    func comparesUUIDTexts(_ holdsUUIDs: ([String]) -> Bool, _ arguments: [Value]) -> Bool {
        contains { $0.withUUIDsRead(holdsUUIDs, arguments) != nil }
    }

    private func contains(_ isOne: (ComparisonTree) -> Bool) -> Bool {
        switch self {
        case .constant: false
        case .and(let parts), .or(let parts): parts.contains { $0.contains(isOne) }
        case .not(let part): part.contains(isOne)
        case .comparison(let comparison): isOne(comparison)
        }
    }

    /// The tree with the UUIDs in place of the texts that are compared with what holds UUIDs.
    func withUUIDsRead(_ holdsUUIDs: ([String]) -> Bool) -> PredicateTree {
        switch self {
        case .constant: self
        case .and(let parts): .and(parts.map { $0.withUUIDsRead(holdsUUIDs) })
        case .or(let parts): .or(parts.map { $0.withUUIDsRead(holdsUUIDs) })
        case .not(let part): .not(part.withUUIDsRead(holdsUUIDs))
        case .comparison(let comparison): .comparison(comparison.withUUIDsRead(holdsUUIDs, []) ?? comparison)
        }
    }
}

extension ComparisonTree {
    /// The comparison with UUIDs for texts; nil where it has none that are compared with what holds UUIDs.
    fileprivate func withUUIDsRead(_ holdsUUIDs: ([String]) -> Bool, _ arguments: [Value]) -> ComparisonTree? {
        guard comparison.comparesWhole else { return nil }
        var read = self
        if case .keyPath(let path) = left, let value = right.uuidText(arguments), holdsUUIDs(path) {
            read.right = .constant(value.uuidsRead)
        } else if case .keyPath(let path) = right, let value = left.uuidText(arguments), holdsUUIDs(path) {
            read.left = .constant(value.uuidsRead)
        } else {
            return nil
        }
        return read
    }
}

extension ExpressionTree {
    /// The constant, spelled out or given as an argument, that spells UUIDs.
    fileprivate func uuidText(_ arguments: [Value]) -> Value? {
        switch self {
        case .constant(let value) where value.spellsUUID: value
        case .argument(let index) where arguments.indices.contains(index) && arguments[index].spellsUUID:
            arguments[index]
        default: nil
        }
    }
}

extension ComparisonOperator {
    /// Whether values are compared, and not parts of texts.
    fileprivate var comparesWhole: Bool {
        switch self {
        case .equalTo, .notEqualTo, .in, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between:
            true
        case .matches, .like, .beginsWith, .endsWith, .contains: false
        }
    }
}

extension Value {
    /// Whether it is a text that spells a UUID, or a collection with such texts.
    var spellsUUID: Bool {
        switch self {
        case .string(let text): text.utf8.count == 36 && UUID(uuidString: text) != nil
        case .collection(let elements): elements.contains(where: \.spellsUUID)
        default: false
        }
    }

    /// The UUID that a text spells, also in a collection; any other value as it is.
    fileprivate var uuidsRead: Value {
        switch self {
        case .string(let text): UUID(uuidString: text).map { .uuid($0) } ?? self
        case .collection(let elements): .collection(elements.map(\.uuidsRead))
        default: self
        }
    }
}
