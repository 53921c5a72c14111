import CoreDataModel
import PredicateFormat
import StoreEngine

/// Turns predicates and expressions into SQL. Pure: the same tree always becomes the same text.
///
/// The result agrees with evaluation in memory, including nil: if `a` is nil, `a != 5` holds, `a == 5` and `a < 5` do
/// not, and `NOT` inverts each.
struct PredicateSQL {
    let schema: SQLSchema
    /// The predicate's arguments. Only their kinds affect the text.
    let arguments: [Value]
    /// Whether `max:` and similar functions are computed over the rows of a group, as in the columns of a dictionary
    /// fetch, or over all objects.
    let aggregatesGroups: Bool

    init(schema: SQLSchema, arguments: [Value] = [], aggregatesGroups: Bool = false) {
        self.schema = schema
        self.arguments = arguments
        self.aggregatesGroups = aggregatesGroups
    }

    func condition(_ tree: PredicateTree, in scope: SQLScope) throws -> SQLCondition {
        switch tree {
        case .constant(let isTrue): return isTrue ? .always : .never
        case .comparison(let comparison): return try condition(comparison, in: scope)
        case .and:
            let parts = try gatheringExclusions(tree.conjuncts, in: scope)
            let asked = scope.names.asked
            defer { scope.names.asked = asked }
            scope.names.asked = parts.map { self.asked(beside: $0, in: scope) }.reduce(asked, max)
            return try joined(parts, "AND", empty: .always, in: scope)
        case .or: return try joined(tree.disjuncts, "OR", empty: .never, in: scope)
        // A double negation is removed: SQLite parses only about thirty levels of parentheses.
        case .not(.not(let part)): return try condition(part, in: scope)
        case .not(let part): return Self.negated(try condition(part, in: scope))
        }
    }

    private func joined(
        _ parts: [PredicateTree], _ word: SQLFragment, empty: SQLCondition, in scope: SQLScope
    ) throws -> SQLCondition {
        let conditions = try parts.map { try condition($0, in: scope) }
        guard let first = conditions.first else { return empty }
        if conditions.count == 1 { return first }
        return SQLCondition(
            Self.chain(conditions.map(\.part), word), canBeNull: conditions.contains(where: \.canBeNull),
            isCompound: true)
    }

    /// Parts joined by a word; many of them in groups, since SQLite counts a chain as an expression as deep as it is
    /// long, and allows a depth of 1,000.
    static func chain(_ parts: [SQLFragment], _ word: SQLFragment) -> SQLFragment {
        let longest = 400
        guard parts.count > longest else { return .joined(parts, separator: " \(word) ") }
        let size = max(longest, (parts.count + longest - 1) / longest)
        let groups = stride(from: 0, to: parts.count, by: size).map { start in
            SQLFragment.joined(Array(parts[start..<min(start + size, parts.count)]), separator: " \(word) ")
                .inParentheses
        }
        return .joined(groups, separator: " \(word) ")
    }

    /// Holds if a condition does not: if it is false or NULL.
    static func negated(_ condition: SQLCondition) -> SQLCondition {
        let inner =
            condition.canBeNull
            ? .call(.ifNull, condition.fragment, SQLFragment(.truth(false))) : condition.fragment.inParentheses
        return SQLCondition("NOT \(inner)", canBeNull: false)
    }

    // MARK: Comparisons

    private func condition(_ tree: ComparisonTree, in scope: SQLScope) throws -> SQLCondition {
        try scope.names.length.measuring { try unmeasured(tree, in: scope) }
    }

