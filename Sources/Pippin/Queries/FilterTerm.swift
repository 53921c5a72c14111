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
