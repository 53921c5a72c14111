import StoreSession

/// A filter without its model's type.
indirect enum FilterTerm {
    case all
    case predicate(NSPredicate)
    /// A property, a comparison, and a value.
    case comparison(PropertyName, FilterComparison, any Encodable)
    /// A property, and a list of values.
    case list(PropertyName, [any Encodable])
    /// A number of members of a list that another filter selects.
    case members(PropertyName, FilterTerm, MemberCondition)
    /// Conditions that all hold.
    case and(TermTree)
    /// Conditions of which at least one holds.
    case or(TermTree)
    case not(FilterTerm)
    /// A filter that no store can evaluate: a malformed format, or a Swift predicate that the language cannot express.
    case failed(any Error)

    /// The term for a filter that the language has no predicate for, with the reason.
    static func malformed(_ error: any Error) -> FilterTerm {
        .failed(error as? PersistenceError ?? PersistenceError(.malformedFilter, underlying: error, "\(error)"))
    }
}

extension Filter {
    /// The predicate for the store; nil if every model is selected.
    ///
    /// - Throws: ``PersistenceError/Code/unknownProperty``
    func predicate(_ plan: EntityPlan, _ registry: ModelRegistry) throws -> NSPredicate? {
        if case .all = term { return nil }
        return try term.predicate(plan, registry)
    }
}

extension FilterTerm {
    func predicate(_ plan: EntityPlan, _ registry: ModelRegistry) throws -> NSPredicate {
        try predicate(FilterScope(plan: plan, registry: registry))
    }

    func predicate(_ scope: FilterScope) throws -> NSPredicate {
        switch self {
        case .all: return NSPredicate(value: true)
        case .predicate(let predicate): return try predicate.inStoredTerms(scope)
        case .and(let parts):
            return NSCompoundPredicate(andPredicateWithSubpredicates: try parts.terms.map { try $0.predicate(scope) })
        case .or(let parts):
            return NSCompoundPredicate(orPredicateWithSubpredicates: try parts.terms.map { try $0.predicate(scope) })
        case .not(let term):
            return NSCompoundPredicate(notPredicateWithSubpredicate: try term.predicate(scope))
        case .comparison(let property, let comparison, let value):
            return try StoredComparison(property, scope).predicate(comparison, value)
        case .list(let property, let values):
            return try StoredComparison(property, scope).predicate(isAmong: values)
        case .members(let property, let term, let condition):
            return try scope.predicate(property, term, condition)
        case .failed(let error): throw error
        }
    }
}

extension ModelRegistry {
    /// A key path, resolved to the store's names.
    struct StoredPath {
        /// The names of attributes and relationships.
        var names: [String] = []
        /// The field at the end.
        var field: FieldPlan?
        /// The model at the end, if the path ends at a model.
        var model: EntityPlan?

        var path: String { names.joined(separator: ".") }
    }

    /// A key path, resolved to the store's names.
    ///
    /// - Throws: ``PersistenceError/Code/unknownProperty`` for a path with a property that is not stored.
    func resolve(_ property: PropertyName, of plan: EntityPlan) throws -> StoredPath {
        func unknown(_ entity: String, _ known: [String], hint: String = "") -> PersistenceError {
            .unknownProperty(property.spelling, entity: entity, known: known, hint: hint)
        }
        guard let path = property.path else {
            let identifier = plan.computesIdentifier ? " For the identifier, write \\.\(plan.uidKey)." : ""
            throw unknown(plan.name, plan.propertyNames, hint: identifier)
        }
        var result = StoredPath(model: plan)
        for name in path.split(separator: ".").map(String.init) {
            if let entity = result.model {
                // A reference always calls its identifier `id`, even if the model has another name for it.
                let field = entity.field(named: name) ?? (name == "id" ? entity.fields[entity.uidField] : nil)
                guard let field, field.mark == nil else { throw unknown(entity.name, entity.propertyNames) }
                result.field = field
                result.model = try field.related.map { try self.plan($0) }
            } else if case .composite(let record)? = result.field?.kind {
                let field = record.fields.first { $0.property == name && $0.mark == nil }
                guard let field else {
                    throw unknown("\(plan.name).\(result.path)", record.propertyNames)
                }
                result.field = field
            } else if case .json? = result.field?.kind {
                throw PersistenceError.keptAsJSON(
                    property: result.path, path: property.spelling, entity: plan.name)
            } else {
                throw unknown(plan.name, plan.propertyNames)
            }
            result.names.append(result.field?.name ?? name)
        }
        return result
    }
}

// Combines filters: conditions side by side stay in one level, and a filter that nests too deep to be read is refused.
extension FilterTerm {
    /// The most levels that predicates may nest, few enough for the stack of any thread.
    private static let maximumDepth = 500

    /// The number of levels that the term nests.
    var depth: Int {
        switch self {
        case .and(let parts), .or(let parts): parts.depth + 1
        case .not(let term), .members(_, let term, _): term.depth + 1
        case .all, .predicate, .comparison, .list, .failed: 1
        }
    }

    func and(_ other: FilterTerm) -> FilterTerm {
        FilterTerm.and(TermTree(joining: conjunction, other.conjunction)).checked
    }

