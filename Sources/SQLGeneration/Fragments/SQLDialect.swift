import CoreDataModel
import PredicateFormat

/// The SQL syntax that differs between databases.
package protocol SQLDialect: Sendable {
    /// The mark of the nth parameter, from 1: `?`, `$1`.
    func parameter(_ number: Int) -> String
    /// The mark of a parameter that may be used more than once: `?1`, `$1`.
    func numbered(_ number: Int) -> String
    /// The mark of a parameter for a constant of a condition that has very many of these; nil for the usual mark.
    func parameterAmongMany(_ number: Int) -> String?
    /// Whether constants that are the same have one parameter.
    var sharesParameters: Bool { get }
    /// A name as SQL: unchanged if it is plain, in quotes otherwise.
    func identifier(_ name: String) -> String
    /// The names of the columns that every row has.
    func name(_ column: SQLColumn.Name) -> String
    /// A value as a literal.
    func literal(_ value: SQLValue) -> String
    /// Whether two values are equal, where NULL equals NULL.
    func same(_ left: SQLFragment, _ right: SQLFragment, isNegated: Bool) -> SQLFragment
    func call(_ function: SQLFunction, _ arguments: [SQLFragment]) -> SQLFragment
    /// Whether a value is one of several.
    func among(_ operand: SQLFragment, _ list: [SQLFragment]) -> SQLFragment
    /// Whether a text is one of several, when the options' differences are ignored.
    func amongTexts(_ operand: SQLFragment, _ list: [SQLFragment], _ options: StringOptions) -> SQLFragment
    /// Whether other rows lead to one: by a selection for it, or by its key among those of all such rows.
    func existence(_ existence: SQLExistence) -> SQLFragment
    /// Whether a comparison of two texts holds.
    func stringSearch(
        _ left: SQLFragment, _ right: SQLFragment, _ comparison: ComparisonOperator, _ options: StringOptions
    ) -> SQLFragment
    /// A term of an order: NULL comes first if it ascends, and last if it descends.
    func order(_ operand: SQLFragment, _ comparison: SortTerm.Comparison, isAscending: Bool) -> SQLFragment
    /// A condition that always holds, or never.
    func truth(_ isTrue: Bool) -> String
    /// The clause that limits a selection of rows.
    func page(limit: SQLBinding, offset: SQLBinding?) -> SQLFragment
    func insert(_ insert: SQLInsert) -> SQLFragment
    /// An operand for which no index is to be used.
    func unindexed(_ operand: SQLFragment) -> SQLFragment
    /// The type of a column.
    func columnType(_ storage: ColumnStorage) -> String
}

extension SQLDialect {
    package var sharesParameters: Bool { false }
    package func parameterAmongMany(_ number: Int) -> String? { nil }

    package func among(_ operand: SQLFragment, _ list: [SQLFragment]) -> SQLFragment {
        "\(operand) IN (\(.list(list)))"
    }

    package func amongTexts(_ operand: SQLFragment, _ list: [SQLFragment], _ options: StringOptions) -> SQLFragment {
        let searches = list.map { SQLFragment(.stringSearch(operand, $0, .equalTo, options)) }
        return SQLFragment.joined(searches, separator: " OR ").inParentheses
    }

    package func existence(_ existence: SQLExistence) -> SQLFragment { "EXISTS \(.select(existence.rows))" }
}
