import StoreSession

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

    /// A manager for the same models in another store.
    package func manager(name: String, of location: StoreLocation) -> PersistenceManager {
        guard let model = try? checkedModel() else {
            return PersistenceManager(models: registry.plans.map(\.type), name: name, store: location)
        }
        return PersistenceManager(.built(model), name: name, store: location, registry: registry)
    }

    /// A manager whose first use opens the stores as `load()` does without a plan.
    package convenience init(
        _ source: ModelSource, name: String, mergePolicy: ObjectMergePolicy = .mergeByPropertyObjectTrump,
        store: StoreLocation, registry: ModelRegistry = ModelRegistry()
    ) {
        self.init(source, name: name, mergePolicy: mergePolicy, store: store, registry: registry) {
            try $0.openStores(migratingBy: nil, nil)
        }
    }
}

/// Encodes and decodes made-up models as a save and a fetch do: a type that could not be saved, or not be read again,
/// is refused when its store is opened.
struct CodingTrial {
    let plan: EntityPlan
    private var record: RecordPlan { plan.record }
    /// The model's type, for messages.
    private var type: String { record.name }

    /// - Throws: ``PersistenceError/Code/notDerivable`` for a type that is encoded in another form than it is decoded
    ///   in.
    func check() throws { try check(plan.type) }

    private func check<Model: CoreModel>(_ type: Model.Type) throws {
        for model in EntityDerivation.prototypes(of: type) { try check(model) }
    }

    private func check<Model: CoreModel>(_ model: Model) throws {
        let encoder = RecordEncoder(record)
        let values: ContiguousArray<StoredValue>
        do { values = try encoder.encode(model).values } catch let error as EncodingError {
            // Made-up values may be none that the type, or a store, takes.
            guard error.isRefusal else { return }
            throw refusal(encoder.lastProperty, "could not be saved", error.encodingReason)
        } catch {
            return
        }
        // Relationships have no values.
        let slots = record.fields.indices.map { record.fields[$0].related == nil ? $0 : -1 }
        let decoder = RowDecoder(record, entity: type, slots: ContiguousArray(slots), related: MadeUpMembers(record))
        defer { decoder.finish() }
        do { _ = try decoder.decodeValues(Model.self, values) } catch let error as PersistenceError
            where error.code == .unreadable
        {
            let path = (error.entity ?? "").dropFirst(type.count).dropFirst()
            let property = [String(path), error.property ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
            throw refusal(property, "could be saved, and not be read again", error.reason ?? "")
        } catch {}
    }

    private func refusal(_ property: String?, _ what: String, _ reason: String) -> PersistenceError {
        let name = property ?? ""
        let advice =
            name.isEmpty
            ? "Put what is coded so into a property of its own, and keep that as JSON: Schema(.json(…))."
            : "Keep it as JSON, Schema(.json(\\.\(name))), or code each of its values by a key."
        return .notDerivable(type: type, property: name, reason: "it \(what): \(reason) \(advice)")
    }
}

/// The models that made-up models lead to.
private final class MadeUpMembers: RelatedRows {
    private let record: RecordPlan

    init(_ record: RecordPlan) { self.record = record }

    func model<Value: Decodable>(_ type: Value.Type, _ field: Int, of decoder: RowDecoder) throws -> Value? {
        try Value(from: TypeProbe(type))
    }

    func models<Value: Decodable>(_ type: Value.Type, _ field: Int, of decoder: RowDecoder) throws -> Value? {
        guard let related = record.fields[field].related else { return nil }
        return try Value(from: ModelsDecoder(NoMembers(), count: 0, of: related))
    }
}

private struct NoMembers: MemberSource {
    func member<Value: Decodable>(_ type: Value.Type, _ place: Int) throws -> Value? { nil }
}
