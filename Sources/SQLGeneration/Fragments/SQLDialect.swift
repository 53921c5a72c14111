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

extension SQLFragment {
    /// The text, and the bindings of its parameters.
    package func rendered(by dialect: some SQLDialect) -> SQLStatement {
        var renderer = SQLRenderer(dialect: dialect)
        renderer.append(self)
        if renderer.constants > Self.manyConstants, dialect.parameterAmongMany(1) != nil {
            renderer = SQLRenderer(dialect: dialect, hasMany: true)
            renderer.append(self)
        }
        return SQLStatement(text: renderer.text, bindings: renderer.bindings)
    }

    private static let manyConstants = 500
}

/// Writes a fragment's text.
private struct SQLRenderer<Dialect: SQLDialect> {
    let dialect: Dialect
    package var text = ""
    var bindings: [SQLBinding] = []
    /// How many constants of conditions there are, not counting those in lists.
    private(set) var constants = 0
    private let hasMany: Bool
    private var isInList = false
    private var parameters = 0
    /// The first constants, and the numbers of their parameters.
    private var shared: [(binding: SQLBinding, number: Int)] = []
    private let mostShared = 16

    init(dialect: Dialect, hasMany: Bool = false) {
        self.dialect = dialect
        self.hasMany = hasMany
    }

    mutating func append(_ fragment: SQLFragment) {
        for segment in fragment.segments { append(segment) }
    }

    private mutating func append(_ segment: SQLFragment.Segment) {
        switch segment {
        case .text(let words): text += words
        case .identifier(let name): text += dialect.identifier(name)
        case .column(let column):
            if let alias = column.alias { text += alias + "." }
            if case .named(let name) = column.name {
                text += dialect.identifier(name)
            } else {
                text += dialect.name(column.name)
            }
        case .literal(let value): text += dialect.literal(value)
        case .parameter(let binding):
            if dialect.sharesParameters, !isInList, case .constant = binding {
                if let known = shared.first(where: { $0.binding.isSameConstant(as: binding) }) {
                    text += dialect.numbered(known.number)
                    return
                }
                if shared.count < mostShared { shared.append((binding, parameters + 1)) }
            }
            parameters += 1
            let isConstant = binding.isOfCondition && !isInList
            if isConstant { constants += 1 }
            text +=
                (isConstant && hasMany ? dialect.parameterAmongMany(parameters) : nil) ?? dialect.parameter(parameters)
            bindings.append(binding)
        case .placeholder:
            parameters += 1
            text += dialect.parameter(parameters)
        case .numbered(let number): text += dialect.numbered(number)
        case .select(let selection):
            text += "("
            append(selection)
            text += ")"
        case .same(let left, let right, let isNegated): append(dialect.same(left, right, isNegated: isNegated))
        case .call(let function, let arguments): append(dialect.call(function, arguments))
        case .among(let operand, let list):
            let wasInList = isInList
            isInList = true
            append(dialect.among(operand, list))
            isInList = wasInList
        case .amongTexts(let operand, let list, let options):
            let wasInList = isInList
            isInList = true
            append(dialect.amongTexts(operand, list, options))
            isInList = wasInList
        case .existence(let existence): append(dialect.existence(existence))
        case .stringSearch(let left, let right, let comparison, let options):
            append(dialect.stringSearch(left, right, comparison, options))
        case .order(let operand, let comparison, let isAscending):
            append(dialect.order(operand, comparison, isAscending: isAscending))
        case .truth(let isTrue): text += dialect.truth(isTrue)
        case .page(let limit, let offset): append(dialect.page(limit: limit, offset: offset))
        case .insert(let insert): append(dialect.insert(insert))
        case .unindexed(let operand): append(dialect.unindexed(operand))
        case .mixingNumbers(let operand): append(operand)
        }
    }
}
