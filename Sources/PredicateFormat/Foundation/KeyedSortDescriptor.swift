import Foundation

/// A sort descriptor with a key path as text, which Foundation's does not support.
final class KeyedSortDescriptor: NSSortDescriptor {
    let term: SortTerm
    /// Used for comparisons instead of the term's comparison.
    let userComparator: Comparator?

    init(_ term: SortTerm, comparator: Comparator? = nil) {
        self.term = term
        userComparator = comparator
        // Foundation's initializers require a Swift key path, which is never used.
        super.init(keyPath: \String.count, ascending: term.ascending)
    }

    override var ascending: Bool { term.ascending }

    override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        let first = Value(object1).value(forKeyPath: term.keyPath)
        let second = Value(object2).value(forKeyPath: term.keyPath)
        let order =
            userComparator?(first.any ?? NSNull(), second.any ?? NSNull()) ?? term.comparison.compare(first, second)
        return term.ascending ? order : order.reversed
    }

    override var reversedSortDescriptor: Any {
        var reversed = term
        reversed.ascending.toggle()
        return KeyedSortDescriptor(reversed, comparator: userComparator)
    }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KeyedSortDescriptor else { return false }
        return self === other || term == other.term && userComparator == nil && other.userComparator == nil
    }

    override var hash: Int { term.hashValue }

    override func copy(with zone: NSZone? = nil) -> Any { self }

    override var description: String {
        "(\(term.keyPath.joined(separator: ".")), \(term.ascending ? "ascending" : "descending"), "
            + "\(term.comparison.selector))"
    }
}