    func or(_ other: FilterTerm) -> FilterTerm {
        FilterTerm.or(TermTree(joining: disjunction, other.disjunction)).checked
    }

    var negated: FilterTerm {
        if case .not(let term) = self { return term }
        return FilterTerm.not(self).checked
    }

    private var conjunction: TermTree {
        if case .and(let parts) = self { return parts }
        return .leaf(self)
    }

    private var disjunction: TermTree {
        if case .or(let parts) = self { return parts }
        return .leaf(self)
    }

    private var checked: FilterTerm { depth > Self.maximumDepth ? .failed(PersistenceError.deepFilter) : self }
}

extension PersistenceError {
    fileprivate static let deepFilter = PersistenceError(
        .malformedFilter,
        "The filter nests more than 500 levels deep. Make a simpler one; conditions side by side may be many.")
}

/// Terms side by side, in a balanced tree. A filter that is built in a loop then neither nests as deep as it is long,
/// nor copies all of itself in each step.
indirect enum TermTree {
    case leaf(FilterTerm)
    case pair(TermTree, TermTree, height: Int, depth: Int)

    private init(_ left: TermTree, _ right: TermTree) {
        self = .pair(
            left, right, height: max(left.height, right.height) + 1, depth: max(left.depth, right.depth))
    }

    /// The terms of both, in their order.
    init(joining left: TermTree, _ right: TermTree) {
        if case .pair(let first, let second, let height, _) = left, height > right.height + 1 {
            self = Self.balanced(first, TermTree(joining: second, right))
        } else if case .pair(let first, let second, let height, _) = right, height > left.height + 1 {
            self = Self.balanced(TermTree(joining: left, first), second)
        } else {
            self = TermTree(left, right)
        }
    }

    /// The levels that the terms nest, whatever their number.
    var depth: Int {
        switch self {
        case .leaf(let term): term.depth
        case .pair(_, _, _, let depth): depth
        }
    }

    /// The terms, in their order.
    var terms: [FilterTerm] {
        var terms: [FilterTerm] = []
        append(to: &terms)
        return terms
    }

    private func append(to terms: inout [FilterTerm]) {
        switch self {
        case .leaf(let term): terms.append(term)
        case .pair(let left, let right, _, _):
            left.append(to: &terms)
            right.append(to: &terms)
        }
    }

    private var height: Int {
        if case .pair(_, _, let height, _) = self { return height }
        return 0
    }

    /// Balances two trees of which one may have become higher than the other by two.
    private static func balanced(_ left: TermTree, _ right: TermTree) -> TermTree {
        if case .pair(let near, let far, let height, _) = right, height > left.height + 1 {
            if case .pair(let first, let second, let inner, _) = near, inner > far.height {
                return TermTree(TermTree(left, first), TermTree(second, far))
            }
            return TermTree(TermTree(left, near), far)
        }
        if case .pair(let far, let near, let height, _) = left, height > right.height + 1 {
            if case .pair(let first, let second, let inner, _) = near, inner > far.height {
                return TermTree(TermTree(far, first), TermTree(second, right))
            }
            return TermTree(far, TermTree(near, right))
        }
        return TermTree(left, right)
    }
}

/// How a property is compared with a value.
enum FilterComparison: Equatable {
    case equal, notEqual, less, atMost, more, atLeast
    /// Texts, with what is ignored in them.
    case text(TextComparison, StringMatching)
    /// A list that is kept as JSON, with one of its elements.
    case element

    /// Whether it depends on the order of values.
    var isOfOrder: Bool {
        switch self {
        case .less, .atMost, .more, .atLeast: true
        case .equal, .notEqual, .text, .element: false
        }
    }

    var type: NSComparisonPredicate.Operator {
        switch self {
        case .equal: .equalTo
        case .notEqual: .notEqualTo
        case .less: .lessThan
        case .atMost: .lessThanOrEqualTo
        case .more: .greaterThan
        case .atLeast: .greaterThanOrEqualTo
        case .text(let comparison, _): comparison.type
        case .element: .contains
        }
    }

    var options: NSComparisonPredicate.Options {
        guard case .text(_, let matching) = self else { return [] }
        var options: NSComparisonPredicate.Options = []
        if matching.contains(.caseInsensitive) { options.insert(.caseInsensitive) }
        if matching.contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
        return options
    }

    /// The operator in the predicate language.
    var symbol: String {
        switch self {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .atMost: "<="
        case .more: ">"
        case .atLeast: ">="
        case .text(let comparison, let matching): comparison.rawValue + matching.suffix
        case .element: "CONTAINS"
        }
    }
}

/// How texts are compared.
enum TextComparison: String {
    case contains = "CONTAINS"
    case begins = "BEGINSWITH"
    case ends = "ENDSWITH"
    case equals = "=="
    case like = "LIKE"
    case matches = "MATCHES"

    var type: NSComparisonPredicate.Operator {
        switch self {
        case .contains: .contains
        case .begins: .beginsWith
        case .ends: .endsWith
        case .equals: .equalTo
        case .like: .like
        case .matches: .matches
        }
    }
}

/// How many members of a list must be selected.
enum MemberCondition: Equatable {
    /// Some, none, or all that there are.
    case any, none, all
    /// A number in a range; without an upper bound, at least that many.
    case count(from: Int, through: Int?)
}
