import CoreDataModel
import StoreEngine

/// The statements of a batch request: how its rows are selected, and how they are changed. Pure.
package struct BatchSQL {
    /// How the rows of a statement are found.
    package enum Selection: Sendable {
        /// By the request's own condition.
        case condition
        /// By their keys.
        case keys(KeyTableSQL)
    }

    /// The new value of a column.
    package enum Assignment {
        case value(column: String, SQLValue)
        case binding(column: String, SQLBinding)
        case expression(column: String, ExpressionTree, whole: WholeNumbers? = nil, content: Content = .same)
    }

    /// How a column takes the bytes of another one: either may have them in files, which belong to one row.
    package enum Content {
        case same
        /// The value itself.
        case value
        /// The value itself, with the byte that says so.
        case marked(fromFile: Bool)

        /// Whether the other value may be in a file.
        package var readsFiles: Bool {
            switch self {
            case .same, .marked(fromFile: false): false
            case .value, .marked(fromFile: true): true
            }
        }

        func value(of bytes: SQLFragment) -> SQLFragment {
            switch self {
            case .same: bytes
            case .value: .call(.fileContent, bytes)
            case .marked(let fromFile): .call(.markedContent, fromFile ? .call(.fileContent, bytes) : bytes)
            }
        }
    }

    /// The requirement that a computed value is a whole number in the range of an attribute's type.
    package struct WholeNumbers {
        let type: NSAttributeType
        /// The attribute's name, for the error: `Note.stars`.
        let name: String

        /// - Returns: nil for attributes of other types.
        package init?(_ slot: SlotLayout, of entity: EntityLayout) {
            guard let attribute = slot.attribute, attribute.type.wholeNumbers != nil else { return nil }
            type = attribute.type
            name = "\(entity.name).\(attribute.name)"
        }

        func check(_ value: SQLFragment) -> SQLFragment { .call(.wholeNumber(type, name: name), value) }

        /// A condition that a computed value meets if it is such a number, or null.
        package typealias Condition = (_ value: SQLFragment, _ type: NSAttributeType) -> SQLFragment
    }

    let mapping: EntityMapping
    let schema: SQLSchema
    private let generator: PredicateSQL
    private let scope: SQLScope
    private let conditions: [SQLFragment]
    private let hasPredicate: Bool
    private let order: SQLFragment
    private let isLimited: Bool
    private let hasOffset: Bool

    /// - Parameters:
    ///   - schema: the store's tables.
    ///   - plan: the rows; its predicate and sort descriptors are given separately, as trees.
    ///   - predicate: the predicate, with or without its arguments in place.
    ///   - arguments: the predicate's arguments, if they are separate.
    ///   - sortTerms: the order.
    /// - Throws: an `NSError` that names what SQL cannot express.
    package init(
        schema: SQLSchema, plan: FetchPlan, predicate: PredicateTree? = nil, arguments: [Value] = [],
        sortTerms: [SortTerm] = []
    ) throws {
        let mapping = try schema.neededMapping(of: plan.entity)
        self.mapping = mapping
        self.schema = schema
        generator = PredicateSQL(schema: schema, arguments: arguments)
        scope = SQLScope(mapping: mapping, names: AliasNames())
        var conditions: [SQLFragment] = []
        if let filter = mapping.filter(includesSubentities: plan.includesSubentities, alias: scope.alias) {
            conditions.append(filter)
        }
        if generator.stopsAtLimit(plan, sortedBy: sortTerms, in: scope) { scope.names.asked = .some }
        hasPredicate = predicate != nil && predicate != .constant(true)
        if let predicate, hasPredicate {
            scope.names.length.allow(for: predicate, arguments, in: schema.layout)
            let condition = try generator.condition(predicate, in: scope)
            conditions.append(conditions.isEmpty ? condition.fragment : condition.part)
        }
        self.conditions = conditions
        isLimited = plan.limit > 0 || plan.offset > 0
        hasOffset = plan.offset > 0
        // The order matters only for the rows that a limit selects.
        order = isLimited ? try generator.order(by: sortTerms, in: scope) : SQLFragment.empty
    }

    private var condition: SQLFragment {
        conditions.isEmpty ? "" : " WHERE \(.joined(conditions, separator: " AND "))"
    }

    private func selection(_ columns: SQLFragment) -> SQLFragment {
        var sql: SQLFragment = "SELECT \(columns) FROM \(scope.from)\(condition)"
        if !order.isEmpty { sql = "\(sql) ORDER BY \(order)" }
        guard isLimited else { return sql }
        return sql + SQLFragment(.page(limit: .limit, offset: hasOffset ? .offset : nil))
    }

    /// The rows' keys and entities: `SELECT t0.Z_PK, t0.Z_ENT FROM ZCAR t0 WHERE …`.
    package var keys: SQLFragment { selection("\(.key, of: scope.alias), \(.entity, of: scope.alias)") }

    /// `UPDATE ZCAR AS t0 SET ZPRICE = ?, Z_OPT = t0.Z_OPT + 1 WHERE t0.ZMAKER = ?`
    ///
    /// - Parameters:
    ///   - assignments: the new values.
    ///   - rows: the rows to change.
    ///   - computesFirst: whether values computed of other rows are computed for all rows before one is changed. SQLite
    ///     3.40 computes them as it goes, of rows that it has changed already, too.
    /// - Returns: the statement.
    /// - Throws: an `NSError` for an expression that SQL cannot express.
    package func update(
        _ assignments: [Assignment], of rows: Selection, computesFirst: Bool = false
    ) throws -> SQLFragment {
        // All expressions first, since they determine which tables are joined.
        var values: [(column: String, value: SQLFragment, isComputed: Bool)] = []
        for assignment in assignments {
            switch assignment {
            case .value(let column, let value): values.append((column, .parameter(.value(value)), false))
            case .binding(let column, let binding): values.append((column, .parameter(binding), false))
            case .expression(let column, let tree, let whole, let content):
                let value = content.value(of: try generator.operand(tree, in: scope).fragment)
                values.append((column, whole?.check(value) ?? value, true))
            }
        }
        let joins = !scope.joins.isEmpty
        if computesFirst, values.contains(where: { $0.isComputed && (joins || $0.value.readsOtherRows) }) {
            return updateOfComputed(values, of: rows)
        }
        let target = joins ? "target" : scope.alias
        let own: SQLFragment = "\(.key, of: scope.alias) = \(.key, of: target)"
        var sets = values.map { column, value, isComputed -> SQLFragment in
            let value =
                joins && isComputed ? .select("SELECT \(value) FROM \(scope.from) WHERE \(own)") : value
            return "\(name: column) = \(value)"
        }
        sets.append("\(.version) = \(.version, of: target) + 1")
        return
            "UPDATE \(name: mapping.table) AS \(word: target) SET \(.list(sets))\(restriction(to: rows, target: target))"
    }

    /// `UPDATE ZCAR AS target SET ZPRICE = new.value0, Z_OPT = target.Z_OPT + 1 FROM (SELECT t0.Z_PK AS row, t1.ZPRICE
    /// AS value0 FROM ZCAR t0 LEFT JOIN …) AS new WHERE target.Z_PK = new.row`
    private func updateOfComputed(
        _ values: [(column: String, value: SQLFragment, isComputed: Bool)], of rows: Selection
    ) -> SQLFragment {
        var selected: SQLFragment = "\(.key, of: scope.alias) AS row"
        var sets: [SQLFragment] = []
        for (place, (column, value, _)) in values.enumerated() {
            selected = "\(selected), \(value) AS value\(number: place)"
            sets.append("\(name: column) = new.value\(number: place)")
        }
        sets.append("\(.version) = \(.version, of: "target") + 1")
        let selection =
            switch rows {
            case .condition: selection(selected)
            case .keys(let keys):
                "SELECT \(selected) FROM \(scope.from) WHERE \(.key, of: scope.alias) IN \(keys.keys)" as SQLFragment
            }
        return
            "UPDATE \(name: mapping.table) AS target SET \(.list(sets)) FROM (\(selection)) AS new WHERE \(.key, of: "target") = new.row"
    }

    /// Like `update(_:of:computesFirst:)`, but rows whose new values are not whole numbers are left out, instead of
    /// ending the statement: `UPDATE ZCAR AS t0 SET ZPRICE = t0.ZPRICE + 1, Z_OPT = t0.Z_OPT + 1 WHERE +(t0.ZPRICE + 1)
    /// BETWEEN …`.
    ///
    /// - Parameters:
    ///   - assignments: the new values.
    ///   - rows: the rows to change.
    ///   - fits: the database's condition on a value.
    /// - Returns: nil if no value is checked, if other rows are read for one, or if a predicate selects the rows.
    /// - Throws: an `NSError` for an expression that SQL cannot express.
    package func updateWhatFits(
        _ assignments: [Assignment], of rows: Selection, _ fits: WholeNumbers.Condition
    ) throws -> SQLFragment? {
        if case .condition = rows, count == nil { return nil }
        var checks: [SQLFragment] = []
        var unchecked: [Assignment] = []
        for assignment in assignments {
            guard case .expression(let column, let tree, let whole, let content) = assignment else {
                unchecked.append(assignment)
                continue
            }
            let value = try generator.operand(tree, in: scope).fragment
            guard scope.joins.isEmpty, !value.readsOtherRows else { return nil }
            if let whole { checks.append(fits(value, whole.type)) }
            unchecked.append(.expression(column: column, tree, content: content))
        }
        let update = try update(unchecked, of: rows)
        guard !checks.isEmpty, scope.joins.isEmpty else { return nil }
        let isRestricted = !restriction(to: rows, target: scope.alias).isEmpty
        return "\(update)\(isRestricted ? " AND " : " WHERE " as SQLFragment)\(.joined(checks, separator: " AND "))"
    }

    /// How many rows there are, if no predicate selects some of them: `SELECT COUNT(*) FROM ZCAR t0`.
    package var count: SQLFragment? {
        guard !hasPredicate, !isLimited else { return nil }
        return "SELECT COUNT(*) FROM \(scope.from)\(condition)"
    }

    /// How many rows there are, counted up to a limit: `SELECT COUNT(*) FROM (SELECT 1 FROM (SELECT t0.Z_PK, …) LIMIT
    /// 200)`.
    package func count(upTo limit: Int) -> SQLFragment {
        "SELECT COUNT(*) FROM (SELECT 1 FROM (\(keys)) LIMIT \(number: limit))"
    }

    /// `DELETE FROM ZCAR AS t0 WHERE t0.ZMAKER = ?`
    package func delete(_ rows: Selection) -> SQLFragment {
        let target = scope.joins.isEmpty ? scope.alias : "target"
        return "DELETE FROM \(name: mapping.table) AS \(word: target)\(restriction(to: rows, target: target))"
    }

    private func restriction(to rows: Selection, target: String) -> SQLFragment {
        switch rows {
        case .keys(let keys): return " WHERE \(.key, of: target) IN \(keys.keys)"
        case .condition:
            // If the condition reads other rows, all rows are found before one is changed: SQLite 3.40 finds them as it
            // goes.
            if scope.joins.isEmpty, !isLimited, !condition.readsOtherRows { return condition }
            return " WHERE \(.key, of: target) IN \(.select(selection("\(.key, of: scope.alias)")))"
        }
    }
}

