import CoreData

extension Filter {
    /// Holds where a property has one of some values.
    ///
    /// - Parameters:
    ///   - property: the property, of the model or of one that it leads to.
    ///   - values: the values; of none, no model holds.
    /// - Returns: the filter.
    /// - SQL: `<property> IN (?, …)`
    public static func `in`<Value: Encodable>(_ property: KeyPath<Model, Value>, _ values: some Sequence<Value>)
        -> Filter
    {
        Filter(term: .list(PropertyName(property), Array(values)))
    }

    /// Holds where a property has a text in it.
    ///
    /// - Parameters:
    ///   - property: a property with text.
    ///   - text: the text.
    ///   - options: whether case and diacritics count; by default both do.
    /// - Returns: the filter.
    public static func contains(
        _ property: KeyPath<Model, some StringProperty>, _ text: String, _ options: StringMatching = []
    ) -> Filter { comparing(property, .text(.contains, options), text) }

    /// Holds where a property begins with a text.
    ///
    /// - Parameters:
    ///   - property: a property with text.
    ///   - text: the text.
    ///   - options: whether case and diacritics count; by default both do.
    /// - Returns: the filter.
    public static func begins(
        _ property: KeyPath<Model, some StringProperty>, with text: String, _ options: StringMatching = []
    ) -> Filter { comparing(property, .text(.begins, options), text) }

    /// Holds where a property ends with a text.
    ///
    /// - Parameters:
    ///   - property: a property with text.
    ///   - text: the text.
    ///   - options: whether case and diacritics count; by default both do.
    /// - Returns: the filter.
    public static func ends(
        _ property: KeyPath<Model, some StringProperty>, with text: String, _ options: StringMatching = []
    ) -> Filter { comparing(property, .text(.ends, options), text) }

    /// Holds where a property equals a text, as the options see it.
    ///
    /// - Parameters:
    ///   - property: a property with text.
    ///   - text: the text.
    ///   - options: whether case and diacritics count.
    /// - Returns: the filter.
    public static func equals(
        _ property: KeyPath<Model, some StringProperty>, _ text: String, _ options: StringMatching
    ) -> Filter { comparing(property, .text(.equals, options), text) }

    /// Holds where a property is like a pattern, in which `?` is any character and `*` any text.
    ///
    /// - Parameters:
    ///   - property: a property with text.
    ///   - pattern: the pattern.
    ///   - options: whether case and diacritics count; by default both do.
    /// - Returns: the filter.
    public static func like(
        _ property: KeyPath<Model, some StringProperty>, _ pattern: String, _ options: StringMatching = []
    ) -> Filter { comparing(property, .text(.like, options), pattern) }

    /// Holds where the whole of a property matches a regular expression.
    ///
    /// - Parameters:
    ///   - property: a property with text.
    ///   - expression: the regular expression.
    ///   - options: whether case and diacritics count; by default both do.
    /// - Returns: the filter.
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

/// What does not matter when texts are compared.
public struct StringMatching: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Options from bits.
    ///
    /// - Parameter rawValue: the bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Capital and small letters are the same: `[c]`.
    public static let caseInsensitive = StringMatching(rawValue: 1)
    /// Letters with and without accents are the same: `[d]`.
    public static let diacriticInsensitive = StringMatching(rawValue: 2)

    var suffix: String {
        if isEmpty { return "" }
        return "[\(contains(.caseInsensitive) ? "c" : "")\(contains(.diacriticInsensitive) ? "d" : "")]"
    }
}

extension AttributeEncoder {
    /// A value as a predicate compares it with an attribute's; nil for none.
    static func comparable(_ value: some Encodable) throws -> Any? {
        if let leaf = try leaf(value) { return leaf.predicateValue }
        let capture = ValueCapture()
        try value.encode(to: capture)
        return capture.value?.predicateValue
    }
}

extension StoredValue {
    fileprivate var predicateValue: Any? { attributeValue(.integer64) }
}
