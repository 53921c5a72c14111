/// The options of string comparisons: the letters in brackets after an operator. Raw values are those of
/// `NSComparisonPredicate.Options`.
package struct StringOptions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt

    package init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// `[c]`
    package static let caseInsensitive = StringOptions(rawValue: 1)
    /// `[d]`
    package static let diacriticInsensitive = StringOptions(rawValue: 2)
    /// `[n]`: the strings need no preparation and are compared byte by byte; overrides the other options.
    package static let normalized = StringOptions(rawValue: 4)
    /// `[l]`: by the rules of the current locale.
    package static let localeSensitive = StringOptions(rawValue: 8)
}
