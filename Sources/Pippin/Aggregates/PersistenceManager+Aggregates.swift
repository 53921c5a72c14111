import CoreData

extension PersistenceManager {
    /// How many models a filter selects.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    ///   - context: where to read, its unsaved changes included; without one, a new worker.
    /// - Returns: the number of models.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT count(*) FROM Z<ENTITY> WHERE <filter>`
    public func count<Model: CoreModel & Codable>(
        _ type: Model.Type, where filter: Filter<Model> = .all, context: NSManagedObjectContext? = nil
    ) async throws -> Int {
        let plan = try registry.plan(of: type)
        let selection = RecordSelection(predicate: try filter.predicate(plan, registry))
        return try await read(in: context) { context in
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
    ///   - context: where to read, its unsaved changes included; without one, a new worker.
    /// - Returns: `true` when there is at least one.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT Z_PK FROM Z<ENTITY> WHERE <filter> LIMIT 1`
    public func exists<Model: CoreModel & Codable>(
        _ type: Model.Type, where filter: Filter<Model> = .all, context: NSManagedObjectContext? = nil
    ) async throws -> Bool {
        let plan = try registry.plan(of: type)
        let selection = RecordSelection(predicate: try filter.predicate(plan, registry))
        return try await read(in: context) { context in
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.name)
            request.predicate = selection.predicate
            request.fetchLimit = 1
            request.resultType = .managedObjectIDResultType
            return try !context.fetch(request).isEmpty
        }
    }

    /// The sum of a property; nil where no model has a value.
    ///
    /// ```swift
    /// let worth = try await manager.sum(Book.self, \.price, where: \.author?.name == "Jane Austen")
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    ///   - context: where to read. The store computes, so its unsaved changes do not count. Without one, a new worker.
    /// - Returns: the sum; nil where no model has a value.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT sum(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func sum<Model: CoreModel & Codable, Value: Numeric & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all,
        context: NSManagedObjectContext? = nil
    ) async throws -> Value? { try await aggregate(.sum, property, filter, context) }

