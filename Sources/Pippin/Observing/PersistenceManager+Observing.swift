import CoreData

extension PersistenceManager {
    /// The models that a filter selects: now, and again after each save that changed them, by whatever context, manager or process.
    ///
    /// ```swift
    /// for try await books in manager.observe(Book.self, where: \.price < 20) { show(books) }
    /// ```
    ///
    /// States that are equal to the one before are passed over. It ends with its task, and with an error when the store is taken away.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    ///   - order: the order; without one, any.
    ///   - last: the model after which to begin.
    ///   - limit: how many at most; all of them without one.
    ///   - offset: how many to pass over.
    /// - Returns: the states, for `for try await`.
    public func observe<Model: CoreModel>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy order: Order<Model> = [],
        after last: Model? = nil, limit: Int? = nil, offset: Int = 0
    ) -> Observation<[Model]> {
        // What comes before the place to begin at counts as well.
        let selection = last == nil && offset == 0 ? selection(type, filter) : nil
        return observe(selection) {
            try $0.fetch(type, where: filter, sortedBy: order, after: last, limit: limit, offset: offset)
        }
    }

    /// The models that a request describes: now, and again after each save that changed them.
    ///
    /// - Parameter request: the request.
    /// - Returns: the states, for `for try await`.
    public func observe<Model: CoreModel>(_ request: ModelRequest<Model>) -> Observation<[Model]> {
        observe(request.last == nil && request.offset == 0 ? selection(Model.self, request.filter) : nil) {
            try $0.fetch(request)
        }
    }

    /// The model with an identifier: now, and again after each save that changed it; `nil` while there is none.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - id: the identifier.
    /// - Returns: the states, for `for try await`.
    public func observe<Model: CoreModel>(_ type: Model.Type, id: Model.ID) -> Observation<Model?> {
        observe { try $0.find(type, id: id) }
    }

    /// Whatever a block asks: now, and again after each save that touched what it asked for.
    ///
    /// ```swift
    /// let shelves = manager.observe { store in
    ///     (count: try store.count(Book.self), worth: try store.sum(Book.self, \.price))
    /// }
    /// for try await shelf in shelves { show(shelf) }
    /// ```
    ///
    /// - Parameter question: asks what it is given, on one state of the store. It runs off the calling thread.
    /// - Returns: the states, for `for try await`; those of an `Equatable` type that are equal to the one before are passed over.
    public func observe<State: Sendable>(
        _ question: @escaping @Sendable (ReadAccess) throws -> State
    ) -> Observation<State> { observe(nil, question) }

    /// What a fetch selects, for models that lead to no others.
    private func selection<Model: CoreModel>(_ type: Model.Type, _ filter: Filter<Model>) -> Interest.Selection? {
        guard let plan = try? registry.plan(of: type), plan.relationships.isEmpty else { return nil }
        let registry = registry
        return Interest.Selection(plan: plan) { try filter.predicate(plan, registry) }
    }

    private func observe<State: Sendable>(
        _ selection: Interest.Selection?, _ question: @escaping @Sendable (ReadAccess) throws -> State
    ) -> Observation<State> {
        let container = container
        let signals = saveSignals
        return Observation(
            makeInterest: { Interest(selection) },
            signals: { signals.stream(of: container, for: $0) },
            state: { interest in
                do {
                    return try await self.asking { store in
                        // What is asked for is known when the block has run; until then every save counts.
                        defer { interest.ask(for: store.access.entities) }
                        return try question(store)
                    }
                } catch  where self.isStartingOver.withLock({ $0 }) {
                    throw ObservationPause()
                }
            },
            isSame: { areEqual($0, $1) })
    }
}