    private func unmeasured(_ tree: ComparisonTree, in scope: SQLScope) throws -> SQLCondition {
        if let obstacle = tree.operandObstacle(constantOf: constant) { throw SQLError.unfit(obstacle) }
        if tree.modifier != .direct {
            return try existence(tree, in: scope)
        }
        var tree = tree
        // `[n]` says that the texts are normalized, so they are compared as they are.
        if tree.options.contains(.normalized) { tree.options = [] }
        switch tree.comparison {
        case .equalTo, .notEqualTo: return try equality(tree, in: scope)
        case .lessThan: return try order(tree, "<", in: scope)
        case .lessThanOrEqualTo: return try order(tree, "<=", in: scope)
        case .greaterThan: return try order(tree, ">", in: scope)
        case .greaterThanOrEqualTo: return try order(tree, ">=", in: scope)
        case .between: return try between(tree, in: scope)
        case .in: return try membership(tree.left, of: tree.right, options: tree.options, in: scope)
        case .contains: return try contains(tree, in: scope)
        case .beginsWith, .endsWith, .like, .matches: return try stringCondition(tree, in: scope)
        }
    }

    private func equality(_ tree: ComparisonTree, in scope: SQLScope) throws -> SQLCondition {
        let isEqual = tree.comparison == .equalTo
        // A nil on either side becomes IS NULL.
        if isNull(tree.right) { return try nullity(of: tree.left, isNull: isEqual, in: scope) }
        if isNull(tree.left) { return try nullity(of: tree.right, isNull: isEqual, in: scope) }
        if let left = object(tree.left), let right = object(tree.right) {
            // Two objects may have the same key, in two tables or stores.
            scope.names.isReusable = false
            return (left == right) == isEqual ? .always : .never
        }
        let (left, right) = try sides(tree, in: scope)
        if isNotANumber(tree.left) || isNotANumber(tree.right) { return isEqual ? .never : .always }
        let leftVaries = left.canBeNull
        let rightVaries = right.canBeNull
        if left.isNeverEqual(to: right) {
            // Two nils are equal, whatever they are nils of.
            let same = leftVaries && rightVaries ? SQLCondition(Self.areNull(left, right), canBeNull: false) : .never
            return isEqual ? same : Self.negated(same)
        }
        if !tree.options.isEmpty, areTexts(tree.left, left, tree.right, right) {
            var condition = stringFunction(.equalTo, left.fragment, right.fragment, tree.options)
            if leftVaries && rightVaries {
                // Two nils are equal.
                condition = SQLCondition(
                    condition.fragment + " OR " + Self.areNull(left, right), isCompound: true)
            }
            return isEqual ? condition : Self.negated(condition)
        }
        if leftVaries && rightVaries {
            let same = SQLFragment(.same(left.fragment, right.fragment, isNegated: !isEqual))
            return SQLCondition(same, canBeNull: false)
        }
        if isEqual { return comparison("=", tree, left, right) }
        let differs = left.fragment + " <> " + right.fragment
        guard leftVaries || rightVaries else { return SQLCondition(differs, canBeNull: false) }
        let varying = leftVaries ? left.fragment : right.fragment
        // A long operand is not repeated: nested comparisons would double the SQL at each level.
        if varying.size(upTo: 16) > 16 {
            return SQLCondition(SQLFragment(.same(left.fragment, right.fragment, isNegated: true)), canBeNull: false)
        }
        return SQLCondition(differs + " OR " + varying + " IS NULL", canBeNull: false, isCompound: true)
    }

    private func comparison(
        _ sign: SQLFragment, _ tree: ComparisonTree, _ left: SQLOperand, _ right: SQLOperand
    ) -> SQLCondition {
        if isConstant(tree.right) { return left.holding { "\($0) \(sign) \(right.fragment)" } }
        if isConstant(tree.left) { return right.holding { "\(left.fragment) \(sign) \($0)" } }
        return SQLCondition("\(left.fragment) \(sign) \(right.fragment)")
    }

