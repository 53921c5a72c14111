/// One criterion of a sort order, as a value: the content of an `NSSortDescriptor`.
package struct SortTerm: Hashable, Sendable {
    /// How the values under the key path are compared.
    package enum Comparison: Hashable, Sendable {
        /// As values: `compare:`.
        case plain
        /// As strings without regard to case: `caseInsensitiveCompare:`.
        case caseInsensitive
        /// As strings by the rules of the current locale: `localizedCompare:`.
        case localized
        /// The same without regard to case: `localizedCaseInsensitiveCompare:`.
        case localizedCaseInsensitive
        /// As a file browser sorts, numbers by value: `localizedStandardCompare:`.
        case localizedStandard
    }

    /// The keys; empty for the object itself (`SELF`).
    package var keyPath: [String]
    package var ascending: Bool
    package var comparison: Comparison

    package init(keyPath: [String], ascending: Bool, comparison: Comparison = .plain) {
        self.keyPath = keyPath
        self.ascending = ascending
        self.comparison = comparison
    }
}
