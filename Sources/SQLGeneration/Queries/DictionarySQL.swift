import CoreDataModel
import StoreEngine

/// One value of a dictionary fetch, and its position in the result.
package struct DictionaryColumn: Sendable {
    package let name: String
    /// The index of the value's column; -1 for a composite attribute.
    package let index: Int
    package let storage: ColumnStorage?
    /// The destination of a to-one relationship.
    package var destination: EntityLayout?
    /// The index of the column with the number of the destination's actual entity, which may be a subentity.
    package var entityIndex: Int?
    /// The attribute that the value comes from.
    package var attribute: AttributeLayout?
    /// The declared type of a computed value.
    package var declaredType: NSAttributeType?
    /// The elements of a composite attribute.
    package var elements: [DictionaryColumn] = []
}

extension PredicateSQL {
    /// The columns of a dictionary fetch.
    ///
    /// - Parameters:
    ///   - plan: the fetch.
    ///   - ofDictionaries: whether the columns are made into dictionaries: then composite attributes are selected by
    ///     element, and the numbers of the objects' entities follow the values.
    ///   - scope: the rows.
    /// - Returns: the selection, how to read it, and the columns with the entities' numbers, by which a dialect may
    ///   have to group.
    /// - Throws: an `NSError` that names what SQL cannot express.
    func columns(
        _ plan: FetchPlan, ofDictionaries: Bool, in scope: SQLScope
    ) throws -> (selection: SQLFragment, columns: [DictionaryColumn], entities: [SQLFragment]) {
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
                if ofDictionaries, case .composite(let alias, let composite) = try scope.resolve(keys, schema: schema) {
                    let attribute = scope.mapping.layout.attribute(at: keys)
                    columns.append(Self.column(path, composite, attribute, alias: alias, &fragments))
                } else {
                    let operand = try operand(.keyPath(keys), in: scope)
                    columns.append(dictionaryColumn(path, keys, operand, index: fragments.count, in: scope))
                    fragments.append(operand.fragment)
                }
            case .expression(let name, let expression, let type):
                let tree = expressionTree(of: expression)
                let operand = try operand(tree, in: scope)
                columns.append(
                    DictionaryColumn(
                        name: name, index: fragments.count, storage: operand.storage,
                        destination: tree == .evaluatedObject ? plan.entity : operand.root,
                        attribute: attribute(of: tree, operand.storage, in: scope),
                        declaredType: type == .undefinedAttributeType ? nil : type))
                fragments.append(operand.fragment)
            }
        }
        let values = fragments.count
        // The entities of the objects follow the values.
        for index in columns.indices where ofDictionaries && columns[index].destination != nil {
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
            fragments.append(entity)
        }
        return (.list(fragments), columns, Array(fragments[values...]))
    }

    /// The attribute that an expression names, if its column holds something else than its values: archives, or names
    /// of files.
    private func attribute(
        of tree: ExpressionTree, _ storage: ColumnStorage?, in scope: SQLScope
    ) -> AttributeLayout? {
        guard case .keyPath(let keys) = tree else { return nil }
        switch storage {
        case .transformable, .data(allowsExternal: true): return scope.mapping.layout.attribute(at: keys)
        default: return nil
        }
    }

    /// A composite attribute or element, with a column for each value in it.
    private static func column(
        _ name: String, _ column: SlotColumn, _ attribute: AttributeLayout?, alias: String,
        _ fragments: inout [SQLFragment]
    ) -> DictionaryColumn {
        guard column.isComposite else {
            fragments.append("\(SQLColumn(column.name, of: alias))")
            return DictionaryColumn(
                name: name, index: fragments.count - 1, storage: column.storage, attribute: attribute)
        }
        var composite = DictionaryColumn(name: name, index: -1, storage: nil, attribute: attribute)
        for element in column.elements {
            let name = element.property.split(separator: ".").last.map(String.init) ?? ""
            let layout = attribute?.elements.first { $0.name == name }
            composite.elements.append(Self.column(name, element, layout, alias: alias, &fragments))
        }
        return composite
    }

    /// The column with the entity of the object that the keys lead to; nil if only one entity is possible.
    private func entityColumn(_ keys: [String], in scope: SQLScope) throws -> SQLFragment? {
        switch try scope.resolve(keys, schema: schema) {
        case .column(let alias, let column): column.entity(of: alias)
        case .object(let alias, let mapping): mapping.sharesTable ? "\(.entity, of: alias)" : nil
        case .composite, .entity, .toMany: nil
        }
    }

    private func dictionaryColumn(
        _ name: String, _ keys: [String], _ operand: SQLOperand, index: Int, in scope: SQLScope
    ) -> DictionaryColumn {
        var entity = scope.mapping.layout
        for key in keys {
            guard let slot = entity.slotIndex(forName: key) else { break }
            if let relationship = entity.slots[slot].relationship { entity = relationship.destination }
        }
        return DictionaryColumn(
            name: name, index: index, storage: operand.storage, destination: operand.root == nil ? nil : entity,
            attribute: scope.mapping.layout.attribute(at: keys))
    }
}