    func nullity(of tree: ExpressionTree, isNull: Bool, in scope: SQLScope) throws -> SQLCondition {
        if let (toMany, origin) = relationship(tree, in: scope) {
            // In Core Data, an empty to-many relationship equals nil.
            let inner = try existence(of: toMany, in: origin) { _ in nil }
            return isNull ? Self.negated(inner) : inner
        }
        let operand = try self.operand(tree, in: scope)
        return SQLCondition(operand.fragment + (isNull ? " IS NULL" : " IS NOT NULL"), canBeNull: false)
    }

    private func order(_ tree: ComparisonTree, _ sign: SQLFragment, in scope: SQLScope) throws -> SQLCondition {
        let (left, right) = try sidesWithContent(tree, in: scope)
        if isNull(tree.left) || isNull(tree.right) || left.isNeverEqual(to: right) { return .never }
        // Constants have no column's order.
        let hasOrder = !isConstant(tree.left) || !isConstant(tree.right)
        if !tree.options.isEmpty || !hasOrder, areTexts(tree.left, left, tree.right, right) {
            return stringFunction(tree.comparison, left.fragment, right.fragment, tree.options)
        }
        return ofSameKind(comparison(sign, tree, left, right), (tree.left, left), (tree.right, right))
    }

    /// A condition on the order of two operands, which is false for values of different kinds.
    private func ofSameKind(
        _ condition: SQLCondition, _ left: (ExpressionTree, SQLOperand), _ right: (ExpressionTree, SQLOperand)
    ) -> SQLCondition {
        guard isMixed(left) || isMixed(right) else { return condition }
        let haveSameKind = SQLFragment.call(.haveSameKind, left.1.fragment, right.1.fragment)
        return SQLCondition(haveSameKind + " AND " + condition.part, isCompound: true)
    }

    /// Whether an operand may have values of several kinds.
    func isMixed(_ side: (tree: ExpressionTree, operand: SQLOperand)) -> Bool {
        side.operand.kind == nil && !side.tree.isGiven
    }

    private func between(_ tree: ComparisonTree, in scope: SQLScope) throws -> SQLCondition {
        let bounds = try elements(of: tree.right)
        guard bounds.count == 2 else {
            throw SQLError.unsupported("BETWEEN and \(bounds.count) values, where it takes two")
        }
        let left = try operand(tree.left, in: scope)
        try Self.checkIsNotTransformable(left, tree.left)
        var (lower, upper) = (
            try operand(bounds[0], comparedWith: left, in: scope), try operand(bounds[1], comparedWith: left, in: scope)
        )
        if left.isNeverEqual(to: lower) || left.isNeverEqual(to: upper) { return .never }
        markMixedNumbers(left, bounds[0], &lower)
        markMixedNumbers(left, bounds[1], &upper)
        if !tree.options.isEmpty || isConstant(tree.left),
            areTexts(tree.left, left, bounds[0], lower) || areTexts(tree.left, left, bounds[1], upper)
        {
            let above = stringFunction(.greaterThanOrEqualTo, left.fragment, lower.fragment, tree.options)
            let below = stringFunction(.lessThanOrEqualTo, left.fragment, upper.fragment, tree.options)
            return SQLCondition(above.fragment + " AND " + below.fragment, isCompound: true)
        }
        let isBetween = left.holding { $0 + " BETWEEN " + lower.fragment + " AND " + upper.fragment }
        let isAbove = ofSameKind(isBetween, (tree.left, left), (bounds[0], lower))
        return ofSameKind(isAbove, (tree.left, left), (bounds[1], upper))
    }

    /// Notes that a database compares a computed number with an operand by another rule than memory.
    func markMixedNumbers(_ operand: SQLOperand, _ tree: ExpressionTree, _ number: inout SQLOperand) {
        guard operand.mixesNumbers(with: number), !isConstant(tree) else { return }
        number.fragment = SQLFragment(.mixingNumbers(number.fragment))
    }

