import CoreData

extension PersistenceManager {
    /// The models that a filter selects, now and whenever a save has changed them.
    ///
    /// ```swift
    /// for try await people in manager.observe(Person.self, where: \.age > 30, sortedBy: .ascending(\.name)) { … }
    ///
    /// for try await change in manager.observe(Person.self).differences() {
    ///     remove(change.removals)
    ///     insert(change.insertions)
    /// }
    /// ```
    ///
    /// A save of models within these counts as well, from every context of this process. So does what batch requests and
    /// other processes do to the store's file.
    ///
    /// - Parameters:
    ///   - type: the models' type. Models that are `Equatable` arrive only when something differs.
    ///   - filter: what must hold.
    ///   - order: the order; without one, it is not determined.
    ///   - limit: the most to fetch.
    /// - Returns: a sequence of the models, which ends when its task is cancelled.
    public func observe<Model: CoreModel & Codable & Sendable>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy order: Order<Model> = [], limit: Int? = nil
    ) -> Observation<[Model]> {
        observation(of: type) { try await $0.fetch(type, where: filter, sortedBy: order, limit: limit) }
    }

    /// The model with that identifier, now and whenever a save has changed it; nil while it is not stored.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - uid: the identifier.
    /// - Returns: a sequence of the model's states, which ends when its task is cancelled.
    public func observe<Model: CoreModel & Codable & Sendable>(
        _ type: Model.Type, uid: Model.UidType
    ) -> Observation<Model?> { observation(of: type) { try await $0.fetch(type, uid: uid) } }

    /// How many models a filter selects, now and whenever a save has changed that.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    /// - Returns: a sequence of the numbers, which ends when its task is cancelled.
    public func observeCount<Model: CoreModel & Codable & Sendable>(
        _ type: Model.Type, where filter: Filter<Model> = .all
    ) -> Observation<Int> { observation(of: type) { try await $0.count(type, where: filter) } }

    /// The models that a request describes, now and whenever a save has changed them.
    ///
    /// - Parameter request: the request.
    /// - Returns: a sequence of the models, which ends when its task is cancelled.
    public func observe<Model: CoreModel & Codable & Sendable>(_ request: ModelRequest<Model>) -> Observation<[Model]> {
        observation(of: Model.self) { try await $0.fetch(request) }
    }

    private func observation<Model: CoreModel & Codable, State: Sendable>(
        of type: Model.Type, _ state: @escaping @Sendable (PersistenceManager) async throws -> State
    ) -> Observation<State> {
        // A type that is unknown is an error of the fetch.
        let entities = (try? registry.entities(within: registry.plan(of: type))) ?? []
        let container = container
        return Observation(
            signals: { SaveSignals.stream(of: container, entities: entities) },
            state: {
                do { return try await state(self) } catch  where self.isStartingOver.withLock({ $0 }) {
                    throw ObservationPause()
                }
            },
            isSame: { areEqual($0, $1) })
    }
}
