import Foundation

// Comparison methods; each comment shows the format string of the same tree. The operators are in a module of their
// own, `PredicateOperators`.

extension PredicateOperand where Value: Equatable {
    /// `age IN {30, 31}`. SQL: `t0.ZAGE IN (?, ?)`.
    ///
    /// - Parameter values: the values.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func `in`(_ values: [Value]) -> NSPredicate {
        compare(.in, constantTree(collection: values))
    }

    /// `age IN {30, 31}`, for an optional property; not true where it is nil.
    ///
    /// - Parameter values: the values.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func `in`<Wrapped>(_ values: [Wrapped]) -> NSPredicate where Value == Wrapped? {
        compare(.in, constantTree(collection: values))
    }

    /// `age BETWEEN {18, 30}`, for an optional property.
    ///
    /// - Parameter range: the bounds.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func `in`<Wrapped: Comparable>(_ range: ClosedRange<Wrapped>) -> NSPredicate where Value == Wrapped? {
        between(range.lowerBound, range.upperBound)
    }

    /// `age >= 18 AND age < 30`, for an optional property.
    ///
    /// - Parameter range: the bounds.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func `in`<Wrapped: Comparable>(_ range: Range<Wrapped>) -> NSPredicate where Value == Wrapped? {
        .compound(
            compare(.greaterThanOrEqualTo, constantTree(range.lowerBound)),
            compare(.lessThan, constantTree(range.upperBound)))
    }
}

extension PredicateOperand {
    /// `age == nil`; also true of an empty to-many relationship. SQL: `t0.ZAGE IS NULL`.
    @_disfavoredOverload
    public var isNil: NSPredicate { compare(.equalTo, .constant(.null)) }

    /// `age != nil`. SQL: `t0.ZAGE IS NOT NULL`.
    @_disfavoredOverload
    public var isNotNil: NSPredicate { compare(.notEqualTo, .constant(.null)) }
}

// MARK: Order

extension PredicateOperand where Value: Comparable {
    /// `age BETWEEN {18, 30}`, including both bounds. SQL: `t0.ZAGE BETWEEN ? AND ?`.
    ///
    /// - Parameters:
    ///   - lower: the smallest value.
    ///   - upper: the largest value.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func between(_ lower: Value, _ upper: Value) -> NSPredicate {
        compare(.between, constantTree(collection: [lower, upper]))
    }

    /// `age BETWEEN {18, 30}`
    ///
    /// - Parameter range: the bounds.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func `in`(_ range: ClosedRange<Value>) -> NSPredicate {
        between(range.lowerBound, range.upperBound)
    }

    /// `age >= 18 AND age < 30`
    ///
    /// - Parameter range: the bounds.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func `in`(_ range: Range<Value>) -> NSPredicate {
        .compound(
            compare(.greaterThanOrEqualTo, constantTree(range.lowerBound)),
            compare(.lessThan, constantTree(range.upperBound)))
    }
}

extension PredicateOperand {
    /// `age BETWEEN {18, 30}`, for an optional property; not true where it is nil.
    ///
    /// - Parameters:
    ///   - lower: the smallest value.
    ///   - upper: the largest value.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func between<Wrapped: Comparable>(_ lower: Wrapped, _ upper: Wrapped) -> NSPredicate
    where Value == Wrapped? {
        compare(.between, constantTree(collection: [lower, upper]))
    }
}
