import CoreDataModel

extension PredicateSQL {
    /// The destination rows of a to-many relationship, for a subquery.
    struct DestinationScope {
        let scope: SQLScope
        /// The condition that connects the destinations with the outer row: `t1.ZBOOK = t0.Z_PK`; with `former`, by way
        /// of its rows.
        var link: SQLFragment
        /// The join table with its alias, before the destinations.
        let joinTable: SQLFragment?
        /// The column with the key of the outer row, and the condition that connects it with the destinations.
        let source: SQLColumn
        let pairing: SQLFragment?
        /// The relationship before it in the same FROM clause.
        var former: [DestinationScope] = []

        /// The tables. To be called last, once all joins are known.
        func from() -> SQLFragment {
            .list(former.map { $0.from() } + [joinTable.map { $0 + scope.from } ?? scope.from])
        }
    }

    /// The rows behind further relationships to many that keys pass, and the keys after these:
    /// `FROM ZAUTHOR t1, ZBOOK t2 WHERE t1.ZSHOP = t0.Z_PK AND t2.ZAUTHOR = t1.Z_PK`.
    func following(_ keys: [String], from start: DestinationScope) throws -> (DestinationScope, rest: [String]) {
        guard !keys.isEmpty, case .toMany(let next)? = try? start.scope.resolve(keys, schema: schema),
            !next.rest.contains(where: { $0.hasPrefix("@") })
        else { return (start, keys) }
        var end = try destinationScope(of: next, in: start.scope)
        end.former = [start]
        end.link = "\(start.link) AND \(end.link)"
        return try following(next.rest, from: end)
    }

    func destinationScope(of toMany: ToManyPath, in scope: SQLScope) throws -> DestinationScope {
        guard let destination = schema.mapping(of: toMany.relationship.destination) else {
            throw SQLError.unsupported(
                "“\(toMany.relationship.name)”, whose entity “\(toMany.relationship.destination.name)” is in another store"
            )
        }
        switch toMany.mapping {
        case .foreignKey(let key):
            let inner = scope.inner(destination)
            let source = inner.column(key.column)
            return DestinationScope(
                scope: inner, link: "\(source) = \(.key, of: toMany.alias)", joinTable: nil, source: source,
                pairing: nil)
        case .joinTable(let join):
            let pairs = scope.nextAlias()
            let inner = scope.inner(destination)
            let on: SQLFragment = "\(SQLColumn(join.destinationColumn, of: pairs)) = \(.key, of: inner.alias)"
            let source = SQLColumn(join.sourceColumn, of: pairs)
            return DestinationScope(
                scope: inner, link: "\(on) AND \(source) = \(.key, of: toMany.alias)",
                joinTable: "\(name: join.table) \(word: pairs), ", source: source, pairing: on)
        }
    }

    /// The rows that a condition inside `EXISTS` is about, and the keys that lead on from there.
    struct ExistenceTarget {
        let scope: SQLScope
        package let keys: [String]
        /// Whether pairs of a join table lead there.
        let isPaired: Bool
    }

    /// `EXISTS (SELECT 1 FROM ZPAGE t1 WHERE t1.ZBOOK = t0.Z_PK AND …)`, nested for each further to-many relationship.
    ///
    /// Where the destinations are found first, SQLite is asked `t0.Z_PK IN (SELECT t1.ZBOOK FROM ZPAGE t1 WHERE …)`:
    /// it reads the rows that an index leads to, rather than looking for destinations of every row.
    ///
    /// - Parameters:
    ///   - toMany: the path up to the relationship.
    ///   - scope: the tables that key paths start at.
    ///   - body: the condition that a destination must satisfy; nil for none.
    /// - Returns: the condition.
    /// - Throws: an `NSError` that names what SQL cannot express, and the errors of `body`.
    func existence(
        of toMany: ToManyPath, in scope: SQLScope, _ body: (ExistenceTarget) throws -> SQLCondition?
    ) throws -> SQLCondition {
        let inner = try destinationScope(of: toMany, in: scope)
        let condition: SQLCondition?
        if !toMany.rest.isEmpty, case .toMany(let next) = try inner.scope.resolve(toMany.rest, schema: schema),
            !next.rest.contains(where: { $0.hasPrefix("@") })
        {
            condition = try existence(of: next, in: inner.scope, body)
        } else {
            condition = try body(
                ExistenceTarget(scope: inner.scope, keys: toMany.rest, isPaired: inner.joinTable != nil))
        }
        guard let condition, condition.findsRows else {
            let all = condition.map { inner.link + " AND " + $0.part } ?? inner.link
            return SQLCondition("EXISTS \(.select("SELECT 1 FROM \(inner.from()) WHERE \(all)"))", canBeNull: false)
        }
        // A destination without a source, and an object that leads nowhere, make the result NULL.
        var result = SQLCondition(
            SQLFragment(
                .existence(
                    SQLExistence(
                        tables: inner.from(), link: inner.link, pairing: inner.pairing, condition: condition.part,
                        key: "\(.key, of: toMany.alias)", source: "\(inner.source)"))))
        result.findsRows = true
        return result
    }

