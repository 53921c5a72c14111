import CoreDataModel
import StoreEngine

/// What a fetch shall return.
package enum FetchResult: Hashable, Sendable {
    case rows, identifiers, count, dictionaries
    /// The values of dictionaries alone, for a subquery.
    case values
}

/// A fetch as SQL, and how to read what it returns.
package struct FetchStatement: Sendable {
    package let statement: SQLStatement
    /// For rows: where the slots are found.
    package let shape: RowShape?
    /// For dictionaries: how each column is read.
    package let columns: [DictionaryColumn]
    /// Whether an identifier's `Z_ENT` is the second column.
    package let selectsEntity: Bool
    /// Whether the text serves every predicate of the same skeleton; not when it holds the text of another request.
    package let isReusable: Bool
}

/// One column of a dictionary fetch.
package struct DictionaryColumn: Sendable {
    package let name: String
    package let storage: ColumnStorage?
    /// The destination of a to-one relationship.
    package let destination: EntityLayout?
    /// Where the number of the destination's own entity is found, which may be one below it.
    package var entityIndex: Int?
    /// The attribute that the value comes from.
    package let attribute: AttributeLayout?
    /// The type that a computed value was declared to have.
    package let declaredType: NSAttributeType?
}

/// Turns fetches into SQL. Pure.
package struct FetchSQL {
    package let schema: SQLSchema

    package init(schema: SQLSchema) { self.schema = schema }

    /// The statement for a plan.
    ///
    /// - Parameters:
    ///   - plan: the fetch; its predicate and sort descriptors come separately, as trees.
    ///   - predicate: the predicate, arguments in place or apart.
    ///   - arguments: the predicate's arguments, where they are apart.
    ///   - sortTerms: the order.
    ///   - having: what groups must satisfy.
    /// - Throws: an `NSError` that names what cannot be said in SQL.
    package func statement(
        _ plan: FetchPlan, result: FetchResult, predicate: PredicateTree? = nil, arguments: [Value] = [],
        sortTerms: [SortTerm] = [], having: PredicateTree? = nil
    ) throws -> FetchStatement {
        let mapping = try schema.neededMapping(of: plan.entity)
        let generator = PredicateSQL(schema: schema, arguments: arguments)
        let groupGenerator = PredicateSQL(schema: schema, arguments: arguments, aggregatesGroups: true)
        let scope = SQLScope(mapping: mapping, names: AliasNames())
        let mappings = plan.entities.compactMap { schema.mapping(of: $0) }
        let selectsEntity = mapping.sharesTable
        var shape: RowShape?
        var columns: [DictionaryColumn] = []
        let selection: SQLFragment
        switch result {
        case .rows:
            let rowShape = RowShape(mappings)
            selection = SQLFragment(rowShape.selection(alias: scope.alias))
            shape = rowShape
        case .identifiers:
            selection = SQLFragment(selectsEntity ? "\(scope.alias).Z_PK, \(scope.alias).Z_ENT" : "\(scope.alias).Z_PK")
        case .count: selection = SQLFragment(plan.limit > 0 || plan.offset > 0 ? "1" : "COUNT(*)")
        case .dictionaries, .values:
            (selection, columns) = try groupGenerator.columns(plan, withEntities: result == .dictionaries, in: scope)
        }

        var conditions: [SQLFragment] = []
        if let filter = Self.entityFilter(mapping, plan, alias: scope.alias) { conditions.append(filter) }
        if let predicate, predicate != .constant(true) {
            let condition = try generator.condition(predicate, in: scope)
            // The top of the WHERE clause needs no parentheses unless something stands beside it.
            conditions.append(conditions.isEmpty ? condition.fragment : condition.part)
        }
        let groups = try plan.groupBy.map { key in
            try groupGenerator.operand(plan.tree(ofColumn: key), in: scope).fragment
        }
        let havingCondition = try having.map {
            try groupGenerator.condition(plan.resolvingColumns(in: $0), in: scope).fragment
        }
        let order = result == .count ? SQLFragment("") : try generator.order(by: sortTerms, in: scope)

        // The joins are known only now that everything has been looked at.
        var statement = "SELECT \(plan.isDistinct && !columns.isEmpty ? "DISTINCT " : "")" + selection
        statement = statement + " FROM \(scope.from)"
        if !conditions.isEmpty { statement = statement + " WHERE " + .joined(conditions, separator: " AND ") }
        if !groups.isEmpty { statement = statement + " GROUP BY " + .joined(groups, separator: ", ") }
        if let havingCondition { statement = statement + " HAVING " + havingCondition }
        if !order.text.isEmpty { statement = statement + " ORDER BY " + order }
        if plan.limit > 0 || plan.offset > 0 {
            statement = statement + SQLFragment(" LIMIT ?", [.limit])
            if plan.offset > 0 { statement = statement + SQLFragment(" OFFSET ?", [.offset]) }
            if result == .count { statement = "SELECT COUNT(*) FROM (" + statement + ")" }
        }
        return FetchStatement(
            statement: SQLStatement(statement.text, statement.bindings), shape: shape, columns: columns,
            selectsEntity: selectsEntity, isReusable: scope.names.isReusable)
    }

    /// Tells the entity's rows from others of its table; nil where all rows are wanted.
    static func entityFilter(_ mapping: EntityMapping, _ plan: FetchPlan, alias: String) -> SQLFragment? {
        entityFilter(mapping, includesSubentities: plan.includesSubentities, alias: alias)
    }

    static func entityFilter(
        _ mapping: EntityMapping, includesSubentities: Bool = true, alias: String
    ) -> SQLFragment? {
        guard mapping.sharesTable, mapping.layout.superentity != nil || !includesSubentities else { return nil }
        let numbers = includesSubentities ? mapping.numbers : [mapping.number]
        if numbers.count == 1, let number = numbers.first { return SQLFragment("\(alias).Z_ENT = \(number)") }
        return SQLFragment("\(alias).Z_ENT IN (\(numbers.map(String.init).joined(separator: ", ")))")
    }
}

