import CoreData

/// SwiftData's own store, for code that works with stores and their snapshots. A container with a
/// ``ModelConfiguration`` does without it.
final public class DefaultStore: DataStore, DataStoreBatching {
    /// The type of its configuration.
    public typealias Configuration = ModelConfiguration
    /// The type of its snapshots.
    public typealias Snapshot = DefaultSnapshot

    /// The name of its configuration.
    final public let name: String
    /// The models.
    final public let schema: Schema
    /// The configuration with which it was made.
    final public let configuration: ModelConfiguration
    private let container: ModelContainer
    /// The contexts of those who use the store, by their identity.
    private var contexts: [EditingState.ID: ModelContext] = [:]

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - configuration: where and how it keeps models; it must have a schema.
    ///   - migrationPlan: how a store of an earlier version is migrated; nil for no plan.
    /// - Throws: the errors of ``ModelContainer``'s initializers, and
    ///   ``SwiftDataError/configurationSchemaNotFoundInContainerSchema`` without a schema.
    public convenience init(
        _ configuration: ModelConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)? = nil
    ) throws {
        guard let schema = configuration.schema else {
            throw SwiftDataError.configurationSchemaNotFoundInContainerSchema.because(
                "A DefaultStore needs a configuration with a schema: ModelConfiguration(schema:).")
        }
        self.init(
            configuration, schema,
            try ModelContainer(for: schema, migrationPlan: migrationPlan, configurations: [configuration]))
    }

    private init(_ configuration: ModelConfiguration, _ schema: Schema, _ container: ModelContainer) {
        name = configuration.name
        self.schema = schema
        self.configuration = configuration
        self.container = container
    }

    /// The identifier of the store, which its models' identifiers have.
    final public var identifier: String { container.core.coordinator.persistentStores.first?.identifier ?? "" }

    private func context(_ state: EditingState) -> ModelContext {
        let context = contexts[state.id] ?? ModelContext(container)
        context.author = state.author
        return context
    }

    /// Prepares to be used.
    ///
    /// - Parameter editingState: what tells the user from others.
    final public func initializeState(for editingState: EditingState) {
        contexts[editingState.id] = ModelContext(container)
    }

    /// Forgets a user.
    ///
    /// - Parameter editingState: what tells the user from others.
    final public func invalidateState(for editingState: EditingState) { contexts[editingState.id] = nil }

    /// Removes all data.
    ///
    /// - Throws: why they cannot be removed.
    final public func erase() throws { try container.erase() }

    /// Fetches models.
    ///
    /// - Parameter request: what to fetch.
    /// - Returns: their snapshots.
    /// - Throws: the errors of ``ModelContext/fetch(_:)``.
    final public func fetch<T>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultStore.Snapshot> where T: PersistentModel {
        let models = try context(request.editingState).fetch(request.descriptor)
        return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: models.map(Self.snapshot))
    }

    /// The number of models that a fetch would find.
    ///
    /// - Parameter request: what to count.
    /// - Returns: the number.
    /// - Throws: the errors of ``ModelContext/fetch(_:)``.
    final public func fetchCount<T>(_ request: DataStoreFetchRequest<T>) throws -> Int where T: PersistentModel {
        try context(request.editingState).fetchCount(request.descriptor)
    }

    /// The identifiers of the models that a fetch would find.
    ///
    /// - Parameter request: what to fetch.
    /// - Returns: the identifiers.
    /// - Throws: the errors of ``ModelContext/fetchIdentifiers(_:)``.
    final public func fetchIdentifiers<T>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] where T: PersistentModel {
        try context(request.editingState).fetchIdentifiers(request.descriptor)
    }

    /// Deletes models without reading them.
    ///
    /// - Parameter request: which.
    /// - Throws: the errors of ``ModelContext/delete(model:where:includeSubclasses:)``.
    final public func delete<T>(_ request: DataStoreBatchDeleteRequest<T>) throws where T: PersistentModel {
        try context(request.editingState).delete(
            model: T.self, where: request.predicate, includeSubclasses: request.includeSubclasses)
    }

    /// Saves changes, all or none.
    ///
    /// - Parameter request: the changes. New models have temporary identifiers.
    /// - Returns: the permanent identifiers of the new models, by the temporary ones.
    /// - Throws: the errors of ``ModelContext/save()``.
    final public func save(
        _ request: DataStoreSaveChangesRequest<DefaultStore.Snapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultStore.Snapshot> {
        let context = ModelContext(container)
        context.author = request.editingState.author
        var inserted: [PersistentIdentifier: ModelState] = [:]
        for snapshot in request.inserted {
            let name = snapshot.persistentIdentifier.entityName
            guard let type = schema.modelTypes[name] else {
                throw SwiftDataError.unknownSchema.because("The store has no models of the class “\(name)”.")
            }
            let state = ModelState(type)
            state.take(snapshot.values)
            context.attach(state)
            inserted[snapshot.persistentIdentifier] = state
        }
        func model(_ identifier: PersistentIdentifier) throws -> ModelState {
            if let state = inserted[identifier] { return state }
            guard let state = context.object(for: identifier).flatMap({ context.model(of: $0).modelState }) else {
                throw SwiftDataError.modelValidationFailure.because("The store has no model \(identifier).")
            }
            return state
        }
        for snapshot in request.updated { try model(snapshot.persistentIdentifier).take(snapshot.values) }
        for snapshot in request.inserted + request.updated {
            let state = try model(snapshot.persistentIdentifier)
            for property in state.type.properties where property.isRelationship {
                let value = snapshot.values[property.name]?.content
                let ends = value as? [PersistentIdentifier] ?? (value as? PersistentIdentifier).map { [$0] } ?? []
                state.setRelated(property, try ends.map { try model($0).shownModel })
            }
        }
        for snapshot in request.deleted {
            if let object = context.object(for: snapshot.persistentIdentifier) { context.objectContext.delete(object) }
        }
        try context.save()
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: inserted.mapValues(\.identifier))
    }

    /// Snapshots of models, read if they were not yet.
    ///
    /// - Parameters:
    ///   - persistentIdentifiers: the identifiers of models.
    ///   - editingState: what tells the asking user from others.
    /// - Returns: the snapshots of those that the store has.
    /// - Throws: the errors of the store.
    final public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: DefaultStore.Snapshot] {
        let context = context(editingState)
        let found = persistentIdentifiers.compactMap { identifier in
            context.objectID(of: identifier).flatMap { context.objectContext.registeredObject(for: $0) as? ModelObject }
                .map { (identifier, Self.snapshot(context.model(of: $0))) }
        }
        return Dictionary(found, uniquingKeysWith: { first, _ in first })
    }

    private static func snapshot(_ model: any PersistentModel) -> DefaultSnapshot {
        DefaultSnapshot(model.persistentModelID, model.modelState?.snapshotValues ?? [:])
    }
}

extension DefaultStore: HistoryProviding {
    /// The type of its transactions.
    public typealias HistoryType = DefaultHistoryTransaction
    /// A position in its history.
    public typealias TokenType = DefaultHistoryToken

    /// The type of its transactions.
    public static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    /// Fetches transactions.
    ///
    /// - Parameter descriptor: which.
    /// - Returns: the transactions.
    /// - Throws: the errors of ``ModelContext/fetchHistory(_:)``.
    final public func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] { try ModelContext(container).fetchHistory(descriptor) }

    /// Deletes transactions, from the beginning.
    ///
    /// - Parameter descriptor: which.
    /// - Throws: the errors of ``ModelContext/deleteHistory(_:)``.
    final public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        try ModelContext(container).deleteHistory(descriptor)
    }
}
