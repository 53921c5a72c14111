import CoreDataModel

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
