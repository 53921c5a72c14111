/// A range of values that a property may lie in: `1...5`, `1..<5`, `1...`, `...5`, `..<5`.
public protocol FilterRange<Bound> {
    /// The type of the bounds.
    associatedtype Bound: Comparable
    /// The smallest value; `nil` for none.
    var lowest: Bound? { get }
    /// The largest value; `nil` for none.
    var highest: Bound? { get }
    /// Whether ``highest`` itself belongs to the range.
    var includesHighest: Bool { get }
}

extension FilterRange {
    /// `true`: most ranges include their upper bound.
    public var includesHighest: Bool { true }

    /// Selects models whose property is in the range. `(1...5).contains(\.stars)`
    ///
    /// - Parameter property: the property, of the model or of one that it leads to.
    /// - Returns: the filter.
    /// - SQL: `<property> >= ? AND <property> <= ?`
    public func contains<Model>(_ property: KeyPath<Model, Bound>) -> Filter<Model> where Bound: Encodable {
        .lying(property, in: self)
    }

    /// Selects models whose optional property has a value in the range.
    ///
    /// - Parameter property: the property, of the model or of one that it leads to.
    /// - Returns: the filter.
    /// - SQL: `<property> >= ? AND <property> <= ?`
    public func contains<Model>(_ property: KeyPath<Model, Bound?>) -> Filter<Model> where Bound: Encodable {
        .lying(property, in: self)
    }
}

extension ClosedRange: FilterRange {
    /// The lower bound.
    public var lowest: Bound? { lowerBound }
    /// The upper bound.
    public var highest: Bound? { upperBound }
}

extension Range: FilterRange {
    /// The lower bound.
    public var lowest: Bound? { lowerBound }
    /// The upper bound.
    public var highest: Bound? { upperBound }
    /// `false`
    public var includesHighest: Bool { false }
}

extension PartialRangeFrom: FilterRange {
    /// The lower bound.
    public var lowest: Bound? { lowerBound }
    /// `nil`
    public var highest: Bound? { nil }
}

extension PartialRangeThrough: FilterRange {
    /// `nil`
    public var lowest: Bound? { nil }
    /// The upper bound.
    public var highest: Bound? { upperBound }
}

extension PartialRangeUpTo: FilterRange {
    /// `nil`
    public var lowest: Bound? { nil }
    /// The upper bound.
    public var highest: Bound? { upperBound }
    /// `false`
    public var includesHighest: Bool { false }
}

/// Selects models whose property is in a range. `1...5 ~= \.stars`
///
/// - Parameters:
///   - range: the range, with or without ends.
///   - property: the property, of the model or of one that it leads to.
/// - Returns: the filter.
/// - SQL: `<property> >= ? AND <property> <= ?`
public func ~= <Model, Bounds: FilterRange>(range: Bounds, property: KeyPath<Model, Bounds.Bound>) -> Filter<Model>
where Bounds.Bound: Encodable { .lying(property, in: range) }

/// Selects models whose optional property has a value in a range. `10... ~= \.price`
///
/// - Parameters:
///   - range: the range, with or without ends.
///   - property: the property, of the model or of one that it leads to.
/// - Returns: the filter.
/// - SQL: `<property> >= ? AND <property> <= ?`
public func ~= <Model, Bounds: FilterRange>(range: Bounds, property: KeyPath<Model, Bounds.Bound?>) -> Filter<Model>
where Bounds.Bound: Encodable { .lying(property, in: range) }

extension Array where Element: Encodable {
    /// Selects models whose property has one of these values. `["Emma", "Persuasion"].contains(\.title)`
    ///
    /// - Parameter property: the property, of the model or of one that it leads to.
    /// - Returns: the filter; without values it selects no model.
    /// - SQL: `<property> IN (?, …)`
    public func contains<Model>(_ property: KeyPath<Model, Element>) -> Filter<Model> { .in(property, self) }
}

extension Set where Element: Encodable {
    /// Selects models whose property has one of these values. `["Emma", "Persuasion"].contains(\.title)`
    ///
    /// - Parameter property: the property, of the model or of one that it leads to.
    /// - Returns: the filter; without values it selects no model.
    /// - SQL: `<property> IN (?, …)`
    public func contains<Model>(_ property: KeyPath<Model, Element>) -> Filter<Model> { .in(property, self) }
}

extension Filter {
    /// Selects models whose property lies between two values, these included.
    ///
    /// - Parameters:
    ///   - property: the property, of the model or of one that it leads to.
    ///   - range: the smallest and the largest value.
    /// - Returns: the filter.
    /// - SQL: `<property> >= ? AND <property> <= ?`
    public static func between<Value: Encodable & Comparable>(
        _ property: KeyPath<Model, Value>, _ range: ClosedRange<Value>
    ) -> Filter { lying(property, in: range) }

    /// Selects models whose optional property lies between two values, these included.
    ///
    /// - Parameters:
    ///   - property: the property, of the model or of one that it leads to.
    ///   - range: the smallest and the largest value.
    /// - Returns: the filter.
    /// - SQL: `<property> >= ? AND <property> <= ?`
    public static func between<Value: Encodable & Comparable>(
        _ property: KeyPath<Model, Value?>, _ range: ClosedRange<Value>
    ) -> Filter { lying(property, in: range) }

    static func lying<Bounds: FilterRange>(_ property: PartialKeyPath<Model>, in range: Bounds) -> Filter
    where Bounds.Bound: Encodable {
        var filter: Filter?
        if let lowest = range.lowest { filter = comparing(property, .atLeast, lowest) }
        if let highest = range.highest {
            let below = comparing(property, range.includesHighest ? .atMost : .less, highest)
            filter = filter.map { $0 && below } ?? below
        }
        return filter ?? .all
    }
}
