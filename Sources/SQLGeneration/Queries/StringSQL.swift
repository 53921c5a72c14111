import CoreDataModel

extension PredicateSQL {
    /// `BEGINSWITH`, `ENDSWITH`, `LIKE` and `MATCHES`.
    func stringCondition(_ tree: ComparisonTree, in scope: SQLScope) throws -> SQLCondition {
        let (left, right) = try openSides(tree, in: scope)
        if isNull(tree.left) || isNull(tree.right) { return .never }
        let isExact = tree.options.isEmpty || tree.options.contains(.normalized)
        if tree.comparison == .beginsWith, isExact, left.storage == .string, let prefix = bindingSource(tree.right) {
            // A range condition can use an index of the column.
            return SQLCondition(
                left.fragment + " >= " + prefix(.prefixStart) + " AND " + left.fragment + " < " + prefix(.prefixEnd),
                isCompound: true)
        }
        return stringFunction(tree.comparison, left.fragment, right.fragment, tree.options)
    }

    /// A closure that makes a fragment of a constant text under a conversion; nil for anything else.
    private func bindingSource(_ tree: ExpressionTree) -> ((BindingConversion) -> SQLFragment)? {
        switch tree {
        case .constant(let value):
            guard case .string = value else { return nil }
            return { conversion in
                .parameter(.constant(value, conversion))
            }
        case .argument(let index):
            guard case .string? = constant(tree) else { return nil }
            return { conversion in .parameter(.argument(index, conversion)) }
        default: return nil
        }
    }

    /// The comparison in SQL that evaluation in memory makes: `NSCoreDataStringSearch(t0.ZNAME, ?, 8, 3)` in SQLite,
    /// with the raw values of the operator and its options.
    func stringFunction(
        _ comparison: ComparisonOperator, _ left: SQLFragment, _ right: SQLFragment, _ options: StringOptions
    ) -> SQLCondition {
        SQLCondition(SQLFragment(.stringSearch(left, right, comparison, options)))
    }

    /// `left CONTAINS right`: an object in a to-many relationship, an element in a collection, or a text in a text.
    func contains(_ tree: ComparisonTree, in scope: SQLScope) throws -> SQLCondition {
        if let condition = try objectMembership(tree.right, in: tree.left, scope) { return condition }
        if case .collection? = constant(tree.left) {
            return try membership(tree.right, of: tree.left, options: tree.options, in: scope)
        }
        let (left, right) = try openSides(tree, in: scope)
        if isNull(tree.left) || isNull(tree.right) { return .never }
        return stringFunction(.contains, left.fragment, right.fragment, tree.options)
    }

    /// `element IN collection`.
    func membership(
        _ element: ExpressionTree, of collection: ExpressionTree, options: StringOptions, in scope: SQLScope
    ) throws -> SQLCondition {
        if let condition = try objectMembership(element, in: collection, scope) { return condition }
        if case .fetch(let request, _, false) = collection {
            return try membership(element, ofFetch: request, in: scope)
        }
        if isNull(collection) {
            _ = try operand(element, in: scope)
            return .never
        }
        if try isText(collection, in: scope) {
            let left = try operand(element, in: scope)
            let right = try operand(collection, comparedWith: left, in: scope)
            return stringFunction(.contains, right.fragment, left.fragment, options)
        }
        let left = try operand(element, in: scope)
        if case .keyPath = collection { try Self.checkIsOpen(try operand(collection, in: scope), collection) }
        let all = try elements(of: collection)
        let present = all.indices.filter { !isNull(all[$0]) }
        let hasNull = present.count < all.count
        if let object = object(element), present.allSatisfy({ self.object(all[$0]) != nil }) {
            scope.names.isReusable = false
            return present.contains { self.object(all[$0]) == object } ? .always : .never
        }
        if !options.isEmpty, left.storage == .string {
            var parts = try present.map { position in
                let right = try operand(all[position], comparedWith: left, in: scope)
                return stringFunction(.equalTo, left.fragment, right.fragment, options).fragment
            }
            if hasNull { parts.append(left.fragment + " IS NULL") }
            guard !parts.isEmpty else { return .never }
            return SQLCondition(Self.chain(parts, "OR"), isCompound: true)
        }
        let list = try present.map { try operand(all[$0], comparedWith: left, in: scope).fragment }
        if list.isEmpty {
            return hasNull ? SQLCondition(left.fragment + " IS NULL", canBeNull: false) : .never
        }
        let condition = SQLFragment(.among(left.fragment, list))
        guard hasNull else { return SQLCondition(condition) }
        return SQLCondition(condition + " OR " + left.fragment + " IS NULL", isCompound: true)
    }

    /// Whether an expression is a text, which can be searched for a part.
    private func isText(_ tree: ExpressionTree, in scope: SQLScope) throws -> Bool {
        if isString(tree) { return true }
        switch tree {
        case .keyPath, .path, .function, .conditional, .cast: return try operand(tree, in: scope).storage == .string
        default: return false
        }
    }

    /// `object IN relationship`: whether an object is among the destinations of a to-many relationship; nil if the
    /// collection is no such relationship.
    private func objectMembership(
        _ element: ExpressionTree, in collection: ExpressionTree, _ scope: SQLScope
    ) throws -> SQLCondition? {
        guard case .keyPath(let path) = collection, case .toMany(let toMany) = try scope.resolve(path, schema: schema)
        else { return nil }
        return try existence(of: toMany, in: scope) { target in
            let comparison = ComparisonTree(.keyPath(target.keys), .equalTo, element)
            return try condition(.comparison(comparison), in: target.scope)
        }
    }
}
