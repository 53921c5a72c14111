import CoreData

// The values go into the filter as their attributes hold them: an enumeration as its raw value, nil as none.

/// Holds where a property has a value. `\.status == .active`, `\.author?.name == "Jane"`, `\.price == nil`
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value; `nil` for none where the property is optional.
/// - Returns: the filter.
/// - SQL: `<property> = ?`, `<property> IS NULL`
public func == <Model, Value: Encodable & Equatable>(property: KeyPath<Model, Value>, value: Value) -> Filter<Model> {
    .comparing(property, .equal, value)
}

/// Holds where a property has another value, or none.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value; `nil` for none where the property is optional.
/// - Returns: the filter.
/// - SQL: `<property> <> ?`, `<property> IS NOT NULL`
public func != <Model, Value: Encodable & Equatable>(property: KeyPath<Model, Value>, value: Value) -> Filter<Model> {
    .comparing(property, .notEqual, value)
}

/// Holds where a property has no value, or leads to no model. `\.author == nil`
///
/// - Parameters:
///   - property: an optional property, of the model or of one that it leads to.
///   - nothing: `nil`.
/// - Returns: the filter.
/// - SQL: `<property> IS NULL`
public func == <Model, Value: Encodable>(
    property: KeyPath<Model, Value?>, nothing: _OptionalNilComparisonType
) -> Filter<Model> { .comparing(property, .equal, Value?.none) }

/// Holds where a property has a value, or leads to a model. `\.author != nil`
///
/// - Parameters:
///   - property: an optional property, of the model or of one that it leads to.
///   - nothing: `nil`.
/// - Returns: the filter.
/// - SQL: `<property> IS NOT NULL`
public func != <Model, Value: Encodable>(
    property: KeyPath<Model, Value?>, nothing: _OptionalNilComparisonType
) -> Filter<Model> { .comparing(property, .notEqual, Value?.none) }

/// Holds where a property is less than a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> < ?`
public func < <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value>, value: Value) -> Filter<Model> {
    .comparing(property, .less, value)
}

/// Holds where a property is at most a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> <= ?`
public func <= <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value>, value: Value) -> Filter<Model> {
    .comparing(property, .atMost, value)
}

/// Holds where a property is more than a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> > ?`
public func > <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value>, value: Value) -> Filter<Model> {
    .comparing(property, .more, value)
}

/// Holds where a property is at least a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> >= ?`
public func >= <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value>, value: Value) -> Filter<Model> {
    .comparing(property, .atLeast, value)
}

/// Holds where an optional property is less than a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> < ?`
public func < <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value?>, value: Value) -> Filter<Model> {
    .comparing(property, .less, value)
}

/// Holds where an optional property is at most a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> <= ?`
public func <= <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value?>, value: Value) -> Filter<Model> {
    .comparing(property, .atMost, value)
}

/// Holds where an optional property is more than a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> > ?`
public func > <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value?>, value: Value) -> Filter<Model> {
    .comparing(property, .more, value)
}

/// Holds where an optional property is at least a value.
///
/// - Parameters:
///   - property: the property, of the model or of one that it leads to.
///   - value: the value to compare with.
/// - Returns: the filter.
/// - SQL: `<property> >= ?`
public func >= <Model, Value: Encodable & Comparable>(property: KeyPath<Model, Value?>, value: Value) -> Filter<Model> {
    .comparing(property, .atLeast, value)
}
