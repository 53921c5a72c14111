import StoreSession

// Values enter the filter in their attributes' form: an enumeration as its raw value, nil as no value. An enumeration
// that is CaseIterable has its own order, as the list of its cases that are less or greater; any other one is refused
// where the order matters.

/// Selects models whose property equals a value. `\.status == .active`, `\.author?.name == "Jane"`, `\.price == nil`
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value; `nil` selects models without a value, if the property is optional. Of a model the identifier
///     is compared.
/// - Returns: the filter.
/// - SQL: `<property> = ?`, `<property> IS NULL`
public func == <Model, Value: Encodable & Equatable>(property: KeyPath<Model, Value>, value: Value) -> Filter<Model> {
    .comparing(property, .equal, value)
}

/// Selects models whose property has another value, or none.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value; `nil` selects models with a value, if the property is optional. Of a model the identifier is
///     compared.
/// - Returns: the filter.
/// - SQL: `<property> <> ?`, `<property> IS NOT NULL`
public func != <Model, Value: Encodable & Equatable>(property: KeyPath<Model, Value>, value: Value) -> Filter<Model> {
    .comparing(property, .notEqual, value)
}

/// Selects models whose property has no value, or leads to no model. `\.author == nil`
///
/// - Parameters:
///   - property: an optional property, of the model or of one that it leads to.
///   - nothing: `nil`.
/// - Returns: the filter.
/// - SQL: `<property> IS NULL`
public func == <Model, Value: Encodable>(
    property: KeyPath<Model, Value?>, nothing: _OptionalNilComparisonType
) -> Filter<Model> { .comparing(property, .equal, Value?.none) }

/// Selects models whose property has a value, or leads to a model. `\.author != nil`
///
/// - Parameters:
///   - property: an optional property, of the model or of one that it leads to.
///   - nothing: `nil`.
/// - Returns: the filter.
/// - SQL: `<property> IS NOT NULL`
public func != <Model, Value: Encodable>(
    property: KeyPath<Model, Value?>, nothing: _OptionalNilComparisonType
) -> Filter<Model> { .comparing(property, .notEqual, Value?.none) }

/// Selects models whose property is less than a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> < ?`
public func < <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value>, value: Value) -> Filter<Model> {
    .comparing(property, .less, value)
}

/// Selects models whose property is at most a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> <= ?`
public func <= <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value>, value: Value) -> Filter<Model> {
    .comparing(property, .atMost, value)
}

/// Selects models whose property is greater than a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> > ?`
public func > <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value>, value: Value) -> Filter<Model> {
    .comparing(property, .more, value)
}

/// Selects models whose property is at least a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> >= ?`
public func >= <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value>, value: Value) -> Filter<Model> {
    .comparing(property, .atLeast, value)
}

/// Selects models whose optional property is less than a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> < ?`
public func < <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value?>, value: Value) -> Filter<Model> {
    .comparing(property, .less, value)
}

/// Selects models whose optional property is at most a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> <= ?`
public func <= <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value?>, value: Value) -> Filter<Model> {
    .comparing(property, .atMost, value)
}

/// Selects models whose optional property is greater than a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> > ?`
public func > <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value?>, value: Value) -> Filter<Model> {
    .comparing(property, .more, value)
}

/// Selects models whose optional property is at least a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> >= ?`
public func >= <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value?>, value: Value) -> Filter<Model> {
    .comparing(property, .atLeast, value)
}