    /// Both sides of a comparison that depends on the content of values, such as their order or parts.
    func sidesWithContent(_ tree: ComparisonTree, in scope: SQLScope) throws -> (SQLOperand, SQLOperand) {
        let (left, right) = try sides(tree, in: scope)
        try Self.checkIsNotTransformable(left, tree.left)
        try Self.checkIsNotTransformable(right, tree.right)
        return (left, right)
    }

    /// A transformable value is an opaque archive to the store, which can only tell whether two of them are equal.
    static func checkIsNotTransformable(_ operand: SQLOperand, _ tree: ExpressionTree) throws {
        if operand.storage?.isTransformable ?? false { throw transformableContentError(tree) }
    }

    /// The error for a condition on the content of a transformable value.
    static func transformableContentError(_ tree: ExpressionTree) -> any Error {
        SQLError.unsupported(
            "a condition on the content of \(tree.sqlDescription), which is transformable and stored as an archive")
    }

    /// Both sides of a comparison; a constant is converted for the column on the other side.
    func sides(_ tree: ComparisonTree, in scope: SQLScope) throws -> (SQLOperand, SQLOperand) {
        var (left, right) = try plainSides(tree, in: scope)
        // Constants are converted; two computed numbers are compared as they are.
        if left.mixesNumbers(with: right), !isConstant(tree.left), !isConstant(tree.right) {
            left.fragment = SQLFragment(.mixingNumbers(left.fragment))
        }
        if isMixed((tree.left, left)) { right = right.withoutAffinity }
        if isMixed((tree.right, right)) { left = left.withoutAffinity }
        return (left, right)
    }

    private func plainSides(_ tree: ComparisonTree, in scope: SQLScope) throws -> (SQLOperand, SQLOperand) {
        if isConstant(tree.left), !isConstant(tree.right) {
            let right = try operand(tree.right, in: scope)
            return (try operand(tree.left, comparedWith: right.asSide(of: tree.comparison), in: scope), right)
        }
        let left = try operand(tree.left, in: scope)
        return (left, try operand(tree.right, comparedWith: left.asSide(of: tree.comparison), in: scope))
    }
}

extension PredicateTree {
    /// The parts of an OR, including those of nested ORs.
    fileprivate var disjuncts: [PredicateTree] {
        if case .or(let parts) = self { parts.flatMap(\.disjuncts) } else { [self] }
    }
}

// SQLite compares each constant of a statement with all others while it compiles it, unless they are in a list: ten
// thousand of `id != 1 AND id != 2 …` took a second, and take milliseconds as `NOT id IN {1, 2, …}`.
extension PredicateSQL {
    /// The parts of an AND, with many exclusions of single values of one property combined into one exclusion of all
    /// these values.
    func gatheringExclusions(_ parts: [PredicateTree], in scope: SQLScope) throws -> [PredicateTree] {
        let fewest = 400
        guard parts.count >= fewest else { return parts }
        var excluded: [[String]: [ExpressionTree]] = [:]
        for part in parts {
            if let (path, value) = exclusion(part) { excluded[path, default: []].append(value) }
        }
        for (path, values) in excluded {
            guard values.count >= fewest, case .column = try scope.resolve(path, schema: schema) else {
                excluded[path] = nil
                continue
            }
        }
        var gathered: [PredicateTree] = []
        for part in parts {
            guard let (path, _) = exclusion(part), let values = excluded[path] else {
                gathered.append(part)
                continue
            }
            // The combined exclusion replaces the first one; the others are contained in it.
            if !values.isEmpty {
                gathered.append(.not(.comparison(ComparisonTree(.keyPath(path), .in, .aggregate(values)))))
            }
            excluded[path] = []
        }
        return gathered
    }

    /// The property and value of `age != 5`.
    private func exclusion(_ part: PredicateTree) -> (path: [String], value: ExpressionTree)? {
        guard case .comparison(let comparison) = part, comparison.comparison == .notEqualTo,
            comparison.modifier == .direct, comparison.options.isEmpty, case .keyPath(let path) = comparison.left,
            let value = constant(comparison.right)
        else { return nil }
        switch value {
        case .null, .collection, .object: return nil
        default: return (path, comparison.right)
        }
    }
}

