import Foundation

/// Restores the initializers of `NSSortDescriptor` with keys, in the same way as ``PredicateParsing``.
public protocol KeySorting {}

extension NSSortDescriptor: KeySorting {}

extension KeySorting where Self: NSSortDescriptor {
    /// Creates a sort descriptor for the values under a key path.
    ///
    /// SQL: `ORDER BY "ZTITLE" ASC`. Missing values come first, strings are in the order of their Unicode code points.
    ///
    /// - Parameters:
    ///   - key: a key path such as `author.name`; `nil` or `self` for the objects themselves.
    ///   - ascending: whether smaller values come first.
    public init(key: String?, ascending: Bool) {
        self = sortDescriptor(SortTerm(keyPath: keys(ofPath: key), ascending: ascending), nil)
    }

    /// Creates a sort descriptor for the values under a key path, compared by a method.
    ///
    /// - Parameters:
    ///   - key: a key path; `nil` or `self` for the objects themselves.
    ///   - ascending: whether smaller values come first.
    ///   - selector: `compare:`, or for strings `caseInsensitiveCompare:`, `localizedCompare:`,
    ///     `localizedCaseInsensitiveCompare:` or `localizedStandardCompare:`. Another one stops the program.
    public init(key: String?, ascending: Bool, selector: Selector?) {
        guard let comparison = SortTerm.Comparison(selector ?? "compare:") else {
            programmerError(
                "Values cannot be sorted by \"\(selector?.description ?? "")\". Sort by compare:, "
                    + "caseInsensitiveCompare:, localizedCompare:, localizedCaseInsensitiveCompare: or "
                    + "localizedStandardCompare:.")
        }
        self = sortDescriptor(
            SortTerm(keyPath: keys(ofPath: key), ascending: ascending, comparison: comparison), nil)
    }

    /// Creates a sort descriptor for the values under a key path, compared by Swift code. It is for use in memory only.
    ///
    /// - Parameters:
    ///   - key: the key path; `nil` for the objects themselves.
    ///   - ascending: whether the smallest value comes first.
    ///   - comparator: Compares two values.
    public init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
        self = sortDescriptor(SortTerm(keyPath: keys(ofPath: key), ascending: ascending), comparator)
    }
}

extension NSSortDescriptor {
    /// The key path as text; `nil` for a Swift key path that has no names.
    public var key: String? {
        if let path = (self as? KeyedSortDescriptor)?.term.keyPath {
            return path.isEmpty ? "self" : path.joined(separator: ".")
        }
        // A key path without names makes Swift code compare the objects themselves.
        return keys(of: keyPath).flatMap { $0.isEmpty ? nil : $0.joined(separator: ".") }
    }

    /// The method that compares the values; `nil` for a descriptor with Swift code.
    public var selector: Selector? {
        guard let descriptor = self as? KeyedSortDescriptor, descriptor.userComparator == nil else { return nil }
        return descriptor.term.comparison.selector
    }
}

private func sortDescriptor<Descriptor: NSSortDescriptor>(
    _ term: SortTerm, _ comparator: Comparator?
) -> Descriptor {
    guard let descriptor = KeyedSortDescriptor(term, comparator: comparator) as? Descriptor else {
        programmerError("A sort descriptor by key is not of type \(Descriptor.self); subclasses cannot be made by key here.")
    }
    return descriptor
}

/// A sort descriptor object for a term.
package func makeSortDescriptor(_ term: SortTerm) -> NSSortDescriptor {
    KeyedSortDescriptor(term)
}

/// The content of sort descriptors, as values.
///
/// - Parameters:
///   - descriptors: the descriptors, the most significant first.
///   - keys: the keys of a Swift key path, for descriptors with one; nil if it has no names. See ``KeyPathNaming``.
/// - Returns: the terms, the most significant first.
/// - Throws: an error for a descriptor with code.
package func sortTerms(
    of descriptors: [NSSortDescriptor], keys: (AnyKeyPath) -> [String]? = keys(of:)
) throws -> [SortTerm] {
    try descriptors.map { descriptor in
        if let keyed = descriptor as? KeyedSortDescriptor, keyed.userComparator == nil { return keyed.term }
        if !(descriptor is KeyedSortDescriptor), let keys = keys(descriptor.keyPath) {
            return SortTerm(keyPath: keys, ascending: descriptor.ascending)
        }
        throw PredicateWithoutTreeError(
            reason: "The sort descriptor \(descriptor) compares by Swift code, which only runs in memory. "
                + "Sort by a key, or sort what has been fetched.")
    }
}
