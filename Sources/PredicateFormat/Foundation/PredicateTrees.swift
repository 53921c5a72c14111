import Foundation

/// The content of a predicate made from a format string, the NS-classes or `NSPredicate(value:)`.
///
/// - Throws: ``PredicateWithoutTreeError`` for a predicate with code (`NSPredicate(block:)`), also inside a compound
///   one.
package func predicateTree(of predicate: NSPredicate) throws -> PredicateTree {
    try predicateTree(of: predicate, depth: 0)
}

private func predicateTree(of predicate: NSPredicate, depth: Int) throws -> PredicateTree {
    guard depth <= maximumPredicateDepth else { throw PredicateWithoutTreeError.tooDeep }
    if let content = content(of: predicate) {
        // Before anyone traverses the tree. The parser has checked the depth of predicates that have an identity.
        if content.prepared.identity == nil, content.prepared.skeleton.isDeeper(than: maximumPredicateDepth - depth) {
            throw PredicateWithoutTreeError.tooDeep
        }
        return content.tree
    }
    CompoundPredicateMethods.install
    if let compound = predicate as? NSCompoundPredicate {
        let parts = try compound.subpredicates.map { try predicateTree(of: $0, depth: depth + 1) }
        switch compound.compoundPredicateType {
        case .and: return .and(parts)
        case .or: return .or(parts)
        case .not: return .not(parts.count == 1 ? parts[0] : .and(parts))
        }
    }
    if type(of: predicate) == NSPredicate.self {
        if predicate.isEqual(NSPredicate(value: true)) { return .constant(true) }
        if predicate.isEqual(NSPredicate(value: false)) { return .constant(false) }
    }
    throw PredicateWithoutTreeError(
        reason: "The predicate is Swift code, which only runs in memory. "
            + "Use a format string, or fetch first and filter the result.")
}

/// The predicate in two parts, for caching results derived from it: see ``PreparedPredicate``.
///
/// - Throws: the errors of ``predicateTree(of:)``, and an error for a predicate that nests too deep to traverse its
///   tree.
package func preparedPredicate(of predicate: NSPredicate) throws -> PreparedPredicate {
    let prepared =
        try content(of: predicate)?.prepared ?? PreparedPredicate(parameterizing: predicateTree(of: predicate))
    // The parser has checked the depth of predicates that have an identity.
    if prepared.identity == nil, prepared.skeleton.isDeeper(than: maximumPredicateDepth) {
        throw PredicateWithoutTreeError.tooDeep
    }
    return prepared
}

/// The predicate compiled for repeated evaluation, without going through the NS-class.
///
/// - Throws: the errors of ``predicateTree(of:)``.
package func compiledPredicate(of predicate: NSPredicate) throws -> CompiledPredicate {
    if let content = content(of: predicate) { return content.compiled }
    return CompiledPredicate(try predicateTree(of: predicate))
}

/// A predicate object for a tree.
package func makePredicate(_ tree: PredicateTree) -> NSPredicate {
    makePredicate(PredicateContent(tree))
}

func makePredicate(_ content: PredicateContent) -> NSPredicate {
    switch content.prepared.skeleton {
    case .constant(let value): NSPredicate(value: value)
    case .comparison: NSComparisonPredicate(content)
    case .and, .or, .not: ParsedCompoundPredicate(content)
    }
}

/// The format string of any predicate; for one with code, its description.
package func formatString(of predicate: NSPredicate) -> String {
    (try? predicateTree(of: predicate))?.format ?? predicate.description
}

func content(of predicate: NSPredicate) -> PredicateContent? {
    if let comparison = predicate as? NSComparisonPredicate { return comparison.content }
    if let compound = predicate as? ParsedCompoundPredicate { return compound.content }
    return nil
}

/// Deeper than anyone nests predicates, and safe for any thread's stack.
let maximumPredicateDepth = 500

/// A predicate or sort descriptor that has no tree.
package struct PredicateWithoutTreeError: LocalizedError, CustomStringConvertible {
    package let reason: String
    package var description: String { reason }
    package var errorDescription: String? { reason }

    fileprivate static let tooDeep = PredicateWithoutTreeError(
        reason: "The predicate has more than \(maximumPredicateDepth) levels of nesting. Make a simpler one.")
}

/// The compound predicate that a format string gives: Foundation's class, but evaluated, printed and compared by its
/// tree.
final class ParsedCompoundPredicate: NSCompoundPredicate {
    let content: PredicateContent

    init(_ content: PredicateContent) {
        self.content = content
        switch content.prepared.skeleton {
        case .not(let part):
            super.init(type: .not, subpredicates: [makePredicate(content.part(part))])
        case .or(let parts):
            super.init(type: .or, subpredicates: parts.map { makePredicate(content.part($0)) })
        case .and(let parts):
            super.init(type: .and, subpredicates: parts.map { makePredicate(content.part($0)) })
        case let other:
            super.init(type: .and, subpredicates: [makePredicate(content.part(other))])
        }
    }

    override var predicateFormat: String { content.tree.shownFormat }

    override var description: String { content.tree.shownFormat }

    override func evaluate(with object: Any?) -> Bool {
        content.evaluate(with: object, nil)
    }

    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        content.evaluate(with: object, bindings)
    }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSCompoundPredicate else { return false }
        return self === other || (try? predicateTree(of: other)) == content.tree
    }

    override var hash: Int { content.tree.hashValue }

    override func copy(with zone: NSZone? = nil) -> Any { self }
}

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
        programmerError(
            "A sort descriptor by key is not of type \(Descriptor.self); subclasses cannot be made by key here.")
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
