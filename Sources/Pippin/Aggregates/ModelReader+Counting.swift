import StoreSession

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
        return try access.asking { try $0.count(of: plan, selection) }
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
        let selection = try access.selection(filter, plan)
        return try access.asking { try $0.has(of: plan, selection) }
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
        return try PersistenceError.explaining(.readFailed) {
            let source = try access.source(finding: id, of: type)
            if let rows = source as? StoreRows, rows.isSetSource,
                let identifier = StoredValue(
                    try Model.recordKey(of: id), of: plan.record.attributeKinds[plan.uidField])
            {
                return try rows.has(identifier, plan)
            }
            return try source.has(of: plan, .key(try Model.keyValue(of: id), named: plan.uidKey))
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
        return try access.asking { try property.distinct(Value.self, selection.predicate, in: $0) }
    }

    /// Computes a value of the models that a filter selects.
    func compute<Model, Value>(_ aggregate: Aggregate<Model, Value>, where filter: Filter<Model>) throws -> Value? {
        let (property, selection) = try prepared(aggregate.property, filter)
        return try access.asking { try property.value(aggregate, selection.predicate, in: $0) }
    }

    /// Computes a value for each value of a property.
    func compute<Model, Value, Group: Hashable & Decodable>(
        _ aggregate: Aggregate<Model, Value>, by group: KeyPath<Model, Group>, where filter: Filter<Model>
    ) throws -> [Group: Value] {
        let (property, selection) = try prepared(aggregate.property, filter)
        let groups = try AggregatedProperty(PropertyName(group), property.plan, access.manager.registry)
        return try access.asking { try property.values(aggregate, by: groups, selection.predicate, in: $0) }
    }

    private func prepared<Model: CoreModel>(
        _ property: PropertyName?, _ filter: Filter<Model>
    ) throws -> (AggregatedProperty, RecordSelection) {
        let plan = try access.plan(of: Model.self)
        let selection = try access.selection(filter, plan)
        return (try AggregatedProperty(property, plan, access.manager.registry), selection)
    }
}