    /// A comparison of what a destination leads to with something that starts at the evaluated object.
    ///
    /// - Parameters:
    ///   - target: the destination.
    ///   - scope: the tables of the evaluated object.
    ///   - comparison: makes the comparison with the expression for the destination.
    /// - Returns: the condition.
    /// - Throws: an `NSError` that names what SQL cannot express.
    func condition(
        of target: ExistenceTarget, in scope: SQLScope, _ comparison: (ExpressionTree) -> ComparisonTree
    ) throws -> SQLCondition {
        // No format string can name this variable, and each destination within another one has its own.
        let variable = "\u{0}" + target.scope.alias
        let former = scope.variables
        defer { scope.variables = former }
        scope.variables[variable] = target.scope
        let comparison = comparison(.keys(target.keys, from: variable))
        var condition = try condition(.comparison(comparison), in: scope)
        condition.findsRows = condition.findsRows || findsRows(comparison, target, in: scope)
        return condition
    }

    /// The to-many relationship that a key path leads to or over, with the tables that the path starts at; nil for any
    /// other expression, and for one that computes something of a relationship.
    func relationship(_ tree: ExpressionTree, in scope: SQLScope) -> (ToManyPath, SQLScope)? {
        let (path, origin): ([String], SQLScope?) =
            switch tree {
            case .keyPath(let keys), .path(from: .evaluatedObject, let keys): (keys, scope)
            case .path(from: .variable(let name), let keys): (keys, scope.variables[name])
            default: ([], nil)
            }
        // A path that cannot be resolved is reported where it is read as a value.
        guard let origin, case .toMany(let toMany)? = try? origin.resolve(path, schema: schema),
            !toMany.rest.contains(where: { $0.hasPrefix("@") })
        else { return nil }
        return (toMany, origin)
    }

    /// `ANY pages.number > 3`, `ALL pages.number > 3`.
    func existence(_ tree: ComparisonTree, in scope: SQLScope) throws -> SQLCondition {
        var plain = tree.findingObject { object($0) != nil }
        plain.modifier = .direct
        if case .listed = tree.left {
            let holds = try existence(ofListed: tree.left, in: scope) { value in
                var inner = plain
                inner.left = value
                let condition = try condition(.comparison(inner), in: scope)
                return tree.modifier == .all ? Self.negated(condition) : condition
            }
            return tree.modifier == .all ? Self.negated(holds) : holds
        }
        let origin: SQLScope
        let path: [String]
        switch tree.left {
        case .keyPath(let keys): (origin, path) = (scope, keys)
        case .path(from: .variable(let name), let keys):
            guard let variable = scope.variables[name] else { throw SQLError.unsupported("the variable $\(name)") }
            (origin, path) = (variable, keys)
        default: throw SQLError.unsupported("ANY or ALL of \(tree.left.sqlDescription)")
        }
        let toMany: ToManyPath
        switch try origin.resolve(path, schema: schema) {
        case .toMany(let found): toMany = found
        case .column(_, let column) where column.storage.isTransformable:
            throw Self.transformableContentError(tree.left)
        // For a single value, ANY and ALL mean the value itself.
        default: return try condition(.comparison(plain), in: scope)
        }
        let holds = try existence(of: toMany, in: origin) { target in
            // The left side starts at a destination, the right side at the evaluated object.
            let condition = try condition(of: target, in: scope) { destination in
                var inner = plain
                inner.left = destination
                return inner
            }
            return tree.modifier == .all ? Self.negated(condition) : condition
        }
        return tree.modifier == .all ? Self.negated(holds) : holds
    }
}

extension ExpressionTree {
    /// A key path from the value of a variable; the variable itself for no keys.
    static func keys(_ keys: [String], from variable: String) -> ExpressionTree {
        keys.isEmpty ? .variable(variable) : .path(from: .variable(variable), keys)
    }
}
