import StoreSession

/// The model to which the properties of a filter belong: the model that is selected, or a member of one of its lists.
struct FilterScope {
    let plan: EntityPlan
    let registry: ModelRegistry
    /// The variable for a member of a list; `nil` for the model that is selected.
    var variable: String?
    private var depth = 0

    init(plan: EntityPlan, registry: ModelRegistry) {
        self.plan = plan
        self.registry = registry
    }

    /// The scope of a list's models.
    private func within(_ plan: EntityPlan) -> FilterScope {
        var scope = FilterScope(plan: plan, registry: registry)
        scope.depth = depth + 1
        scope.variable = "each\(depth + 1)"
        return scope
    }

    /// The value at a path.
    func expression(_ path: String) -> NSExpression {
        guard let variable else { return NSExpression(forKeyPath: path) }
        return .path(path, from: NSExpression(forVariable: variable))
    }

    func compare(
        _ path: String, _ type: NSComparisonPredicate.Operator, _ value: Any?,
        options: NSComparisonPredicate.Options = []
    ) -> NSPredicate {
        NSComparisonPredicate(
            leftExpression: expression(path), rightExpression: NSExpression(forConstantValue: value), modifier: .direct,
            type: type, options: options)
    }

    /// The predicate for a condition on how many members of a list another filter selects.
    func predicate(_ property: PropertyName, _ term: FilterTerm, _ condition: MemberCondition) throws -> NSPredicate {
        let found = try registry.resolve(property, of: plan)
        if case .all = term, condition != .any, condition != .all, let field = found.field, case .json = field.kind {
            let elements = try elements(of: property, found, field)
            return condition.predicate(on: NSExpression(forFunction: "count:", arguments: [elements]))
        }
        guard case .toMany? = found.field?.kind, let members = found.model else {
            throw PersistenceError.notComparable(
                property: property.spelling, entity: plan.name, type: "list of models")
        }
        let selected = condition == .all ? term.negated : term
        let count: NSExpression
        if case .all = selected {
            count = expression(found.path + ".@count")
        } else {
            let inner = within(members)
            let subquery = NSExpression(
                forSubquery: expression(found.path), usingIteratorVariable: inner.variable ?? "",
                predicate: try selected.predicate(inner))
            count = .path("@count", from: subquery)
        }
        return condition.predicate(on: count)
    }

    /// The elements of a list of single values, which is kept as JSON.
    ///
    /// - Throws: ``PersistenceError/Code/keptAsJSON`` for any other JSON.
    func elements(
        of property: PropertyName, _ found: ModelRegistry.StoredPath, _ field: FieldPlan
    ) throws -> NSExpression {
        if case .json(let kind?) = field.kind, let kind = ListedKind(kind) {
            return makeExpression(.listed(expressionTree(of: expression(found.path)), kind))
        }
        throw PersistenceError.keptAsJSON(property: found.path, path: property.spelling, entity: plan.name)
    }
}

extension MemberCondition {
    /// The condition on the number of the selected members.
    fileprivate func predicate(on count: NSExpression) -> NSPredicate {
        func number(_ type: NSComparisonPredicate.Operator, _ number: Int) -> NSPredicate {
            NSComparisonPredicate(
                leftExpression: count, rightExpression: NSExpression(forConstantValue: number), modifier: .direct,
                type: type, options: [])
        }
        switch self {
        case .any: return number(.greaterThan, 0)
        case .none, .all: return number(.equalTo, 0)
        case .count(let least, nil): return number(.greaterThanOrEqualTo, least)
        case .count(let least, let most?) where least == most: return number(.equalTo, least)
        case .count(let least, let most?):
            return NSCompoundPredicate(andPredicateWithSubpredicates: [
                number(.greaterThanOrEqualTo, least), number(.lessThanOrEqualTo, most),
            ])
        }
    }
}

extension NSExpression {
    /// The value at a path that begins at another expression.
    fileprivate static func path(_ path: String, from origin: NSExpression) -> NSExpression {
        makeExpression(.path(from: expressionTree(of: origin), path.split(separator: ".").map(String.init)))
    }
}

extension Filter: CustomStringConvertible {
    /// The filter in the predicate language.
    public var description: String { term.text }
}

extension FilterTerm {
    fileprivate var text: String {
        switch self {
        case .all: "TRUEPREDICATE"
        case .predicate(let predicate): "\(predicate)"
        case .comparison(let property, let comparison, let value):
            "\(property.shown) \(comparison.symbol) \(Self.text(of: value))"
        case .list(let property, let values):
            "\(property.shown) IN {\(values.map(Self.text).joined(separator: ", "))}"
        case .members(let property, let term, let condition): condition.text(property.shown, term)
        case .and(let parts): parts.terms.map(\.inner).joined(separator: " AND ")
        case .or(let parts): parts.terms.map(\.inner).joined(separator: " OR ")
        case .not(let term): "NOT \(term.inner)"
        case .failed(let error): "(\(error.localizedDescription))"
        }
    }

    /// The text as a part of a larger one.
    private var inner: String {
        switch self {
        case .and, .or, .predicate: "(\(text))"
        default: text
        }
    }

    private static func text(of value: any Encodable) -> String {
        if let optional = value as? any OptionalValue {
            return optional.wrappedValue.map { text(of: $0) } ?? "nil"
        }
        if let model = value as? any CoreModel { return text(of: model.id) }
        // A single value of another type as the store compares it, such as an enumeration's raw value.
        guard !(value is any Numeric), !(value is Bool), let stored = try? AttributeEncoder.comparable(value) else {
            return "\(value)"
        }
        return NSExpression(forConstantValue: stored).description
    }
}

extension MemberCondition {
    fileprivate func text(_ list: String, _ term: FilterTerm) -> String {
        let members = if case .all = term { list } else { "\(list)[\(Filter<Void>(term: term))]" }
        switch self {
        case .any: return "ANY \(members)"
        case .none: return "NONE \(members)"
        case .all: return "ALL \(members)"
        case .count(let least, let most):
            guard let most else { return "\(members).@count >= \(least)" }
            return least == most ? "\(members).@count == \(least)" : "\(members).@count BETWEEN {\(least), \(most)}"
        }
    }
}

extension PropertyName {
    /// The path as the predicate language has it: keywords are marked, as in `#any == 3`.
    fileprivate var shown: String {
        path.map { NSExpression(forKeyPath: $0).description } ?? spelling
    }
}
