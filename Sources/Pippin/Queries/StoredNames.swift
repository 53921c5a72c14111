import StoreSession

/// Replaces the names in a predicate by those that a store has: a nested struct's property is stored by its coding
/// key, and the identifier that a reference calls `id` may be another property of the model.
///
/// A name that is not a property's is left alone, since formats may use the store's own names.
struct StoredNames {
    let plan: EntityPlan
    let registry: ModelRegistry
    /// What the variables in reach stand for.
    private var variables: [String: Place] = [:]

    /// An expression with stored names, and what it evaluates to.
    typealias Resolved = (expression: ExpressionTree, place: Place?)

    init(_ plan: EntityPlan, _ registry: ModelRegistry) { (self.plan, self.registry) = (plan, registry) }

    /// What an expression evaluates to, as far as its properties are known.
    enum Place {
        case model(EntityPlan)
        /// A list of models, with the name of the mark that tells an empty one from none; nil for one that is not
        /// optional.
        case list(EntityPlan, mark: String?)
        /// A nested value; `isShown` if its own columns tell that it exists.
        case nested(RecordPlan, isShown: Bool)
        /// What is kept as JSON, of the model or of the members of a list; with the kind of its elements if it is a
        /// list of single values.
        case json(name: String, isOfMembers: Bool, listOf: ListedKind?)

        /// A member of a list, or the value itself.
        var member: Place {
            if case .list(let members, _) = self { return .model(members) }
            return self
        }
    }

    /// - Throws: ``PersistenceError/Code/keptAsJSON`` for a predicate that looks into JSON, and
    ///   ``PersistenceError/Code/notComparable`` for one that compares a nested struct as a whole.
    func predicate(_ tree: PredicateTree) throws -> PredicateTree { try tree.mapComparisons(comparison) }

    private func comparison(_ tree: ComparisonTree) throws -> PredicateTree {
        var tree = tree
        var (left, right) = (try resolved(tree.left), try resolved(tree.right))
        if tree.modifier != .direct || tree.comparison == .contains, !Self.mayBeBytes(right),
            let elements = Self.elements(left, ofMembers: true)
        {
            left = (elements, nil)
        }
        if tree.comparison == .in, !Self.mayBeBytes(left), let elements = Self.elements(right, ofMembers: true) {
            right = (elements, nil)
        }
        (tree.left, tree.right) = (left.expression, right.expression)
        return try comparisonWithNil(tree, left, right) ?? .comparison(comparisonOfValues(tree, left, right))
    }

    /// Comparisons with JSON: only its bytes can be compared, or whether there are any.
    private func comparisonOfValues(
        _ tree: ComparisonTree, _ left: Resolved, _ right: Resolved
    ) throws -> ComparisonTree {
        guard case .json(let name, let isOfMembers, _)? = Self.json(left.place) ?? Self.json(right.place) else {
            return tree
        }
        let isEquality = tree.comparison == .equalTo || tree.comparison == .notEqualTo
        guard isEquality, tree.modifier == .direct || isOfMembers, Self.mayBeBytes(left), Self.mayBeBytes(right)
        else {
            throw keptAsJSON(name)
        }
        return tree
    }

    /// The elements of a list of single values, or those of the lists of a list's members; nil for anything else.
    private static func elements(_ side: Resolved, ofMembers: Bool = false) -> ExpressionTree? {
        guard case .json(_, let isOfMembers, let kind?)? = side.place, ofMembers || !isOfMembers else { return nil }
        return .listed(side.expression, kind)
    }

    private static func mayBeBytes(_ side: Resolved) -> Bool {
        if case .json? = side.place { return true }
        guard case .constant(let value) = side.expression else { return false }
        switch value {
        case .null, .data: return true
        default: return false
        }
    }

    /// An expression that is computed with, which JSON cannot be.
    private func operand(_ tree: ExpressionTree) throws -> Resolved {
        let resolved = try resolved(tree)
        if case .json(let name, _, _)? = resolved.place { throw keptAsJSON(name) }
        return resolved
    }

    /// The elements of a list, or the list itself if it has models.
    private func collection(_ tree: ExpressionTree) throws -> Resolved {
        let resolved = try resolved(tree)
        if let elements = Self.elements(resolved) { return (elements, nil) }
        if case .json(let name, _, _)? = resolved.place { throw keptAsJSON(name) }
        return resolved
    }

    private func expression(_ tree: ExpressionTree) throws -> ExpressionTree { try operand(tree).expression }

