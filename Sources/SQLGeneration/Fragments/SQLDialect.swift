import CoreDataModel
import Foundation
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

/// A new row, or a change of the row that conflicts with it.
package struct SQLInsert: Sendable, Equatable {
    package enum Conflict: Sendable, Equatable {
        /// The existing row stays, which is not an error.
        case ignored
        /// The existing row takes these values.
        case updates(SQLFragment)
    }

    package var table: String
    package var columns: [SQLColumn]
    /// The selection of the rows; nil for one row whose values are bound.
    package var rows: SQLFragment?
    /// What to do about a row with the same unique values; nil for an error.
    package var conflict: Conflict?
    /// Whether the key of the row is to be read.
    package var returnsKey = false
    /// Whether the row's entity is to be read, after its key.
    package var returnsEntity = false

    package init(
        into table: String, _ columns: [SQLColumn], rows: SQLFragment? = nil, conflict: Conflict? = nil,
        returnsKey: Bool = false, returnsEntity: Bool = false
    ) {
        self.returnsEntity = returnsEntity
        self.table = table
        self.columns = columns
        self.rows = rows
        self.conflict = conflict
        self.returnsKey = returnsKey
    }
}

/// A column, with its table's alias if that must be given.
package struct SQLColumn: Sendable, Equatable {
    /// The columns that every row has.
    package enum Name: Sendable, Equatable {
        /// The row's key.
        case key
        /// The number of the row's entity.
        case entity
        /// A number that grows with every change of the row.
        case version
        case named(String)
    }

    package var alias: String?
    package var name: Name

    package init(_ name: Name, of alias: String? = nil) { (self.name, self.alias) = (name, alias) }
    package init(_ name: String, of alias: String? = nil) { self.init(.named(name), of: alias) }
}

/// Whether other rows lead to one, which databases say in one of two ways.
///
/// The conditions stand here once: nested in one another, they would otherwise double with each level.
package struct SQLExistence: Sendable, Equatable {
    /// The tables of the other rows.
    var tables: SQLFragment
    /// Connects the other rows with the one.
    var link: SQLFragment
    /// Connects the other rows with the pairs of a join table that lead to them; nil without one.
    var pairing: SQLFragment?
    /// What holds for the other rows.
    var condition: SQLFragment
    /// The key of the one row, and the column of the others that holds it.
    var key: SQLFragment
    var source: SQLFragment

    /// `SELECT 1 FROM ZPAGE t1 WHERE t1.ZBOOK = t0.Z_PK AND …`
    package var rows: SQLFragment { "SELECT 1 FROM \(tables) WHERE \(link) AND \(condition)" }

    /// `t0.Z_PK IN (SELECT t1.ZBOOK FROM ZPAGE t1 WHERE …)`
    package var membership: SQLFragment {
        let conditions = pairing.map { $0 + " AND " + condition } ?? condition
        return "\(key) IN \(.select("SELECT \(source) FROM \(tables) WHERE \(conditions)"))"
    }

    var parts: [SQLFragment] { [tables, link, condition] }

    func mapParts(_ change: (SQLFragment) throws -> SQLFragment) rethrows -> SQLExistence {
        SQLExistence(
            tables: try change(tables), link: try change(link), pairing: try pairing.map(change),
            condition: try change(condition), key: try change(key), source: try change(source))
    }
}

/// A function whose name or syntax depends on the database.
package enum SQLFunction: Sendable, Equatable {
    case now, uppercase, lowercase, canonical
    /// Whether the texts after the first argument have what that searches for.
    case search
    /// The average of a group, as a fraction.
    case average
    /// The sum of a group, which is a whole number if the group's numbers are.
    case sum(isWhole: Bool)
    /// The sum of a group of decimals, without rounding errors.
    case decimalSum
    /// `MIN` or `MAX` of a group. PostgreSQL has none for Booleans and UUIDs, so the dialect needs the storage.
    case extreme(isGreatest: Bool, of: ColumnStorage)
    /// Whether both arguments are numbers, both texts, or both bytes.
    case haveSameKind
    /// A text compared by its bytes, not by a language's collation.
    case orderedByBytes
    /// The first argument, unless it is NULL; then the second.
    case ifNull
    /// The first argument, which must be a whole number in the range of an attribute's type. Any other value fails the
    /// statement, with the attribute's name.
    case wholeNumber(NSAttributeType, name: String)
    /// Whether a column that allows external storage contains the name of a file instead of the value.
    case isInFile
    /// The value of a column that allows external storage, read from its file if it is in one.
    case fileContent
    /// The column's bytes with the content of the file that they name, and otherwise as they are: for a further column
    /// that takes a value, since a file belongs to one column.
    case inlinedContent
    /// The value with the leading byte that a column with external storage has (`X'01'`).
    case markedContent
    /// The history's mask of changed properties with the numbering of the new model, from an entity's number and a
    /// mask.
    case changedProperties
    /// The value at a path of nested JSON, as a column of the type has it, from the JSON's bytes.
    case nestedValue(path: [String], type: NestedType)

    /// The rows of the single values of a list, each as `value`, from the JSON's bytes: the table of a FROM clause.
    case listed(ListedKind)

    /// The type of a value in nested JSON.
    package enum NestedType: Sendable, Equatable {
        case attribute(NSAttributeType)
        case json
        case presence
    }

    /// The sum of a group of numbers in columns with the given storage.
    package static func sum(of storage: ColumnStorage?, isWhole: Bool) -> SQLFunction {
        storage == .decimal ? .decimalSum : .sum(isWhole: isWhole)
    }

    /// Whether SQLite knows the function only on connections that registered it, so that nothing in the file, such as
    /// an index, may depend on it.
    package var isRegisteredByPippin: Bool {
        switch self {
        case .ifNull, .average, .sum, .extreme, .isInFile, .markedContent, .haveSameKind, .orderedByBytes: false
        case .now, .uppercase, .lowercase, .canonical, .search, .decimalSum, .wholeNumber, .fileContent,
            .inlinedContent,
            .changedProperties, .nestedValue, .listed:
            true
        }
    }
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

/// Writes a fragment's text in a dialect.
private struct SQLRenderer<Dialect: SQLDialect> {
    let dialect: Dialect
    private(set) var text = ""
    private(set) var bindings: [SQLBinding] = []
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
        case .parameter(let binding): appendParameter(binding)
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
        case .among(let operand, let list): appendList(dialect.among(operand, list))
        case .amongTexts(let operand, let list, let options): appendList(dialect.amongTexts(operand, list, options))
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
    /// Appends the mark of a parameter, which the first constants share with equal ones in some dialects.
    private mutating func appendParameter(_ binding: SQLBinding) {
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
        text += (isConstant && hasMany ? dialect.parameterAmongMany(parameters) : nil) ?? dialect.parameter(parameters)
        bindings.append(binding)
    }

    /// Appends a fragment whose constants are in a list, where they are neither counted nor shared.
    private mutating func appendList(_ fragment: SQLFragment) {
        let wasInList = isInList
        isInList = true
        append(fragment)
        isInList = wasInList
    }
}

/// A statement as a database reads it: its text, and the bindings of those parameters that have one.
package struct SQLStatement: Sendable {
    package let text: String
    package let bindings: [SQLBinding]

    package init(text: String, bindings: [SQLBinding]) {
        self.text = text
        self.bindings = bindings
    }

    /// The bound values.
    package func values(_ context: BindingContext = BindingContext()) throws -> [SQLValue] {
        try bindings.map { try $0.value(context) }
    }
}
