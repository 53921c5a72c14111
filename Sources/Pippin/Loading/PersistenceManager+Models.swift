package import CoreData

extension PersistenceManager {
    /// A manager for models. Their entities are derived from the models themselves.
    ///
    /// ```swift
    /// struct Book: CoreModel {
    ///     let id: String
    ///     var title: String
    ///     var author: Author?
    /// }
    ///
    /// let manager = PersistenceManager(models: Book.self)
    /// try await manager.save([emma, persuasion])
    /// let books = try await manager.fetch(Book.self, where: \.author?.name == "Jane Austen")
    /// ```
    ///
    /// Properties are attributes: optional ones, numbers, strings, `Date`, `UUID`, `URL`, `Data`, `Decimal`,
    /// enumerations with raw values. A nested struct is a composite attribute, a value without a fixed shape is JSON.
    /// Models within models are relationships, to one, or to many for arrays (which keep their order) and sets.
    /// ``Schema`` says the rest.
    ///
    /// `load()` throws for a model whose entity cannot be derived.
    ///
    /// - Parameters:
    ///   - models: the models. Models within them are found automatically.
    ///   - name: the manager's name, and the default store's.
    ///   - store: where the models are kept.
    public convenience init<each Model: CoreModel>(
        models: repeat (each Model).Type, name: String = "Models",
        store: StoreLocation = .standard
    ) {
        // Generic, so that the compiler names the missing protocol for a type that is not a model.
        var types: [any CoreModel.Type] = []
        repeat types.append((each Model).self)
        self.init(models: types, name: name, store: store)
    }

    /// A manager for models, given as a list.
    ///
    /// - Parameters:
    ///   - models: the models. Models within them are found automatically.
    ///   - name: the manager's name, and the default store's.
    ///   - store: where the models are kept.
    @_disfavoredOverload
    public convenience init(
        models: [any CoreModel.Type], name: String = "Models",
        store: StoreLocation = .standard
    ) {
        do {
            let registry = try ModelRegistry(models)
            for plan in registry.plans { try CodingTrial(plan: plan).check() }
            self.init(
                .built(try ModelBuilder.model(of: registry)), name: name, store: store,
                registry: registry)
        } catch {
            let failure =
                error as? PersistenceError
                ?? .notDerivable(type: models.map { "\($0)" }.joined(separator: ", "), property: "", reason: "\(error)")
            self.init(.notDerivable(failure), name: name, store: store)
        }
    }

    /// A manager whose first use opens the stores as `load()` does without a plan.
    package convenience init(
        _ source: ModelSource, name: String, mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump,
        store: StoreLocation, registry: ModelRegistry = ModelRegistry()
    ) {
        self.init(source, name: name, mergePolicy: mergePolicy, store: store, registry: registry) {
            try $0.openStores(migratingBy: nil, nil)
        }
    }
}
