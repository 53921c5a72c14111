import StoreSession

extension Filter {
    /// Selects models whose property has one of some values.
    ///
    /// - Parameters:
    ///   - property: the property, of the model or of one that it leads to.
    ///   - values: the values; an empty sequence selects no model.
    /// - Returns: the filter.
    /// - SQL: `<property> IN (?, …)`
    public static func `in`<Value: Encodable>(_ property: KeyPath<Model, Value>, _ values: some Sequence<Value>)
        -> Filter
    {
        Filter(term: .list(PropertyName(property), Array(values)))
    }

    /// Selects models whose property contains a text.
    ///
    /// - Parameters:
    ///   - property: a property with text.
    ///   - text: the text.
    ///   - options: what to ignore; by default case and diacritics matter.
    /// - Returns: the filter.
    /// - SQL: `NSCoreDataStringSearch(<property>, ?, …)`, a function of Pippin's
    public static func contains(
        _ property: KeyPath<Model, some StringProperty>, _ text: String, _ options: StringMatching = []
    ) -> Filter { comparing(property, .text(.contains, options), text) }

    /// Selects models whose property begins with a text.
    ///
    /// - Parameters:
    ///   - property: a property with text.
    ///   - text: the text.
    ///   - options: what to ignore; by default case and diacritics matter.
    /// - Returns: the filter.
    /// - SQL: `<property> >= ? AND <property> < ?`; with options `NSCoreDataStringSearch(<property>, ?, …)`, a function
    ///   of Pippin's
    public static func begins(
        _ property: KeyPath<Model, some StringProperty>, with text: String, _ options: StringMatching = []
    ) -> Filter { comparing(property, .text(.begins, options), text) }

    /// Selects models whose property ends with a text.
    ///
    /// - Parameters:
    ///   - property: a property with text.
    ///   - text: the text.
    ///   - options: what to ignore; by default case and diacritics matter.
    /// - Returns: the filter.
    /// - SQL: `NSCoreDataStringSearch(<property>, ?, …)`, a function of Pippin's
    public static func ends(
        _ property: KeyPath<Model, some StringProperty>, with text: String, _ options: StringMatching = []
    ) -> Filter { comparing(property, .text(.ends, options), text) }

    /// Selects models whose property equals a text, compared with options.
    ///
    /// - Parameters:
    ///   - property: a property with text.
    ///   - text: the text.
    ///   - options: what to ignore.
    /// - Returns: the filter.
    /// - SQL: `NSCoreDataStringSearch(<property>, ?, …)`, a function of Pippin's
    public static func equals(
        _ property: KeyPath<Model, some StringProperty>, _ text: String, _ options: StringMatching
    ) -> Filter { comparing(property, .text(.equals, options), text) }

    /// Selects models whose property matches a pattern, in which `?` is any character and `*` any text.
    ///
    /// - Parameters:
    ///   - property: a property with text.
    ///   - pattern: the pattern.
    ///   - options: what to ignore; by default case and diacritics matter.
    /// - Returns: the filter.
    /// - SQL: `NSCoreDataStringSearch(<property>, ?, …)`, a function of Pippin's
    public static func like(
        _ property: KeyPath<Model, some StringProperty>, _ pattern: String, _ options: StringMatching = []
    ) -> Filter { comparing(property, .text(.like, options), pattern) }

    /// Selects models whose whole property matches a regular expression.
    ///
    /// - Parameters:
    ///   - property: a property with text.
    ///   - expression: the regular expression.
    ///   - options: what to ignore; by default case and diacritics matter.
    /// - Returns: the filter.
    /// - SQL: `NSCoreDataStringSearch(<property>, ?, …)`, a function of Pippin's
    public static func matches(
        _ property: KeyPath<Model, some StringProperty>, _ expression: String, _ options: StringMatching = []
    ) -> Filter { comparing(property, .text(.matches, options), expression) }

    static func comparing<Value: Encodable>(
        _ property: AnyKeyPath, _ comparison: FilterComparison, _ value: Value
    ) -> Filter { Filter(term: .comparison(PropertyName(property), comparison, value)) }
}

/// A property that holds a text: a `String` or an optional one.
public protocol StringProperty {}
extension String: StringProperty {}
extension Optional: StringProperty where Wrapped == String {}

/// What is ignored when texts are compared.
public struct StringMatching: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Options from bits.
    ///
    /// - Parameter rawValue: the bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Case is ignored: `[c]`.
    public static let caseInsensitive = StringMatching(rawValue: 1)
    /// Diacritics are ignored: `[d]`.
    public static let diacriticInsensitive = StringMatching(rawValue: 2)

    var suffix: String {
        if isEmpty { return "" }
        return "[\(contains(.caseInsensitive) ? "c" : "")\(contains(.diacriticInsensitive) ? "d" : "")]"
    }
}
