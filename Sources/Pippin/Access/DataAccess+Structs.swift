import CoreData

// Structs in this context. Nothing is saved before ``DataAccess/save()``, or the end of a write block.
extension DataAccess {
    /// The models that a filter selects, unsaved changes included.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    ///   - order: the order; without one, it is not determined.
    ///   - limit: the most to fetch.
    ///   - offset: how many to leave out at the start.
    /// - Returns: the models, in order; none when there are none.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    public func fetch<Model: CoreModel & Codable>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy order: Order<Model> = [], limit: Int? = nil,
        offset: Int = 0
    ) throws -> [Model] {
        let reader = try manager.reader(type)
        return try reader.models(try reader.selection(filter, order, limit, offset), ObjectRows(context))
    }

    /// The model with that identifier, unsaved changes included.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - uid: the identifier.
    /// - Returns: the model; `nil` when there is none.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    public func fetch<Model: CoreModel & Codable>(_ type: Model.Type, uid: Model.UidType) throws -> Model? {
        let reader = try manager.reader(type)
        return try reader.models(reader.selection(uid: uid), ObjectRows(context)).first
    }

    /// Inserts models, or changes those with known identifiers, with the models in them.
    ///
    /// - Parameter models: the models.
    /// - Throws: ``PersistenceError``, and Core Data's errors. Nothing is changed then.
    public func insertOrUpdate<Model: CoreModel & Codable>(_ models: [Model]) throws {
        var writer = GraphWriter(try ModelGraph(models, registry: manager.registry), context)
        try writer.write()
    }

    /// Inserts a model, or changes the one with its identifier, with the models in it.
    ///
    /// - Parameter model: the model.
    /// - Throws: ``PersistenceError``, and Core Data's errors. Nothing is changed then.
    public func insertOrUpdate<Model: CoreModel & Codable>(_ model: Model) throws { try insertOrUpdate([model]) }

    /// Deletes a model, and what belongs to it.
    ///
    /// - Parameter model: the model; only its identifier matters.
    /// - Returns: whether it was there.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    @discardableResult
    public func delete<Model: CoreModel & Codable>(_ model: Model) throws -> Bool {
        try delete(Model.self, uids: [model.uid]) == 1
    }

    /// Deletes the models with these identifiers, and what belongs to them.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - uids: the identifiers.
    /// - Returns: how many models were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    @discardableResult
    public func delete<Model: CoreModel & Codable>(_ type: Model.Type, uids: [Model.UidType]) throws -> Int {
        let plan = try manager.registry.plan(of: type)
        let objects = try plan.objects(uids: uids.map(\.attributeValue), in: context).values
        for object in objects { context.delete(object) }
        return objects.count
    }

    /// The models that a request describes, unsaved changes included.
    ///
    /// - Parameter request: the request.
    /// - Returns: the models, in order; none when there are none.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    public func fetch<Model: CoreModel & Codable>(_ request: ModelRequest<Model>) throws -> [Model] {
        try fetch(
            Model.self, where: request.filter, sortedBy: request.order, limit: request.limit, offset: request.offset)
    }

    /// The first model that a filter selects, unsaved changes included.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - filter: what must hold.
    ///   - order: the order.
    /// - Returns: the model; `nil` when the filter selects none.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    public func first<Model: CoreModel & Codable>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy order: Order<Model> = []
    ) throws -> Model? { try fetch(type, where: filter, sortedBy: order, limit: 1).first }

    /// How many models a filter selects, unsaved changes included.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    /// - Returns: the number of models.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    public func count<Model: CoreModel & Codable>(_ type: Model.Type, where filter: Filter<Model> = .all) throws -> Int
    {
        let plan = try manager.registry.plan(of: type)
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.name)
        request.predicate = try filter.predicate(plan, manager.registry)
        return try context.count(for: request)
    }

    /// Deletes the models that a filter selects, and what belongs to them.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold; `.all` for all of them.
    /// - Returns: how many models were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    @discardableResult
    public func delete<Model: CoreModel & Codable>(_ type: Model.Type, where filter: Filter<Model>) throws -> Int {
        let plan = try manager.registry.plan(of: type)
        let selection = RecordSelection(predicate: try filter.predicate(plan, manager.registry))
        let objects = try plan.objects(selection, in: context)
        for object in objects { context.delete(object) }
        return objects.count
    }
}
