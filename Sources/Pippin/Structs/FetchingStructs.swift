import CoreData

extension PersistenceManager {
    /// The models that a filter selects, with the models in them; all of a type without one.
    ///
    /// ```swift
    /// let adults = try await manager.fetch(Person.self, where: \.age >= 18, sortedBy: .ascending(\.name), limit: 20)
    /// ```
    ///
    /// They are read straight from the store's rows, without managed objects.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    ///   - order: the order; without one, it is not determined.
    ///   - limit: the most to fetch.
    ///   - offset: how many to leave out at the start.
    ///   - context: where to read, its unsaved changes included; without one, the store.
    /// - Returns: the models, in order.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    /// - SQL: `SELECT … WHERE <filter> ORDER BY <order> LIMIT <limit> OFFSET <offset>`
    public func fetch<Model: CoreModel & Codable & Sendable>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy order: Order<Model> = [], limit: Int? = nil,
        offset: Int = 0, context: NSManagedObjectContext? = nil
    ) async throws -> [Model] {
        let reader = try reader(type)
        let selection = try reader.selection(filter, order, limit, offset)
        return try await withRows(in: context) { try reader.models(selection, $0) }
    }

    /// The models that a filter selects, as the `async` form gives them, waiting for them.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    ///   - order: the order; without one, it is not determined.
    ///   - limit: the most to fetch.
    ///   - offset: how many to leave out at the start.
    ///   - context: where to read, its unsaved changes included; without one, the store.
    /// - Returns: the models, in order.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    public func fetch<Model: CoreModel & Codable>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy order: Order<Model> = [], limit: Int? = nil,
        offset: Int = 0, context: NSManagedObjectContext? = nil
    ) throws -> [Model] {
        let reader = try reader(type)
        let selection = try reader.selection(filter, order, limit, offset)
        return try withRows(in: context) { try reader.models(selection, $0) }
    }

    /// The model with that identifier, if it is stored.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - uid: the identifier.
    ///   - context: where to read, its unsaved changes included; without one, the store.
    /// - Returns: the model; nil when it is not stored.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    /// - SQL: `SELECT … WHERE <uid> = ? LIMIT 1`
    public func fetch<Model: CoreModel & Codable & Sendable>(
        _ type: Model.Type, uid: Model.UidType, context: NSManagedObjectContext? = nil
    ) async throws -> Model? {
        let reader = try reader(type)
        let selection = reader.selection(uid: uid)
        return try await withRows(in: context) { try reader.models(selection, $0).first }
    }

    /// The model with that identifier, as the `async` form gives it, waiting for it.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - uid: the identifier.
    ///   - context: where to read, its unsaved changes included; without one, the store.
    /// - Returns: the model; nil when it is not stored.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    public func fetch<Model: CoreModel & Codable>(
        _ type: Model.Type, uid: Model.UidType, context: NSManagedObjectContext? = nil
    ) throws -> Model? {
        let reader = try reader(type)
        return try withRows(in: context) { try reader.models(reader.selection(uid: uid), $0).first }
    }

    /// The models with these identifiers, as many as there are, in the identifiers' order.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - uids: the identifiers.
    ///   - context: where to read, its unsaved changes included; without one, the store.
    /// - Returns: the models, in order.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    /// - SQL: `SELECT … WHERE <uid> IN (?, …)`
    public func fetch<Model: CoreModel & Codable & Sendable>(
        _ type: Model.Type, uids: [Model.UidType], context: NSManagedObjectContext? = nil
    ) async throws -> [Model] {
        let reader = try reader(type)
        return try await withRows(in: context) { try reader.models(inOrderOf: uids, $0) }
    }

    /// The models with these identifiers, as the `async` form gives them, waiting for them.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - uids: the identifiers.
    ///   - context: where to read, its unsaved changes included; without one, the store.
    /// - Returns: the models, in order.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    public func fetch<Model: CoreModel & Codable>(
        _ type: Model.Type, uids: [Model.UidType], context: NSManagedObjectContext? = nil
    ) throws -> [Model] {
        let reader = try reader(type)
        return try withRows(in: context) { try reader.models(inOrderOf: uids, $0) }
    }

    func reader<Model: CoreModel & Codable>(_ type: Model.Type) throws -> ModelReader<Model> {
        ModelReader(plan: try registry.plan(of: type), registry: registry)
    }
}
