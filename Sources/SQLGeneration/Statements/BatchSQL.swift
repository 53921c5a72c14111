import CoreDataModel
import StoreEngine

/// The statements of a batch request: which rows it is about, and what becomes of them. Pure.
package struct BatchSQL {
    /// Where the rows are found that a statement works on.
    package enum Selection: Sendable {
        /// By the request's own condition.
        case condition
        /// By their keys, in a table `Z_PK`.
        case keys(table: String)
    }

    /// What a column becomes.
    package enum Assignment {
        case value(column: String, SQLValue)
        case expression(column: String, ExpressionTree, whole: WholeNumbers? = nil)
    }

    /// That a computed value must be a whole number which an attribute's type holds.
    package struct WholeNumbers {
        let type: NSAttributeType
        /// The attribute's name, for the error: `Note.stars`.
        let name: String

        /// - Returns: nil for attributes of other types.
        package init?(_ slot: SlotLayout, of entity: EntityLayout) {
            guard let attribute = slot.attribute else { return nil }
            switch attribute.type {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: type = attribute.type
            default: return nil
            }
            name = "\(entity.name).\(attribute.name)"
        }

        /// The value, for which the function is called only where it does not fit: a call for each row takes as long as changing it.
        func check(_ value: SQLFragment) -> SQLFragment {
            let bounds =
                switch type {
                case .integer16AttributeType: "BETWEEN \(Int16.min) AND \(Int16.max)"
                case .integer32AttributeType: "BETWEEN \(Int32.min) AND \(Int32.max)"
                default: "IS NOT NULL"
                }
            return SQLFragment.joined(
                [
                    SQLFragment("CASE WHEN typeof("), value, SQLFragment(") = 'integer' AND ("), value,
                    SQLFragment(") \(bounds) THEN "), value, SQLFragment(" ELSE \(SQLFunctionName.wholeNumber)("),
                    value,
                    SQLFragment(", \(type.rawValue), ?) END", [.value(.text(name))]),
                ], separator: "")
        }
    }

    private let mapping: EntityMapping
    private let generator: PredicateSQL
    private let scope: SQLScope
    private let conditions: [SQLFragment]
    private let order: SQLFragment
    private let isLimited: Bool
    private let hasOffset: Bool

    /// - Parameters:
    ///   - plan: the rows; its predicate and sort descriptors come separately, as trees.
    ///   - arguments: the predicate's arguments, where they are apart.
    /// - Throws: an `NSError` that names what cannot be said in SQL.
    package init(
        schema: SQLSchema, plan: FetchPlan, predicate: PredicateTree? = nil, arguments: [Value] = [],
        sortTerms: [SortTerm] = []
    ) throws {
        let mapping = try schema.neededMapping(of: plan.entity)
        self.mapping = mapping
        generator = PredicateSQL(schema: schema, arguments: arguments)
        scope = SQLScope(mapping: mapping, names: AliasNames())
        var conditions: [SQLFragment] = []
        if let filter = FetchSQL.entityFilter(mapping, plan, alias: scope.alias) { conditions.append(filter) }
        if let predicate, predicate != .constant(true) {
            let condition = try generator.condition(predicate, in: scope)
            conditions.append(conditions.isEmpty ? condition.fragment : condition.part)
        }
        self.conditions = conditions
        isLimited = plan.limit > 0 || plan.offset > 0
        hasOffset = plan.offset > 0
        // The order matters only for which rows a limit leaves.
        order = isLimited ? try generator.order(by: sortTerms, in: scope) : SQLFragment("")
    }

    private var condition: SQLFragment {
        conditions.isEmpty ? SQLFragment("") : " WHERE " + SQLFragment.joined(conditions, separator: " AND ")
    }

    private func selection(_ columns: String) -> SQLFragment {
        var text = "SELECT \(columns) FROM \(scope.from)" + condition
        if !order.text.isEmpty { text = text + " ORDER BY " + order }
        guard isLimited else { return text }
        text = text + SQLFragment(" LIMIT ?", [.limit])
        return hasOffset ? text + SQLFragment(" OFFSET ?", [.offset]) : text
    }

    /// The rows' keys and entities: `SELECT t0.Z_PK, t0.Z_ENT FROM ZCAR t0 WHERE …`.
    package var keys: SQLStatement {
        let text = selection("\(scope.alias).Z_PK, \(scope.alias).Z_ENT")
        return SQLStatement(text.text, text.bindings)
    }

    /// `UPDATE ZCAR AS t0 SET ZPRICE = ?, Z_OPT = t0.Z_OPT + 1 WHERE t0.ZMAKER = ?`
    ///
    /// - Throws: an `NSError` for an expression that cannot be said in SQL.
    package func update(_ assignments: [Assignment], of rows: Selection) throws -> SQLStatement {
        // All expressions first: only then is it known which tables they join.
        var values: [(column: String, value: SQLFragment, isComputed: Bool)] = []
        for assignment in assignments {
            switch assignment {
            case .value(let column, let value): values.append((column, SQLFragment("?", [.value(value)]), false))
            case .expression(let column, let tree, let whole):
                let value = try generator.operand(tree, in: scope).fragment
                values.append((column, whole?.check(value) ?? value, true))
            }
        }
        let joins = !scope.joins.isEmpty
        let target = joins ? "target" : scope.alias
        var sets = values.map { column, value, isComputed -> SQLFragment in
            let value =
                joins && isComputed
                ? "(SELECT " + value + " FROM \(scope.from) WHERE \(scope.alias).Z_PK = \(target).Z_PK)" : value
            return "\(quoted(column)) = " + value
        }
        sets.append(SQLFragment("Z_OPT = \(target).Z_OPT + 1"))
        let text =
            "UPDATE \(quoted(mapping.table)) AS \(target) SET " + SQLFragment.joined(sets, separator: ", ")
            + restriction(to: rows, target: target)
        return SQLStatement(text.text, text.bindings)
    }

    /// `DELETE FROM ZCAR AS t0 WHERE t0.ZMAKER = ?`
    package func delete(_ rows: Selection) -> SQLStatement {
        let target = scope.joins.isEmpty ? scope.alias : "target"
        let text = "DELETE FROM \(quoted(mapping.table)) AS \(target)" + restriction(to: rows, target: target)
        return SQLStatement(text.text, text.bindings)
    }

    private func restriction(to rows: Selection, target: String) -> SQLFragment {
        switch rows {
        case .keys(let table): return SQLFragment(" WHERE \(target).Z_PK IN (SELECT Z_PK FROM \(table))")
        case .condition:
            // Where the condition reads other rows, all rows are found before one is changed: SQLite 3.40 finds them as it
            // goes.
            let condition = condition
            if scope.joins.isEmpty, !isLimited, !condition.text.contains("(SELECT ") { return condition }
            return " WHERE \(target).Z_PK IN (" + selection("\(scope.alias).Z_PK") + ")"
        }
    }
}
