import CoreData

extension PersistenceManager {
    /// A manager for `Codable` models. Their entities are derived from the models themselves.
    ///
    /// ```swift
    /// struct Book: CoreModel, Codable {
    ///     let uid: String
    ///     var title: String
    ///     var author: Author?
    /// }
    ///
    /// let manager = PersistenceManager(models: Book.self)
    /// try await manager.load()
    /// try await manager.save([emma, persuasion])
    /// let books = try await manager.fetch(Book.self, where: \.author?.name == "Jane Austen")
    /// ```
    ///
    /// Properties are attributes: optional ones, numbers, strings, `Date`, `UUID`, `URL`, `Data`, `Decimal`, enumerations with raw
    /// values. A nested struct is a composite attribute, a value without a fixed shape is JSON. Models within models
    /// are relationships, to one, or to many for arrays (which keep their order) and sets. ``Schema`` says the rest.
    ///
    /// `load()` throws for a model whose entity cannot be derived.
    ///
    /// - Parameters:
    ///   - models: the models; those within them are found by themselves.
    ///   - name: the manager's name, and the default store's.
    ///   - mergePolicy: how a save settles conflicts.
    ///   - store: where the models are kept.
    public convenience init<each Model: CoreModel & Codable>(
        models: repeat (each Model).Type, name: String = "Models",
        mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump, store: StoreLocation = .standard
    ) {
        // Generic, so that the compiler says of a type that is no model which protocol it lacks.
        var types: [any (CoreModel & Codable).Type] = []
        repeat types.append((each Model).self)
        self.init(models: types, name: name, mergePolicy: mergePolicy, store: store)
    }

    /// A manager for `Codable` models, given as a list.
    ///
    /// - Parameters:
    ///   - models: the models; those within them are found by themselves.
    ///   - name: the manager's name, and the default store's.
    ///   - mergePolicy: how a save settles conflicts.
    ///   - store: where the models are kept.
    @_disfavoredOverload
    public convenience init(
        models: [any (CoreModel & Codable).Type], name: String = "Models",
        mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump, store: StoreLocation = .standard
    ) {
        do {
            let registry = try ModelRegistry(models)
            self.init(
                .built(try ModelBuilder.model(of: registry)), name: name, mergePolicy: mergePolicy, store: store,
                registry: registry)
        } catch {
            let failure =
                error as? PersistenceError
                ?? .notDerivable(type: models.map { "\($0)" }.joined(separator: ", "), property: "", reason: "\(error)")
            self.init(.notDerivable(failure), name: name, mergePolicy: mergePolicy, store: store)
        }
    }

    static func rows(of container: NSPersistentContainer) -> (any StructRows & Sendable)? {
        #if canImport(ObjectiveC)
            nil
        #else
            StoreRows(container.persistentStoreCoordinator)
        #endif
    }

    /// Reads from rows: straight from the store, or from a context's objects where there is one.
    func withRows<Result>(
        in context: NSManagedObjectContext?, _ work: (any StructRows) throws -> Result
    ) throws -> Result {
        if context == nil, let storeRows {
            try requireLoaded()
            return try work(storeRows)
        }
        return try read(in: context) { try work(ObjectRows($0)) }
    }

    /// Reads from rows: straight from the store, or from a context's objects where there is one.
    func withRows<Result: Sendable>(
        in context: NSManagedObjectContext?, _ work: @escaping @Sendable (any StructRows) throws -> Result
    ) async throws -> Result {
        if context == nil, let storeRows {
            try requireLoaded()
            // Reading a file may take its time: not on a thread that tasks share.
            return try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(with: Swift.Result { try work(storeRows) }) }
            }
        }
        return try await read(in: context) { try work(ObjectRows($0)) }
    }
}