extension FetchPlan {
    /// What a name to group by stands for: a computed column, or a key path.
    fileprivate func tree(ofColumn name: String) -> ExpressionTree {
        computedColumn(name) ?? .keyPath(name.split(separator: ".").map(String.init))
    }

    private func computedColumn(_ name: String) -> ExpressionTree? {
        for case .expression(name, let expression, _) in columns { return expressionTree(of: expression) }
        return nil
    }

    /// A predicate on groups names a computed column as a variable, `$total > 3`, or as a key.
    fileprivate func resolvingColumns(in having: PredicateTree) -> PredicateTree {
        having.mapExpressions { expression in
            switch expression {
            case .variable(let name): return computedColumn(name) ?? expression
            case .keyPath(let keys) where keys.count == 1 && entity.propertyByName[keys[0]] == nil:
                return computedColumn(keys[0]) ?? expression
            default: return expression
            }
        }
    }
}

extension PredicateSQL {
    /// The columns of a dictionary fetch.
    ///
    /// - Parameter withEntities: whether the numbers of objects' entities follow the values.
    fileprivate func columns(
        _ plan: FetchPlan, withEntities: Bool, in scope: SQLScope
    ) throws -> (SQLFragment, [DictionaryColumn]) {
        var fragments: [SQLFragment] = []
        var columns: [DictionaryColumn] = []
        var wanted = plan.columns
        if wanted.isEmpty {
            wanted = plan.entity.slots.filter { !$0.isTransient }.map { .keyPath($0.name) }
        }
        for column in wanted {
            switch column {
            case .keyPath(let path):
                let keys = path.split(separator: ".").map(String.init)
                let operand = try operand(.keyPath(keys), in: scope)
                fragments.append(operand.fragment)
                columns.append(try dictionaryColumn(path, keys, operand, in: scope))
            case .expression(let name, let expression, let type):
                let tree = expressionTree(of: expression)
                let operand = try operand(tree, in: scope)
                fragments.append(operand.fragment)
                columns.append(
                    DictionaryColumn(
                        name: name, storage: operand.storage,
                        destination: tree == .evaluatedObject ? plan.entity : operand.root, attribute: nil,
                        declaredType: type == .undefinedAttributeType ? nil : type))
            }
        }
        // Behind the values: of which entities the objects are.
        for index in columns.indices where withEntities && columns[index].destination != nil {
            let keys: [String]
            switch wanted[index] {
            case .keyPath(let path): keys = path.split(separator: ".").map(String.init)
            case .expression(_, let expression, _):
                switch expressionTree(of: expression) {
                case .keyPath(let path): keys = path
                case .evaluatedObject: keys = []
                default: continue
                }
            }
            guard let entity = try entityColumn(keys, in: scope) else { continue }
            columns[index].entityIndex = fragments.count
            fragments.append(SQLFragment(entity))
        }
        return (.joined(fragments, separator: ", "), columns)
    }

    /// The column with the entity of the object that keys lead to; nil where it can only be one.
    private func entityColumn(_ keys: [String], in scope: SQLScope) throws -> String? {
        switch try scope.resolve(keys, schema: schema) {
        case .column(let alias, let column): column.entityColumn.map { "\(alias).\(quoted($0))" }
        case .object(let alias, let mapping): mapping.sharesTable ? "\(alias).Z_ENT" : nil
        case .entity, .toMany: nil
        }
    }

    private func dictionaryColumn(
        _ name: String, _ keys: [String], _ operand: SQLOperand, in scope: SQLScope
    ) throws -> DictionaryColumn {
        var attribute: AttributeLayout?
        var entity = scope.mapping.layout
        for key in keys {
            guard let slot = entity.slotIndex(forName: key) else { break }
            attribute = entity.slots[slot].attribute
            if let relationship = entity.slots[slot].relationship { entity = relationship.destination }
        }
        return DictionaryColumn(
            name: name, storage: operand.storage, destination: operand.root == nil ? nil : entity, attribute: attribute,
            declaredType: nil)
    }
}
