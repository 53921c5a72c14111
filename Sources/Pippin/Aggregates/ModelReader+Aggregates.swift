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
        #if !canImport(ObjectiveC)
            let found = try PersistenceError.explaining(.readFailed) { () -> Bool? in
                guard let rows = try access.source(finding: id, of: type) as? StoreRows, rows.isSetSource,
                    let identifier = StoredValue(try Model.recordKey(of: id))
                else { return nil }
                return try rows.has(identifier, plan)
            }
            if let found { return found }
        #endif
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

    /// The sum of a property. That of whole numbers is an `Int`, whatever their type.
    ///
    /// ```swift
    /// let worth = try store.sum(Book.self, \.price, where: \.author?.name == "Jane Austen")
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the sum; `nil` where no model has a value.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func sum<Model: CoreModel, Value: Numeric & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all
    ) throws -> Value? { try aggregate(.sum, property, filter) }

    /// The sum of an optional property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the sum; `nil` where no model has a value.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func sum<Model: CoreModel, Value: Numeric & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?>, where filter: Filter<Model> = .all
    ) throws -> Value? { try aggregate(.sum, property, filter) }

    /// The smallest value of a property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the smallest value; `nil` if no model has one.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT min(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func min<Model: CoreModel, Value: Comparable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all
    ) throws -> Value? { try extreme(.minimum, property, filter) { $0.min() } }

    /// The smallest value of an optional property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the smallest value; `nil` if no model has one.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT min(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func min<Model: CoreModel, Value: Comparable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?>, where filter: Filter<Model> = .all
    ) throws -> Value? { try extreme(.minimum, property, filter) { $0.min() } }

    /// The greatest value of a property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the greatest value; `nil` where no model has one.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT max(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func max<Model: CoreModel, Value: Comparable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all
    ) throws -> Value? { try extreme(.maximum, property, filter) { $0.max() } }

    /// The greatest value of an optional property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the greatest value; `nil` where no model has one.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT max(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func max<Model: CoreModel, Value: Comparable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?>, where filter: Filter<Model> = .all
    ) throws -> Value? { try extreme(.maximum, property, filter) { $0.max() } }

    /// The average of a property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: a property with numbers.
    ///   - filter: what must hold.
    /// - Returns: the average; `nil` where no model has a value.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT avg(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func average<Model: CoreModel, Value: Numeric & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all
    ) throws -> Double? { try aggregate(.average, property, filter) }

    /// The average of an optional property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: a property with numbers.
    ///   - filter: what must hold.
    /// - Returns: the average; `nil` where no model has a value.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT avg(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func average<Model: CoreModel, Value: Numeric & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?>, where filter: Filter<Model> = .all
    ) throws -> Double? { try aggregate(.average, property, filter) }

    /// The distinct values of a property, in order.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property; `nil` is one of the values where it is optional and a model has none.
    ///   - filter: what must hold.
    /// - Returns: the values, ascending.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT DISTINCT <property> FROM Z<ENTITY> WHERE <filter> ORDER BY <property>`
    public func distinct<Model: CoreModel, Value: Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all
    ) throws -> [Value] {
        let (aggregate, selection) = try prepared(property, filter)
        return try access.onContext { try aggregate.distinct(Value.self, selection.predicate, in: $0) }
    }

    /// How many models there are for each value of a property.
    ///
    /// ```swift
    /// let booksByBinding = try store.counts(Book.self, by: \.binding)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property; models without a value count under `nil` where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the numbers, by value; values that no model has are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <property>, count(<id>) FROM Z<ENTITY> WHERE <filter> GROUP BY <property>`
    public func counts<Model: CoreModel, Value: Hashable & Codable>(
        _ type: Model.Type, by property: KeyPath<Model, Value>, where filter: Filter<Model> = .all
    ) throws -> [Value: Int] {
        let (aggregate, selection) = try prepared(property, filter)
        return try access.onContext { try aggregate.counts(Value.self, selection.predicate, in: $0) }
    }

    /// The sum of a property for each value of another one.
    ///
    /// ```swift
    /// let worthByAuthor = try store.sums(Book.self, \.price, by: \.author?.name)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: a property with numbers.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the sums, by value; groups in which no model has a number are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <group>, ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY
    ///   <group>`
    public func sums<Model: CoreModel, Value: Numeric & Codable, Group: Hashable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, by group: KeyPath<Model, Group>,
        where filter: Filter<Model> = .all
    ) throws -> [Group: Value] { try sums(of: property, group, filter) }

    /// The sum of an optional property for each value of another one.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: a property with numbers.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the sums, by value; groups in which no model has a number are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <group>, ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY
    ///   <group>`
    public func sums<Model: CoreModel, Value: Numeric & Codable, Group: Hashable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?>, by group: KeyPath<Model, Group>,
        where filter: Filter<Model> = .all
    ) throws -> [Group: Value] { try sums(of: property, group, filter) }

    func sums<Model: CoreModel, Value: Decodable, Group: Hashable & Codable>(
        of property: PartialKeyPath<Model>, _ group: KeyPath<Model, Group>, _ filter: Filter<Model>
    ) throws -> [Group: Value] {
        let (aggregate, selection) = try prepared(property, filter)
        let groups = try Aggregate(PropertyName(group), aggregate.plan, access.manager.registry)
        return try access.onContext { try aggregate.sums(Value.self, by: groups, selection.predicate, in: $0) }
    }

    /// The least or the greatest value. Stores order enumerations by their raw values, which may not be the order of
    /// the type.
    private func extreme<Model: CoreModel, Value: Comparable & Codable>(
        _ function: Aggregate.Function, _ property: PartialKeyPath<Model>, _ filter: Filter<Model>,
        _ choose: ([Value]) -> Value?
    ) throws -> Value? {
        guard let value: Value = try aggregate(function, property, filter) else { return nil }
        guard isEnumeration(value) else { return value }
        let (aggregate, selection) = try prepared(property, filter)
        return choose(
            try access.onContext { try aggregate.distinct(Value?.self, selection.predicate, in: $0).compactMap(\.self) }
        )
    }

    func aggregate<Model: CoreModel, Value: Decodable>(
        _ function: Aggregate.Function, _ property: PartialKeyPath<Model>, _ filter: Filter<Model>
    ) throws -> Value? {
        let (aggregate, selection) = try prepared(property, filter)
        return try access.onContext { try aggregate.value(function, as: Value.self, selection.predicate, in: $0) }
    }

    private func prepared<Model: CoreModel>(
        _ property: PartialKeyPath<Model>, _ filter: Filter<Model>
    ) throws -> (Aggregate, RecordSelection) {
        let plan = try access.plan(of: Model.self)
        let selection = try access.selection(filter, plan)
        return (try Aggregate(PropertyName(property), plan, access.manager.registry), selection)
    }
}
