import CoreDataModel
import Foundation
import PredicateFormat

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