    private static func json(_ place: Place?) -> Place? {
        if case .json? = place { return place }
        return nil
    }

    private func keptAsJSON(_ name: String, path: String? = nil) -> PersistenceError {
        .keptAsJSON(property: name, path: path ?? name, entity: plan.name)
    }

    /// An expression with stored names, and what it evaluates to.
    private func resolved(_ tree: ExpressionTree) throws -> Resolved {
        switch tree {
        case .evaluatedObject: return (tree, .model(plan))
        case .variable(let name): return (tree, variables[name])
        case .keyPath(let keys):
            return try path(keys, from: .model(plan)) { $0.isEmpty ? .evaluatedObject : .keyPath($0) }
        case .path(let origin, let keys):
            let origin = try resolved(origin)
            return try path(keys, from: origin.place) {
                $0.isEmpty ? origin.expression : .path(from: origin.expression, $0)
            }
        case .element(let collection, let index):
            let collection = try operand(collection)
            guard case .at(let key) = index else {
                return (.element(of: collection.expression, at: index), collection.place?.member)
            }
            return (.element(of: collection.expression, at: .at(try expression(key))), collection.place?.member)
        case .function(.count, let arguments) where arguments.count == 1:
            return (.function(.count, [try collection(arguments[0]).expression]), nil)
        case .subquery(let collection, let variable, let condition):
            let collection = try self.collection(collection)
            var inner = self
            inner.variables[variable] = collection.place?.member
            return (
                .subquery(of: collection.expression, variable: variable, try inner.predicate(condition)),
                collection.place?.member
            )
        case .conditional(let condition, let then, let otherwise):
            let (then, otherwise) = (try resolved(then), try resolved(otherwise))
            return (
                .conditional(try predicate(condition), then: then.expression, otherwise: otherwise.expression),
                then.place ?? otherwise.place
            )
        case .set(let operation, let one, let other):
            let one = try operand(one)
            return (.set(operation, one.expression, try expression(other)), one.place)
        // A request is about objects of its own.
        case .fetch: return (tree, nil)
        default:
            return (try tree.mapParts({ try expression($0) }, predicates: { try predicate($0) }), nil)
        }
    }

    /// The value under keys. Of a list that is kept as JSON, the elements can be counted.
    private func path(
        _ keys: [String], from origin: Place?, _ expression: ([String]) -> ExpressionTree
    ) throws -> Resolved {
        guard let last = keys.last, last == CollectionOperator.count.rawValue else {
            let (names, place) = try names(keys, from: origin)
            return (expression(names), place)
        }
        let (names, place) = try names(keys.dropLast(), from: origin)
        if let elements = Self.elements((expression(names), place)) { return (.function(.count, [elements]), nil) }
        if case .json(let name, _, _)? = place { throw keptAsJSON(name, path: keys.joined(separator: ".")) }
        return (expression(names + [last]), place)
    }

    private func names(_ keys: [String], from origin: Place?) throws -> ([String], Place?) {
        var place = origin
        var isOfMembers = false
        let names = try keys.map { key in
            if case .json(let name, _, _)? = place {
                throw keptAsJSON(name, path: keys.joined(separator: "."))
            }
            // An operator's value is computed from what follows it.
            if key.hasPrefix("@") || key.uppercased() == "SELF" { return key }
            switch place {
            case .model(let entity), .list(let entity, _):
                // A reference always calls its identifier `id`, even if the model has another name for it.
                let field =
                    entity.fields.firstIndex { $0.name == key && $0.mark == nil }
                    ?? (key == "id" ? entity.uidField : nil)
                    ?? entity.fields.firstIndex { $0.name == "_" + key && $0.mark == nil }
                place = try field.flatMap { try self.place(of: $0, in: entity.record, isOfMembers) }
                guard let field else { return key }
                if entity.fields[field].isToMany { isOfMembers = true }
                return entity.fields[field].name
            case .nested(let record, _):
                let field =
                    record.fields.firstIndex { $0.property == key && $0.mark == nil }
                    ?? record.fields.firstIndex { $0.name == key }
                place = try field.flatMap { try self.place(of: $0, in: record, isOfMembers) }
                return field.map { record.fields[$0].name } ?? key
            case .json, nil: return key
            }
        }
        return (names, place)
    }

