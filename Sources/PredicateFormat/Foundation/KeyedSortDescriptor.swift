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

extension KeySorting where Self: NSSortDescriptor {
    /// Creates a sort descriptor for the values under a Swift key path of any type, including optionals and Booleans,
    /// which Foundation's own initializer does not take.
    ///
    /// ```swift
    /// NSSortDescriptor(keyPath: \Book.author?.name, ascending: true)    // ORDER BY t1.ZNAME
    /// ```
    ///
    /// - Parameters:
    ///   - keyPath: stored or `@NSManaged` properties. A key path without names only sorts in memory.
    ///   - ascending: whether smaller values come first; nil is smaller than any value.
    public init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        self = sortDescriptor(keyPath, ascending, .plain)
    }

    /// Creates a sort descriptor that is equivalent to one of Swift's.
    ///
    /// ```swift
    /// request.sortDescriptors = [NSSortDescriptor(SortDescriptor(\Book.title, order: .reverse))]
    /// ```
    ///
    /// - Parameter sortDescriptor: a descriptor with a key path, not with code.
    public init<Compared>(_ sortDescriptor: SortDescriptor<Compared>) {
        guard let keyPath = sortDescriptor.keyPath else {
            programmerError("The sort descriptor \(sortDescriptor) has no key path; make one of a key path.")
        }
        let isLocalized = sortDescriptor.stringComparator.map { $0 != .lexical } ?? false
        self = PredicateFormat.sortDescriptor(
            keyPath, sortDescriptor.order == .forward, isLocalized ? .localizedStandard : .plain)
    }
}

private func sortDescriptor<Root, Descriptor: NSSortDescriptor>(
    _ keyPath: PartialKeyPath<Root>, _ ascending: Bool, _ comparison: SortTerm.Comparison
) -> Descriptor {
    let descriptor: NSSortDescriptor
    if let keys = keys(of: keyPath) {
        descriptor = KeyedSortDescriptor(SortTerm(keyPath: keys, ascending: ascending, comparison: comparison))
    } else {
        descriptor = NSSortDescriptor(keyPath: \Root.self, ascending: ascending) { first, second in
            guard let first = first as? Root, let second = second as? Root else { return .orderedSame }
            return comparison.compare(Value(first[keyPath: keyPath]), Value(second[keyPath: keyPath]))
        }
    }
    guard let result = descriptor as? Descriptor else {
        programmerError(
            "A sort descriptor by key path is not of type \(Descriptor.self); subclasses cannot be made by it here.")
    }
    return result
}