extension BatchSQL {
    /// How a column takes the value of an expression, if either may have its bytes in a file.
    ///
    /// - Parameters:
    ///   - tree: the expression.
    ///   - column: the column that takes its value.
    ///   - name: the attribute of that column, for the error: `Note.image`.
    /// - Returns: how its bytes are converted.
    /// - Throws: an `NSError` for an expression that computes something from an attribute with external storage.
    package func content(of tree: ExpressionTree, for column: SlotColumn, named name: String) throws -> Content {
        guard let mayBeFile = column.storage.mayBeFile else { return .same }
        if case .keyPath(let keys) = tree {
            switch (storage(of: keys)?.mayBeFile ?? false, mayBeFile) {
            case (false, false): return .same
            case (true, false): return .value
            case (let fromFile, true): return .marked(fromFile: fromFile)
            }
        }
        try tree.forEach { part in
            guard case .keyPath(let keys) = part, storage(of: keys)?.mayBeFile == true else { return }
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation,
                "A batch update cannot compute “\(name)” from “\(keys.joined(separator: "."))”, whose values may be in files "
                    + "beside the store; it can take such a value only as it is.")
        }
        return mayBeFile ? .marked(fromFile: false) : .same
    }

    /// How the attribute at the end of a key path is stored; nil for anything else.
    private func storage(of keys: [String]) -> ColumnStorage? {
        var (mapping, rest) = (self.mapping, keys[...])
        while let name = rest.popFirst() {
            guard let slot = mapping.layout.slotIndex(forName: name), var column = mapping.columns[slot] else {
                return nil
            }
            if rest.isEmpty, !column.isComposite { return column.storage }
            if column.isComposite {
                for (place, _) in rest.enumerated() {
                    let path = keys[..<(keys.count - rest.count + place + 1)].joined(separator: ".")
                    guard let element = column.elements.first(where: { path.hasSuffix($0.property) }) else {
                        return nil
                    }
                    column = element
                }
                return column.isComposite ? nil : column.storage
            }
            guard let destination = column.destination, let next = schema.mapping(of: destination) else { return nil }
            mapping = next
        }
        return nil
    }
}

extension ColumnStorage {
    /// Whether a value may be in a file; nil for storage of other values than bytes.
    fileprivate var mayBeFile: Bool? {
        switch self {
        case .data(let allowsExternal), .transformable(let allowsExternal): allowsExternal
        default: nil
        }
    }
}
