import CoreData

/// What must hold of the models that are wanted.
///
/// ```swift
/// manager.fetch(Person.self, where: \.age > 30 && \.address.city == "Bath")
/// manager.fetch(Person.self, where: .contains(\.name, "ann", .caseInsensitive))
/// manager.fetch(Person.self, where: .matching(#Predicate { $0.age > 30 && $0.name.contains("ann") }))
/// manager.fetch(Person.self, where: .format("age > %@ AND name CONTAINS[c] %@", 30, "ann"))
/// ```
///
/// All of these are the same to the store. Filters are combined by `&&`, `||` and `!`, whichever way they were made.
public struct Filter<Model>: @unchecked Sendable {
    // @unchecked Sendable: predicates and the values compared with do not change once they are made.
    let term: FilterTerm

    /// Holds of every model.
    public static var all: Filter { Filter(term: .all) }

    /// What a Swift predicate says.
    ///
    /// - Parameter predicate: comparisons of stored properties, their collections and constants.
    public static func matching(_ predicate: Predicate<Model>) -> Filter {
        // Made at once: it fails for what no store can be asked, and the fetch says so.
        Filter(term: NSPredicate(predicate).map { .predicate($0) } ?? .refused("\(predicate)"))
    }

    /// What a predicate says.
    ///
    /// - Parameter predicate: the predicate, with the properties' names.
    public static func predicate(_ predicate: NSPredicate) -> Filter { Filter(term: .predicate(predicate)) }

    /// What a format string says, in the language of `NSPredicate`.
    ///
    /// - Parameters:
    ///   - format: the format, with the properties' names, and a `%@` for each value.
    ///   - arguments: the values.
    ///
    /// A format that is none is an error of what the filter is used for, which names the place.
    public static func format(_ format: String, _ arguments: Any...) -> Filter {
        #if canImport(ObjectiveC)
            Filter(term: .predicate(NSPredicate(format: format, argumentArray: arguments)))
        #else
            do {
                return Filter(term: .predicate(try NSPredicate(parsing: format, arguments: arguments)))
            } catch { return Filter(term: .failed(error)) }
        #endif
    }

    /// Holds where both do.
    public static func && (left: Filter, right: Filter) -> Filter { Filter(term: .and(left.term, right.term)) }

    /// Holds where one of them does.
    public static func || (left: Filter, right: Filter) -> Filter { Filter(term: .or(left.term, right.term)) }

    /// Holds where the filter does not.
    public static prefix func ! (filter: Filter) -> Filter { Filter(term: .not(filter.term)) }
}

/// A filter without its model's type.
indirect enum FilterTerm {
    case all
    case predicate(NSPredicate)
    /// A property, an operator of the predicate language, and a value; nil compares with no value.
    case comparison(PropertyName, String, Any?)
    case and(FilterTerm, FilterTerm)
    case or(FilterTerm, FilterTerm)
    case not(FilterTerm)
    /// A Swift predicate that the predicate language cannot say.
    case refused(String)
    /// A value that could not be encoded.
    case failed(any Error)
}

extension Filter {
    /// The predicate for the store; nil where everything is wanted.
    ///
    /// - Throws: ``PersistenceError/unknownProperty(_:entity:known:)``
    func predicate(_ plan: EntityPlan, _ registry: ModelRegistry) throws -> NSPredicate? {
        if case .all = term { return nil }
        return try term.predicate(plan, registry)
    }
}

extension FilterTerm {
    func predicate(_ plan: EntityPlan, _ registry: ModelRegistry) throws -> NSPredicate {
        switch self {
        case .all: return NSPredicate(value: true)
        case .predicate(let predicate): return predicate
        case .and(let left, let right):
            return NSCompoundPredicate(andPredicateWithSubpredicates: [
                try left.predicate(plan, registry), try right.predicate(plan, registry),
            ])
        case .or(let left, let right):
            return NSCompoundPredicate(orPredicateWithSubpredicates: [
                try left.predicate(plan, registry), try right.predicate(plan, registry),
            ])
        case .not(let term):
            return NSCompoundPredicate(notPredicateWithSubpredicate: try term.predicate(plan, registry))
        case .comparison(let property, let comparison, let value):
            let path = try registry.storedPath(property, of: plan, toIdentifier: value != nil)
            if let value {
                return NSPredicate(format: "%K \(comparison) %@", argumentArray: [path, value])
            }
            return NSPredicate(format: "%K \(comparison) nil", argumentArray: [path])
        case .refused(let predicate):
            throw PersistenceError.unknownProperty(predicate, entity: plan.name, known: plan.fields.map(\.name))
        case .failed(let error): throw error
        }
    }
}

extension ModelRegistry {
    /// The path of attributes and relationships that a key path reads.
    ///
    /// - Parameter toIdentifier: whether a path that ends at a model goes on to its identifier, to be compared with one.
    /// - Throws: ``PersistenceError/unknownProperty(_:entity:known:)`` for one with a property that is not stored.
    func storedPath(_ property: PropertyName, of plan: EntityPlan, toIdentifier: Bool = false) throws -> String {
        func unknown(_ plan: EntityPlan) -> PersistenceError {
            .unknownProperty(property.spelling, entity: plan.name, known: plan.fields.map(\.name))
        }
        guard let path = property.path else { throw unknown(plan) }
        var current: EntityPlan? = plan
        var names: [String] = []
        for name in path.split(separator: ".").map(String.init) {
            guard let entity = current else {
                // Within a composite attribute.
                names.append(name)
                continue
            }
            // A reference calls it `uid`, whatever the model does.
            let field = entity.field(named: name) ?? (name == "uid" ? entity.fields[entity.uidField] : nil)
            guard let field else { throw unknown(entity) }
            names.append(field.name)
            current = try field.related.map { try self.plan($0) }
        }
        if toIdentifier, let current { names.append(current.uidKey) }
        return names.joined(separator: ".")
    }
}
