import Foundation

// Handles texts that spell UUIDs, in a predicate for UUID properties. This is not next to `NSPredicate`, since
// templates of format strings use it, which the model compiler has, too.

extension PredicateTree {
    /// Whether a text that spells a UUID is compared anywhere.
    var hasUUIDTexts: Bool {
        contains { comparison in [comparison.left, comparison.right].contains { $0.uuidText([]) != nil } }
    }

    /// Whether such a text, as a literal or an argument, is compared with a UUID property.
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

    /// The tree with UUIDs in place of the texts that are compared with UUID properties.
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
    /// The comparison with UUIDs in place of texts; nil if none of its texts is compared with a UUID property.
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
    /// The constant, as a literal or an argument, that spells UUIDs.
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
    /// Whether whole values are compared, rather than parts of texts.
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

    /// The UUID that a text spells, also within a collection; any other value unchanged.
    fileprivate var uuidsRead: Value {
        switch self {
        case .string(let text): UUID(uuidString: text).map { .uuid($0) } ?? self
        case .collection(let elements): .collection(elements.map(\.uuidsRead))
        default: self
        }
    }
}
