// Elements of a list of single values.
extension Filter {
    /// Selects models with a list that has a value: texts, numbers, Booleans, dates, UUIDs, URLs, or enumerations with
    /// such raw values. `.contains(\.tags, "classic")`
    ///
    /// A list that is nil has no values.
    ///
    /// - Parameters:
    ///   - list: an array or a set of single values.
    ///   - element: the value.
    /// - Returns: the filter.
    /// - SQL: `EXISTS (SELECT 1 FROM PippinListed(<list>, 'text') WHERE value = ?)`; in PostgreSQL
    ///   `json_array_elements(…)`
    public static func contains<Element: Encodable>(
        _ list: KeyPath<Model, some ModelList<Element>>, _ element: Element
    ) -> Filter { comparing(list, .element, element) }

    /// Selects models by the number of values in a list of texts, numbers, Booleans, dates, UUIDs, URLs, or
    /// enumerations with such raw values. `.count(\.tags, in: 2...)`
    ///
    /// A list that is nil has no values.
    ///
    /// - Parameters:
    ///   - list: an array or a set of single values.
    ///   - range: the permitted numbers, with or without ends.
    /// - Returns: the filter.
    /// - SQL: `(SELECT COUNT(*) FROM PippinListed(<list>, 'text')) >= ?`; in PostgreSQL `json_array_elements(…)`
    @_disfavoredOverload
    public static func count<Element: Encodable>(
        _ list: KeyPath<Model, some ModelList<Element>>, in range: some FilterRange<Int>
    ) -> Filter { Filter(term: .members(PropertyName(list), FilterTerm.all, .count(range))) }
}