    /// The sum of an optional property; nil where no model has a value.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property.
    ///   - filter: what must hold.
    ///   - context: where to read. The store computes, so its unsaved changes do not count. Without one, a new worker.
    /// - Returns: the sum; nil where no model has a value.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT sum(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func sum<Model: CoreModel & Codable, Value: Numeric & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?>, where filter: Filter<Model> = .all,
        context: NSManagedObjectContext? = nil
    ) async throws -> Value? { try await aggregate(.sum, property, filter, context) }

    /// The least value of a property; nil where no model has one.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property.
    ///   - filter: what must hold.
    ///   - context: where to read. The store computes, so its unsaved changes do not count. Without one, a new worker.
    /// - Returns: the least value; nil where no model has one.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT min(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func min<Model: CoreModel & Codable, Value: Comparable & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all,
        context: NSManagedObjectContext? = nil
    ) async throws -> Value? { try await aggregate(.minimum, property, filter, context) }

    /// The least value of an optional property; nil where no model has a value.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property.
    ///   - filter: what must hold.
    ///   - context: where to read. The store computes, so its unsaved changes do not count. Without one, a new worker.
    /// - Returns: the least value; nil where no model has one.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT min(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func min<Model: CoreModel & Codable, Value: Comparable & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?>, where filter: Filter<Model> = .all,
        context: NSManagedObjectContext? = nil
    ) async throws -> Value? { try await aggregate(.minimum, property, filter, context) }

    /// The greatest value of a property; nil where no model has one.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property.
    ///   - filter: what must hold.
    ///   - context: where to read. The store computes, so its unsaved changes do not count. Without one, a new worker.
    /// - Returns: the greatest value; nil where no model has one.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT max(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func max<Model: CoreModel & Codable, Value: Comparable & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all,
        context: NSManagedObjectContext? = nil
    ) async throws -> Value? { try await aggregate(.maximum, property, filter, context) }

    /// The greatest value of an optional property; nil where no model has a value.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property.
    ///   - filter: what must hold.
    ///   - context: where to read. The store computes, so its unsaved changes do not count. Without one, a new worker.
    /// - Returns: the greatest value; nil where no model has one.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT max(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func max<Model: CoreModel & Codable, Value: Comparable & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?>, where filter: Filter<Model> = .all,
        context: NSManagedObjectContext? = nil
    ) async throws -> Value? { try await aggregate(.maximum, property, filter, context) }

    /// The average of a property; nil where no model has a value.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: a property with numbers.
    ///   - filter: what must hold.
    ///   - context: where to read. The store computes, so its unsaved changes do not count. Without one, a new worker.
    /// - Returns: the average; nil where no model has a value.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT avg(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func average<Model: CoreModel & Codable, Value: Numeric & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all,
        context: NSManagedObjectContext? = nil
    ) async throws -> Double? { try await aggregate(.average, property, filter, context) }

    /// The average of an optional property; nil where no model has a value.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property.
    ///   - filter: what must hold.
    ///   - context: where to read. The store computes, so its unsaved changes do not count. Without one, a new worker.
    /// - Returns: the average; nil where no model has a value.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT avg(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func average<Model: CoreModel & Codable, Value: Numeric & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?>, where filter: Filter<Model> = .all,
        context: NSManagedObjectContext? = nil
    ) async throws -> Double? { try await aggregate(.average, property, filter, context) }

    /// The different values of a property, in order; nil is one where the property is optional.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property.
    ///   - filter: what must hold.
    ///   - context: where to read. The store computes, so its unsaved changes do not count. Without one, a new worker.
    /// - Returns: the values, ascending.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT DISTINCT <property> FROM Z<ENTITY> WHERE <filter> ORDER BY <property>`
    public func distinct<Model: CoreModel & Codable, Value: Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all,
        context: NSManagedObjectContext? = nil
    ) async throws -> [Value] {
        let (aggregate, selection) = try prepared(property, filter)
        return try await read(in: context) { try aggregate.distinct(Value.self, selection.predicate, in: $0) }
    }

    /// How many models there are for each value of a property.
    ///
    /// ```swift
    /// let booksByBinding = try await manager.counts(Book.self, by: \.binding)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property; models without a value count under nil where it is optional.
    ///   - filter: what must hold.
    ///   - context: where to read. The store computes, so its unsaved changes do not count. Without one, a new worker.
    /// - Returns: the numbers, by value; values that no model has are not among them.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT <property>, count(<uid>) FROM Z<ENTITY> WHERE <filter> GROUP BY <property>`
    public func counts<Model: CoreModel & Codable, Value: Hashable & Codable & Sendable>(
        _ type: Model.Type, by property: KeyPath<Model, Value>, where filter: Filter<Model> = .all,
        context: NSManagedObjectContext? = nil
    ) async throws -> [Value: Int] {
        let (aggregate, selection) = try prepared(property, filter)
        return try await read(in: context) { try aggregate.counts(Value.self, selection.predicate, in: $0) }
    }

    private func aggregate<Model: CoreModel & Codable, Value: Decodable & Sendable>(
        _ function: Aggregate.Function, _ property: PartialKeyPath<Model>, _ filter: Filter<Model>,
        _ context: NSManagedObjectContext?
    ) async throws -> Value? {
        let (aggregate, selection) = try prepared(property, filter)
        return try await read(in: context) {
            try aggregate.value(function, as: Value.self, selection.predicate, in: $0)
        }
    }

    private func prepared<Model: CoreModel & Codable>(
        _ property: PartialKeyPath<Model>, _ filter: Filter<Model>
    ) throws -> (Aggregate, RecordSelection) {
        let plan = try registry.plan(of: Model.self)
        let selection = RecordSelection(predicate: try filter.predicate(plan, registry))
        return (try Aggregate(PropertyName(property), plan, registry), selection)
    }
}
