import CompactCollections
import CoreDataModel
import PredicateFormat

/// A condition in SQL.
struct SQLCondition {
    var fragment: SQLFragment
    /// Whether the condition can be NULL, which counts as false; its negation then counts as true.
    var canBeNull = true
    /// Whether it must be put in parentheses within another condition.
    var isCompound = false
    /// For the destinations of a relationship: whether those that meet the condition are found before the objects that
    /// lead to them.
    var findsRows = false

    init(_ fragment: SQLFragment, canBeNull: Bool = true, isCompound: Bool = false) {
        self.fragment = fragment
        self.canBeNull = canBeNull
        self.isCompound = isCompound
    }

    static let always = SQLCondition(SQLFragment(.truth(true)), canBeNull: false)
    static let never = SQLCondition(SQLFragment(.truth(false)), canBeNull: false)

    /// The condition as part of a larger one.
    var part: SQLFragment { isCompound ? fragment.inParentheses : fragment }
}