extension PredicateSQL {
    /// `FETCH(request, context, countOnly)` as one value: `(SELECT COUNT(*) FROM ZBOOK t0)`, or the first result.
    func operand(fetching request: ExpressionTree, countOnly: Bool, in scope: SQLScope) throws -> SQLOperand {
        let request = try fetchRequest(request, in: scope)
        if countOnly {
            let text = try statement(request, result: .count).fragment
            return SQLOperand(fragment: .select(text), storage: .integer, canBeNull: false)
        }
        let found = try statement(request, result: .values, limit: 1)
        return SQLOperand(fragment: .select(found.fragment), storage: found.storage, root: found.root)
    }

    /// `element IN FETCH(request, context, NO)`: `t0.Z_PK IN (SELECT t0.ZBOOK FROM ZREVIEW t0)`.
    func membership(
        _ element: ExpressionTree, ofFetch request: ExpressionTree, in scope: SQLScope
    ) throws -> SQLCondition {
        let found = try statement(fetchRequest(request, in: scope), result: .values)
        let left = try operand(element, in: scope)
        if left.isNeverEqual(to: found) { return .never }
        return SQLCondition(left.fragment + " IN " + .select(found.fragment))
    }

    private func fetchRequest(_ tree: ExpressionTree, in scope: SQLScope) throws -> any FetchDescription {
        guard case .object(let reference)? = constant(tree), let request = reference.object as? any FetchDescription
        else { throw SQLError.unsupported("FETCH of \(tree.sqlDescription), which is not a fetch request") }
        // The request is an object that may change, so the text is generated anew each time.
        scope.names.isReusable = false
        return request
    }

    private func statement(
        _ request: any FetchDescription, result: FetchResult, limit: Int? = nil
    ) throws -> SQLOperand {
        guard let name = request.entityName, let entity = schema.layout.entityByName[name] else {
            throw SQLError.unsupported(
                "FETCH of “\(request.entityName ?? "")”, which is not an entity of the model")
        }
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = request.includesSubentities
        plan.limit = limit ?? request.fetchLimit
        plan.offset = request.fetchOffset
        plan.isDistinct = request.returnsDistinctResults
        plan.columns = [try column(of: request)]
        let fetch = try FetchSQL(schema: schema).statement(
            plan, result: result, predicate: try request.predicate.map { try predicateTree(of: $0.read(for: entity)) },
            sortTerms: try sortTerms(of: request.sortDescriptors ?? []))
        let column = fetch.columns.first
        // The limit and offset are its own, not those of the outer request.
        return SQLOperand(
            fragment: try fetch.sql.bound(limit: plan.limit, offset: plan.offset), storage: column?.storage,
            root: column?.destination?.root)
    }

    /// The one column of the subquery: the property to fetch, or the objects' keys.
    private func column(of request: any FetchDescription) throws -> FetchColumn {
        let wanted = request.resultType == .dictionaryResultType ? request.propertiesToFetch ?? [] : []
        guard let first = wanted.first else {
            return .expression(
                name: "self", NSExpression.expressionForEvaluatedObject(), .objectIDAttributeType)
        }
        guard wanted.count == 1 else {
            throw SQLError.unsupported("FETCH of \(wanted.count) properties, where it takes one")
        }
        switch first {
        case let description as NSExpressionDescription:
            guard let expression = description.expression else {
                throw SQLError.unsupported("the expression description “\(description.name)”, which has no expression")
            }
            return .expression(name: description.name, expression, description.expressionResultType)
        case let description as NSPropertyDescription: return .keyPath(description.name)
        case let name as String: return .keyPath(name)
        default: throw SQLError.unsupported("FETCH of a \(type(of: first)), which is not a property")
        }
    }
}