    private func place(of index: Int, in record: RecordPlan, _ isOfMembers: Bool) throws -> Place? {
        let field = record.fields[index]
        return switch field.kind {
        case .attribute: nil
        case .composite(let record): .nested(record, isShown: field.isShown)
        case .json(let elements):
            .json(
                name: field.property, isOfMembers: isOfMembers, listOf: elements.flatMap { ListedKind($0) })
        case .toOne(let model): .model(try registry.plan(model))
        case .toMany(let model, _) where isOfMembers: .model(try registry.plan(model))
        case .toMany(let model, _):
            .list(try registry.plan(model), mark: record.listMarks[index].map { record.fields[$0].name })
        }
    }
}

// Comparisons with nil of what has no column that could be NULL. They go by the properties, as Swift does, rather
// than by the relationships, where nothing is nil. Filters by key path have the same conditions from
// `StoredComparison`.
extension StoredNames {
    /// What tells that a nested struct or a list of models is nil: none of its parts has a value, or it has neither
    /// members nor the mark of an empty one. Nil for a comparison of anything else.
    ///
    /// - Throws: ``PersistenceError/Code/notComparable`` for another comparison of a nested struct as a whole.
    func comparisonWithNil(_ tree: ComparisonTree, _ left: Resolved, _ right: Resolved) throws -> PredicateTree? {
        let isEquality = tree.comparison == .equalTo || tree.comparison == .notEqualTo
        let side = right.expression == .constant(.null) ? left : right
        let other = right.expression == .constant(.null) ? right : left
        let isWithNil = isEquality && tree.modifier == .direct && other.expression == .constant(.null)
        let isNil: PredicateTree
        switch (left.place, right.place, side.place) {
        case (_, _, .nested(let record, let isShown)?) where isWithNil && side.expression.isPath:
            isNil =
                isShown
                ? .and(record.leaves.map { side.expression.appending(keys: $0).isNil })
                : try isWithoutOwner(tree, side.expression)
        case (.nested?, _, _), (_, .nested?, _):
            throw PersistenceError.nestedValueAsWhole("\(makePredicate(.comparison(tree)))", entity: plan.name)
        case (_, _, .list(_, let mark)?) where isWithNil && side.expression.isPath:
            isNil = side.expression.isNilList(mark: mark)
        default: return nil
        }
        return tree.comparison == .equalTo ? isNil : .not(isNil)
    }

    /// That a nested value is nil which exists where the model, or the nested value, that it is in exists.
    private func isWithoutOwner(_ tree: ComparisonTree, _ path: ExpressionTree) throws -> PredicateTree {
        guard let owner = path.owner else { return .constant(false) }
        var tree = tree
        (tree.left, tree.comparison, tree.right) = (owner, .equalTo, .constant(.null))
        return try predicate(.comparison(tree))
    }
}

extension RecordPlan {
    /// The paths of its attributes.
    fileprivate var leaves: [[String]] {
        fields.flatMap { field in
            guard case .composite(let inner) = field.kind else { return [[field.name]] }
            return inner.leaves.map { [field.name] + $0 }
        }
    }
}

extension ExpressionTree {
    /// Whether it is a key path without an operator.
    fileprivate var isPath: Bool {
        switch self {
        case .keyPath(let keys), .path(_, let keys): !keys.contains { $0.hasPrefix("@") }
        default: false
        }
    }

    fileprivate var isNil: PredicateTree { .comparison(ComparisonTree(self, .equalTo, .constant(.null))) }

    /// What the last key of a path is a property of; nil for the object itself.
    fileprivate var owner: ExpressionTree? {
        switch self {
        case .keyPath(let keys) where keys.count > 1: .keyPath(keys.dropLast())
        case .path(let start, let keys): keys.count > 1 ? .path(from: start, keys.dropLast()) : start
        default: nil
        }
    }

    /// The predicate that the list at a path is nil: it is optional, and has no mark of an empty one, or the model
    /// that has it is missing.
    fileprivate func isNilList(mark: String?) -> PredicateTree {
        let (keys, origin): ([String], ExpressionTree)
        switch self {
        case .keyPath(let path): (keys, origin) = (path.dropLast(), .evaluatedObject)
        case .path(let start, let path): (keys, origin) = (path.dropLast(), start)
        default: return isNil
        }
        let owner = keys.isEmpty ? origin : origin.appending(keys: keys)
        var ways = keys.isEmpty ? [] : [owner.isNil]
        if let mark {
            let count = ComparisonTree(appending(keys: ["@count"]), .equalTo, .constant(.integer(0)))
            ways.append(.and([.comparison(count), owner.appending(keys: [mark]).isNil]))
        }
        return ways.isEmpty ? .constant(false) : ways.count == 1 ? ways[0] : .or(ways)
    }
}
