import CoreDataModel
import PredicateFormat

// Conditions on the single values of a list that a column has as JSON.
extension PredicateSQL {
    /// `EXISTS (SELECT 1 FROM PippinListed(t0.ZTAGS, 'text') t1 WHERE t1.value = ?)`; for the lists of a relationship's
    /// objects, within one for these.
    ///
    /// - Parameters:
    ///   - tree: the list.
    ///   - scope: the tables that key paths start at.
    ///   - body: the condition that a value must satisfy, from the expression for it.
    /// - Returns: the condition.
    /// - Throws: an `NSError` that names what SQL cannot express, and the errors of `body`.
    func existence(
        ofListed tree: ExpressionTree, in scope: SQLScope, _ body: (ExpressionTree) throws -> SQLCondition
    ) throws -> SQLCondition {
        if case .listed(let list, let kind) = tree, let (toMany, origin) = relationship(list, in: scope) {
            return try existence(of: toMany, in: origin) { target in
                // No format string can name this variable.
                let variable = "\u{0}" + target.scope.alias
                let former = scope.variables
                defer { scope.variables = former }
                scope.variables[variable] = target.scope
                return try existence(ofListed: .listed(.keys(target.keys, from: variable), kind), in: scope, body)
            }
        }
        let rows = try rows(ofListed: tree, in: scope)
        let variable = "\u{0}" + rows.alias
        scope.names.listed[variable] = rows.value
        defer { scope.names.listed[variable] = nil }
        let condition = try body(.variable(variable))
        return SQLCondition(
            "EXISTS \(.select("SELECT 1 FROM \(rows.table) WHERE \(condition.part)"))", canBeNull: false)
    }

    /// `(SELECT COUNT(*) FROM PippinListed(t0.ZTAGS, 'text') t1)`: how many values a list has, or how many of them
    /// satisfy a condition, in which a variable stands for the value.
    func count(
        ofListed tree: ExpressionTree, where condition: (variable: String, PredicateTree)? = nil, in scope: SQLScope
    ) throws -> SQLOperand {
        let rows = try rows(ofListed: tree, in: scope)
        var text: SQLFragment = "SELECT COUNT(*) FROM \(rows.table)"
        if let (variable, predicate) = condition {
            // An outer variable of the same name is hidden.
            let (former, formerValue) = (scope.variables, scope.names.listed[variable])
            defer { (scope.variables, scope.names.listed[variable]) = (former, formerValue) }
            scope.variables[variable] = nil
            scope.names.listed[variable] = rows.value
            text = text + " WHERE " + (try self.condition(predicate, in: scope)).part
        }
        return SQLOperand(fragment: .select(text), storage: .integer, canBeNull: false)
    }

    /// The values of a list as rows: the table with its alias, and the value.
    private func rows(
        ofListed tree: ExpressionTree, in scope: SQLScope
    ) throws -> (table: SQLFragment, alias: String, value: SQLOperand) {
        guard case .listed(let list, let kind) = tree else { throw SQLError.unsupported(tree.sqlDescription) }
        let column = try operand(list, in: scope)
        // The bytes of another column may be in a file.
        guard column.storage == .data(allowsExternal: false) else { throw SQLError.unsupported(tree.sqlDescription) }
        let alias = scope.nextAlias()
        var value = SQLOperand(
            fragment: "\(SQLColumn("value", of: alias))", storage: kind.storage, canBeNull: false)
        value.hasRealFractions = kind == .double || kind == .float
        return ("\(.call(.listed(kind), column.fragment)) \(word: alias)", alias, value)
    }
}

extension ExpressionTree {
    /// Whether it is a list that an attribute has as JSON.
    var isListed: Bool { if case .listed = self { true } else { false } }
}

extension ListedKind {
    /// The storage of a column with such values.
    fileprivate var storage: ColumnStorage {
        switch self {
        case .boolean: .boolean
        case .integer: .integer
        case .float: .float
        case .double: .double
        case .text: .string
        case .date: .date
        case .uuid: .uuid
        case .url: .url
        }
    }
}

/// How long a statement's SQL becomes. Comparisons that say an operand twice, nested in one another, would make it
/// longer than any memory holds.
final class SQLLength {
    private var allowed = 20_000
    private var segments = 0
    private var operands = 0
    private var depth = 0

    /// Allows as much as a predicate needs without such comparisons. A comparison with a property that several entities
    /// declare may be made with the column of each.
    func allow(for predicate: PredicateTree, _ arguments: [Value], in layout: ModelLayout) {
        var values = 0
        var columns = 0
        var declarers: [String: Int] = [:]
        predicate.forEachComparison { comparison in
            values += 1
            for key in comparison.keys {
                let count = declarers[key] ?? layout.entities.count(where: { $0.declares(key) })
                declarers[key] = count
                columns += count
            }
        }
        predicate.forEachConstant { values += $0.elements?.count ?? 1 }
        for argument in arguments { values += argument.elements?.count ?? 1 }
        allowed += values * 64 + columns * 16
    }

    /// Counts an operand.
    func count() throws {
        operands += 1
        if operands > allowed { throw Self.error }
    }

    /// Makes a comparison, and counts its segments.
    func measuring(_ make: () throws -> SQLCondition) throws -> SQLCondition {
        depth += 1
        defer { depth -= 1 }
        let condition = try make()
        let size = condition.fragment.size(upTo: allowed)
        if segments + size > allowed { throw Self.error }
        // The outer comparison counts what is in it.
        if depth == 1 { segments += size }
        return condition
    }

    private static var error: any Error { SQLError.unsupported("a predicate whose SQL would be too long") }
}

extension ComparisonTree {
    /// The keys of the paths on both sides, without those in subqueries and conditions.
    fileprivate var keys: [String] {
        var keys: [String] = []
        for side in [left, right] {
            side.forEach { expression in
                switch expression {
                case .keyPath(let path), .path(_, let path): keys += path
                default: break
                }
            }
        }
        return keys
    }
}

extension EntityLayout {
    /// Whether the entity has a property, and its superentity has none of that name.
    fileprivate func declares(_ name: String) -> Bool {
        propertyByName[name] != nil && superentity?.propertyByName[name] == nil
    }
}

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
