import Foundation

/// How a sort descriptor compares texts, by a name that Foundation does not have on this platform.
public struct LocalizedTextComparator: Sendable {
    /// In the order of the locale, as a file browser shows names: numbers by value, without regard to case.
    public static let localizedStandard = LocalizedTextComparator()
}

extension SortDescriptor {
    /// Creates a descriptor for texts in the order of the locale.
    ///
    /// - Parameters:
    ///   - keyPath: the key path of the text.
    ///   - comparator: `.localizedStandard`.
    ///   - order: whether the first text comes first.
    public init(
        _ keyPath: any KeyPath<Compared, String> & Sendable, comparator: LocalizedTextComparator,
        order: SortOrder = .forward
    ) { self.init(keyPath, order: order) }

    /// Creates a descriptor for optional texts in the order of the locale; those without a value come first.
    ///
    /// - Parameters:
    ///   - keyPath: the key path of the text.
    ///   - comparator: `.localizedStandard`.
    ///   - order: whether the first text comes first.
    public init(
        _ keyPath: any KeyPath<Compared, String?> & Sendable, comparator: LocalizedTextComparator,
        order: SortOrder = .forward
    ) { self.init(keyPath, order: order) }
}