extension PredicateSQL {
    /// `SUBQUERY(reviews, $r, $r.stars > 3).@count`
    func computed(
        _ path: [String], ofSubqueryOver collection: ExpressionTree, variable: String, _ predicate: PredicateTree,
        in scope: SQLScope
    ) throws -> SQLOperand {
        if collection.isListed {
            guard path == [CollectionOperator.count.rawValue] else {
                throw SQLError.unsupported("a subquery of a list of which another thing than the number is computed")
            }
            return try count(ofListed: collection, where: (variable, predicate), in: scope)
        }
        let keys: [String]
        let base: SQLScope
        switch collection {
        case .keyPath(let path): (keys, base) = (path, scope)
        case .path(from: .variable(let name), let path):
            guard let outer = scope.variables[name] else { throw SQLError.unsupported("the variable $\(name)") }
            (keys, base) = (path, outer)
        default: throw SQLError.unsupported("a subquery of \(collection.sqlDescription)")
        }
        let toMany: ToManyPath
        switch try base.resolve(keys, schema: schema) {
        case .toMany(let found): toMany = found
        case .column(_, let column) where column.destination != nil && path == [CollectionOperator.count.rawValue]:
            // `SUBQUERY(author, $a, $a.name == 'x').@count`: one or zero.
            let former = scope.variables
            defer { scope.variables = former }
            scope.variables[variable] = base
            let holds = try condition(predicate.moving(variable, to: keys), in: scope).fragment
            return SQLOperand(
                fragment: "CASE WHEN " + holds + " THEN 1 ELSE 0 END", storage: .integer, canBeNull: false)
        default:
            throw SQLError.unsupported(
                "a subquery of “\(keys.joined(separator: "."))”, which is not a relationship")
        }
        guard let first = path.first, let computation = CollectionOperator(rawValue: first) else {
            throw SQLError.unsupported("a subquery of which nothing is computed")
        }
        let (inner, rest) = try following(toMany.rest, from: try destinationScope(of: toMany, in: base))
        // `SUBQUERY(reviews.author, $a, $a.name == 'x')`: the reviews whose author satisfies the condition.
        let predicate = rest.isEmpty ? predicate : predicate.moving(variable, to: rest)
        // Inside, keys without a variable still start at the evaluated object.
        let former = scope.variables
        defer { scope.variables = former }
        scope.variables[variable] = inner.scope
        let holds = try condition(predicate, in: scope)
        let values = path.dropFirst().isEmpty ? [] : rest + path.dropFirst()
        return try aggregate(computation, of: inner, keys: values, where: holds)
    }
}

extension PredicateTree {
    /// The same predicate for a variable that stands for another object, from which the keys lead to the former one.
    fileprivate func moving(_ variable: String, to keys: [String]) -> PredicateTree {
        let end = ExpressionTree.path(from: .variable(variable), keys)
        let moved = renamingInner(variable).mapExpressions { expression in
            switch expression {
            case .variable(variable): end
            case .path(from: end, let more): .path(from: .variable(variable), keys + more)
            default: expression
            }
        }
        return .and([moved, .comparison(ComparisonTree(end, .notEqualTo, .constant(.null)))])
    }

    /// The same predicate with another name for the variables of subqueries in it that have this one.
    private func renamingInner(_ variable: String) -> PredicateTree {
        mapExpressions { expression in
            guard case .subquery(let collection, variable, let predicate) = expression else { return expression }
            // No format string can name it.
            let name = "\u{0}" + variable
            return .subquery(
                of: collection, variable: name,
                predicate.mapExpressions { $0 == .variable(variable) ? .variable(name) : $0 })
        }
    }
}

extension PredicateSQL {
    /// The terms of `ORDER BY`; empty for none.
    func order(by terms: [SortTerm], in scope: SQLScope) throws -> SQLFragment {
        .list(try orderTerms(terms, in: scope))
    }

    /// The same, each by itself.
    func orderTerms(_ terms: [SortTerm], in scope: SQLScope) throws -> [SQLFragment] {
        try terms.map { try order(by: $0, in: scope) }
    }

    private func order(by term: SortTerm, in scope: SQLScope) throws -> SQLFragment {
        let tree: ExpressionTree = term.keyPath.isEmpty ? .evaluatedObject : .keyPath(term.keyPath)
        let operand = try operand(tree, in: scope)
        let isText = operand.storage == .string || operand.storage == .url || operand.storage == nil
        return SQLFragment(
            .order(operand.fragment, isText ? term.comparison : .plain, isAscending: term.ascending))
    }
}
