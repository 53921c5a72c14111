import Foundation

// Handles texts that spell UUIDs and numbers, in a predicate for properties that hold these. This is not next to
// `NSPredicate`, since templates of format strings use it, which the model compiler has, too.

/// What a text is read as beside a property.
package struct SpelledKind: Sendable {
    package enum Value: Sendable { case uuid, number }

    package let value: Value
    /// Whether the property is one of several objects, among whose values a text may be.
    package let isOfMany: Bool

    package init(_ value: Value, isOfMany: Bool) { (self.value, self.isOfMany) = (value, isOfMany) }
}

extension PredicateTree {
    /// Whether a text that spells a UUID or a number is compared anywhere.
    var hasSpelledValues: Bool {
        contains { comparison in [comparison.left, comparison.right].contains { $0.spelledValues([]) != nil } }
    }

    /// Whether such a text, as a literal or an argument, is compared with a property that holds what it spells.
    func comparesSpelledValues(_ kind: ([String]) -> SpelledKind?, _ arguments: [Value]) -> Bool {
        contains { $0.withSpelledValuesRead(kind, arguments) != nil }
    }

    private func contains(_ isOne: (ComparisonTree) -> Bool) -> Bool {
        switch self {
        case .constant: false
        case .and(let parts), .or(let parts): parts.contains { $0.contains(isOne) }
        case .not(let part): part.contains(isOne)
        case .comparison(let comparison): isOne(comparison)
        }
    }

    /// The tree with values in place of the texts that are compared with properties that hold what they spell.
    func withSpelledValuesRead(_ kind: ([String]) -> SpelledKind?) -> PredicateTree {
        mapComparisons { .comparison($0.withSpelledValuesRead(kind, []) ?? $0) }
    }
}

extension ComparisonTree {
    /// The comparison with values in place of texts; nil if none of its texts is compared with a property that holds
    /// what it spells.
    fileprivate func withSpelledValuesRead(
        _ kind: ([String]) -> SpelledKind?, _ arguments: [Value]
    ) -> ComparisonTree? {
        var read = self
        // `IN` searches a text for the digits of a number, or these for a text.
        if case .keyPath(let path) = left, let (values, isList) = right.spelledValues(arguments), let kind = kind(path)
        {
            guard comparison.comparesWhole || comparison == .contains && kind.isOfMany,
                comparison != .in || isList || kind.value == .uuid
            else { return nil }
            read.right = values(kind.value)
        } else if case .keyPath(let path) = right, let (values, _) = left.spelledValues(arguments),
            let kind = kind(path)
        {
            guard comparison.comparesWhole,
                comparison != .in || kind.isOfMany || kind.value == .uuid
            else { return nil }
            read.left = values(kind.value)
        } else {
            return nil
        }
        return read
    }
}

extension ExpressionTree {
    /// How to read the constants that spell UUIDs or numbers, as literals, arguments or elements of a list, and whether
    /// it is a list; nil if there are none.
    fileprivate func spelledValues(
        _ arguments: [Value]
    ) -> (read: (SpelledKind.Value) -> ExpressionTree, isList: Bool)? {
        switch self {
        case .constant(let value) where value.isSpelledValue:
            return ({ .constant(value.read(as: $0)) }, value.elements != nil)
        case .argument(let index) where arguments.indices.contains(index):
            return ExpressionTree.constant(arguments[index]).spelledValues([])
        case .aggregate(let elements):
            let reads = elements.map { $0.spelledValues(arguments)?.read }
            guard reads.contains(where: { $0 != nil }) else { return nil }
            return ({ kind in .aggregate(zip(elements, reads).map { $1?(kind) ?? $0 }) }, true)
        default: return nil
        }
    }
}

extension ComparisonOperator {
    /// Whether whole values are compared, rather than parts of texts.
    package var comparesWhole: Bool {
        switch self {
        case .equalTo, .notEqualTo, .in, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between:
            true
        case .matches, .like, .beginsWith, .endsWith, .contains: false
        }
    }
}

extension Value {
    /// Whether it is a text that spells a UUID or a number, or a collection with such texts.
    var isSpelledValue: Bool {
        switch self {
        case .string(let text): text.spelledNumber != nil || text.utf8.count == 36 && UUID(uuidString: text) != nil
        case .collection(let elements): elements.contains(where: \.isSpelledValue)
        default: false
        }
    }

    /// The value that a text spells, also within a collection; any other value unchanged.
    fileprivate func read(as kind: SpelledKind.Value) -> Value {
        switch (self, kind) {
        case (.string(let text), .uuid): UUID(uuidString: text).map { .uuid($0) } ?? self
        case (.string(let text), .number):
            Int64(text).map { .integer($0) } ?? text.spelledNumber.map { .double($0) } ?? self
        case (.collection(let elements), _): .collection(elements.map { $0.read(as: kind) })
        default: self
        }
    }
}

extension String {
    /// The number that the text spells in a database; Swift reads `0x10` and `nan`, too.
    package var spelledNumber: Double? {
        utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) } ? Double(self) : nil
    }
}
