import PredicateFormat

// The operators build comparisons; each comment shows the format string of the same tree.
//
// They take a key path and a value, never two key paths: comparing two key paths is Swift's own `==`, with a `Bool`.

extension PredicateOperand where Value: Equatable {
    /// `age == 30`; with `nil`, `age == nil`. SQL: `t0.ZAGE = ?`, `t0.ZAGE IS NULL`.
    public static func == (operand: Self, value: Value) -> NSPredicate {
        operand.compare(.equalTo, constantTree(value))
    }

    /// `age != 30`, which is also true where `age` is nil. SQL: `t0.ZAGE <> ? OR t0.ZAGE IS NULL`.
    public static func != (operand: Self, value: Value) -> NSPredicate {
        operand.compare(.notEqualTo, constantTree(value))
    }

    /// `firstName == lastName`
    public static func == (operand: Self, other: KeyPathExpression<Root, Value>) -> NSPredicate {
        operand.compare(.equalTo, other.comparisonSide.tree)
    }

    /// `firstName != lastName`
    public static func != (operand: Self, other: KeyPathExpression<Root, Value>) -> NSPredicate {
        operand.compare(.notEqualTo, other.comparisonSide.tree)
    }
}

// MARK: Order

extension PredicateOperand where Value: Comparable {
    /// `age < 30`
    public static func < (operand: Self, value: Value) -> NSPredicate {
        operand.compare(.lessThan, constantTree(value))
    }

    /// `age <= 30`
    public static func <= (operand: Self, value: Value) -> NSPredicate {
        operand.compare(.lessThanOrEqualTo, constantTree(value))
    }

    /// `age > 30`
    public static func > (operand: Self, value: Value) -> NSPredicate {
        operand.compare(.greaterThan, constantTree(value))
    }

    /// `age >= 30`
    public static func >= (operand: Self, value: Value) -> NSPredicate {
        operand.compare(.greaterThanOrEqualTo, constantTree(value))
    }
}

extension PredicateOperand {
    /// `age < 30`, for an optional property; not true where it is nil.
    public static func < <Wrapped: Comparable>(operand: Self, value: Wrapped) -> NSPredicate where Value == Wrapped? {
        operand.compare(.lessThan, constantTree(value))
    }

    /// `age <= 30`, for an optional property.
    public static func <= <Wrapped: Comparable>(operand: Self, value: Wrapped) -> NSPredicate where Value == Wrapped? {
        operand.compare(.lessThanOrEqualTo, constantTree(value))
    }

    /// `age > 30`, for an optional property; not true where it is nil.
    public static func > <Wrapped: Comparable>(operand: Self, value: Wrapped) -> NSPredicate where Value == Wrapped? {
        operand.compare(.greaterThan, constantTree(value))
    }

    /// `age >= 30`, for an optional property.
    public static func >= <Wrapped: Comparable>(operand: Self, value: Wrapped) -> NSPredicate where Value == Wrapped? {
        operand.compare(.greaterThanOrEqualTo, constantTree(value))
    }

    /// `born < died`
    public static func < (operand: Self, other: KeyPathExpression<Root, Value>) -> NSPredicate {
        operand.compare(.lessThan, other.comparisonSide.tree)
    }

    /// `born <= died`
    public static func <= (operand: Self, other: KeyPathExpression<Root, Value>) -> NSPredicate {
        operand.compare(.lessThanOrEqualTo, other.comparisonSide.tree)
    }

    /// `born > died`
    public static func > (operand: Self, other: KeyPathExpression<Root, Value>) -> NSPredicate {
        operand.compare(.greaterThan, other.comparisonSide.tree)
    }

    /// `born >= died`
    public static func >= (operand: Self, other: KeyPathExpression<Root, Value>) -> NSPredicate {
        operand.compare(.greaterThanOrEqualTo, other.comparisonSide.tree)
    }
}
