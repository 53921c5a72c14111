import CoreData

extension Filter where Model: CoreModel {
    /// Whether the filter selects a model in memory, with the same result as in a store.
    ///
    /// ```swift
    /// let cheap: Filter<Book> = \.price < 20
    /// try cheap.matches(emma)
    /// ```
    ///
    /// In memory, a reference only has its identifier, whereas a store knows the model's other properties too.
    ///
    /// - Parameter model: the model.
    /// - Returns: whether the filter selects the model.
    /// - Throws: ``PersistenceError`` for a filter that a store would refuse as well.
    public func matches(_ model: Model) throws -> Bool {
        let registry = try ModelRegistry.known(Model.self)
        let plan = try registry.plan(of: Model.self)
        guard let predicate = try predicate(plan, registry) else { return true }
        return predicate.evaluate(with: try StoredValues(registry).dictionary(of: model, plan))
    }
}

/// Models as dictionaries of their attributes' values, for predicates in memory.
private struct StoredValues {
    private let registry: ModelRegistry

    init(_ registry: ModelRegistry) { self.registry = registry }

    func dictionary(of model: some CoreModel, _ plan: EntityPlan) throws -> NSDictionary {
        let encoded = try RecordEncoder(plan.record).encode(model)
        let values = NSMutableDictionary()
        for (index, field) in plan.fields.enumerated() {
            let value: Any?
            switch field.kind {
            case .attribute(let kind): value = encoded.values[index].attributeValue(kind)
            case .json: value = encoded.values[index].attributeValue(.data)
            case .composite: value = encoded.values[index].composite?.elements
            case .toOne, .toMany: continue
            }
            if let value { values[field.name as NSString] = value }
        }
        for field in plan.fields where field.isToMany { values[field.name as NSString] = NSArray() }
        for link in encoded.links {
            let field = plan.fields[link.field]
            guard let related = field.related else { continue }
            let destination = try registry.plan(related)
            let targets = try link.targets.all.map { try dictionary(ofTarget: $0, destination) }
            if field.isToMany {
                values[field.name as NSString] = NSArray(array: targets)
            } else if let target = targets.first {
                values[field.name as NSString] = target
            }
        }
        return values
    }

    private func dictionary(ofTarget target: Any, _ plan: EntityPlan) throws -> NSDictionary {
        if let reference = target as? any ModelReference {
            return NSDictionary(object: try reference.keyValue(), forKey: plan.uidKey as NSString)
        }
        guard let model = target as? any CoreModel else { return NSDictionary() }
        return try dictionary(of: model, plan)
    }
}

extension ModelRegistry {
    private static let all = Locked<[ObjectIdentifier: ModelRegistry]>([:])

    /// The derived entities of a model and of those within it.
    fileprivate static func known<Model: CoreModel>(_ type: Model.Type) throws -> ModelRegistry {
        if let known = all.withLock({ $0[ObjectIdentifier(type)] }) { return known }
        let registry = try ModelRegistry([type])
        all.withLock { $0[ObjectIdentifier(type)] = registry }
        return registry
    }
}
