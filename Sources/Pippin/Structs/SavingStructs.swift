import CoreData

extension PersistenceManager {
    /// Saves models, each with the models in it: those with known identifiers are changed, the others inserted.
    ///
    /// ```swift
    /// try await manager.save(books)
    /// ```
    ///
    /// Models that belonged to one of these (``SchemaRule/owns(_:)``) and are no longer in it are deleted. All of it
    /// happens, or nothing. No other save of this manager comes between looking for models and saving them.
    ///
    /// - Parameters:
    ///   - models: the models. Where several have the same identifier, the one nearest to these counts; of two of these, the
    ///     later one.
    ///   - shouldOverwrite: true for models that are all there is: others of their type are deleted.
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    /// - Throws: ``PersistenceError``, ``SaveError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uid> IN (?, …)`, then `INSERT`, `UPDATE` and `DELETE` in one transaction
    public func save<Model: CoreModel & Codable & Sendable>(
        _ models: [Model], shouldOverwrite: Bool = false, context: NSManagedObjectContext? = nil
    ) async throws {
        let registry = registry
        try await write(in: context) { context in
            try Self.save(models, shouldOverwrite: shouldOverwrite, registry, in: context)
        }
    }

    /// Saves models, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - models: the models.
    ///   - shouldOverwrite: true for models that are all there is: others of their type are deleted.
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    /// - Throws: ``PersistenceError``, ``SaveError``, and Core Data's errors.
    public func save<Model: CoreModel & Codable>(
        _ models: [Model], shouldOverwrite: Bool = false, context: NSManagedObjectContext? = nil
    ) throws {
        try write(in: context) { try Self.save(models, shouldOverwrite: shouldOverwrite, registry, in: $0) }
    }

    /// Saves a model, with the models in it.
    ///
    /// - Parameters:
    ///   - model: the model.
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    /// - Throws: ``PersistenceError``, ``SaveError``, and Core Data's errors.
    public func save<Model: CoreModel & Codable & Sendable>(
        _ model: Model, context: NSManagedObjectContext? = nil
    ) async throws { try await save([model], context: context) }

    /// Saves a model, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - model: the model.
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    /// - Throws: ``PersistenceError``, ``SaveError``, and Core Data's errors.
    public func save<Model: CoreModel & Codable>(_ model: Model, context: NSManagedObjectContext? = nil) throws {
        try save([model], context: context)
    }

    private static func save<Model: CoreModel & Codable>(
        _ models: [Model], shouldOverwrite: Bool, _ registry: ModelRegistry, in context: NSManagedObjectContext
    ) throws {
        let plan = try registry.plan(of: Model.self)
        var writer = GraphWriter(try ModelGraph(models, registry: registry), context)
        try writer.write()
        if shouldOverwrite { try writer.deleteOthers(of: plan) }
    }
}
