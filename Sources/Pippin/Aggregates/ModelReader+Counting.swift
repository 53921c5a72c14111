import CoreData

// What the store computes. A block's own changes count.
extension ModelReader {
    /// How many models a filter selects.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    /// - Returns: the number of models.
    /// - Throws: ``PersistenceError`` with `unknownProperty`, `notComparable` or `keptAsJSON` for a filter that the
    ///   store cannot evaluate, `readFailed` if the store cannot be read.
    /// - SQL: `SELECT count(*) FROM Z<ENTITY> WHERE <filter>`
    public func count<Model: CoreModel>(_ type: Model.Type, where filter: Filter<Model> = .all) throws -> Int {
        let plan = try access.plan(of: type)
        let selection = try access.selection(filter, plan)
        return try access.onContext { context in
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.name)
            request.predicate = selection.predicate
            return try context.count(for: request)
        }
    }

    /// How many models there are for each value of a property.
    ///
    /// ```swift
    /// let booksByBinding = try store.count(Book.self, by: \.binding)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - group: the property; models without a value count under `nil` where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the numbers, by value; values that no model has are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <group>, count(<id>) FROM Z<ENTITY> WHERE <filter> GROUP BY <group>`
    public func count<Model: CoreModel, Group: Hashable & Codable>(
        _ type: Model.Type, by group: KeyPath<Model, Group>, where filter: Filter<Model> = .all
    ) throws -> [Group: Int] { try compute(.count, by: group, where: filter) }

    /// Whether there is a model that a filter selects.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    /// - Returns: `true` when there is at least one.
    /// - Throws: ``PersistenceError`` with `unknownProperty`, `notComparable` or `keptAsJSON` for a filter that the
    ///   store cannot evaluate, `readFailed` if the store cannot be read.
    /// - SQL: `SELECT Z_PK FROM Z<ENTITY> WHERE <filter> LIMIT 1`
    public func exists<Model: CoreModel>(_ type: Model.Type, where filter: Filter<Model> = .all) throws -> Bool {
        let plan = try access.plan(of: type)
        return try exists(plan, try access.selection(filter, plan))
    }

    /// Whether there is a model with an identifier.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - id: the identifier.
    /// - Returns: `true` when there is one.
    /// - Throws: ``PersistenceError`` with `readFailed` if the store cannot be read.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE Z<ID> = ?`
    public func exists<Model: CoreModel>(_ type: Model.Type, id: Model.ID) throws -> Bool {
        let plan = try access.plan(of: type)
        let found = try PersistenceError.explaining(.readFailed) { () -> Bool? in
            guard let rows = try access.source(finding: id, of: type) as? StoreRows, rows.isSetSource,
                let identifier = StoredValue(
                    try Model.recordKey(of: id), of: plan.record.attributeKinds[plan.uidField])
            else { return nil }
            return try rows.has(identifier, plan)
        }
        if let found { return found }
        return try exists(plan, .key(try Model.keyValue(of: id), named: plan.uidKey))
    }

    private func exists(_ plan: EntityPlan, _ selection: RecordSelection) throws -> Bool {
        try access.onContext { context in
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.name)
            request.predicate = selection.predicate
            request.fetchLimit = 1
            request.resultType = .managedObjectIDResultType
            return try !context.fetch(request).isEmpty
        }
    }

    /// The distinct values of a property, in order.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property; `nil` is one of the values where it is optional and a model has none.
    ///   - filter: what must hold.
    /// - Returns: the values, ascending.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT DISTINCT <property> FROM Z<ENTITY> WHERE <filter> ORDER BY <property>`
    public func distinct<Model: CoreModel, Value: Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all
    ) throws -> [Value] {
        let (property, selection) = try prepared(PropertyName(property), filter)
        return try access.onContext { try property.distinct(Value.self, selection.predicate, in: $0) }
    }

    /// Computes a value of the models that a filter selects.
    func compute<Model, Value>(_ aggregate: Aggregate<Model, Value>, where filter: Filter<Model>) throws -> Value? {
        let (property, selection) = try prepared(aggregate.property, filter)
        return try access.onContext { try property.value(aggregate, selection.predicate, in: $0) }
    }

    /// Computes a value for each value of a property.
    func compute<Model, Value, Group: Hashable & Decodable>(
        _ aggregate: Aggregate<Model, Value>, by group: KeyPath<Model, Group>, where filter: Filter<Model>
    ) throws -> [Group: Value] {
        let (property, selection) = try prepared(aggregate.property, filter)
        let groups = try AggregatedProperty(PropertyName(group), property.plan, access.manager.registry)
        return try access.onContext { try property.values(aggregate, by: groups, selection.predicate, in: $0) }
    }

    private func prepared<Model: CoreModel>(
        _ property: PropertyName?, _ filter: Filter<Model>
    ) throws -> (AggregatedProperty, RecordSelection) {
        let plan = try access.plan(of: Model.self)
        let selection = try access.selection(filter, plan)
        return (try AggregatedProperty(property, plan, access.manager.registry), selection)
    }
}
