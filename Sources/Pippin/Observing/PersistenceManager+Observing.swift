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
        var request = ModelRequest(type)
        (request.filter, request.order, request.last, request.limit, request.offset) = (
            filter, order, last, limit, offset
        )
        let isPlain = last == nil && offset == 0
        return observe(isPlain ? selection(type, filter) : nil, key: isPlain ? readingKey(request) : nil) {
            try $0.fetch(type, where: filter, sortedBy: order, after: last, limit: limit, offset: offset)
        }
    }

    /// The models that a request describes: now, and again after each save that changed them.
    ///
    /// - Parameter request: the request.
    /// - Returns: the states, for `for try await`.
    public func observe<Model: CoreModel>(_ request: ModelRequest<Model>) -> Observation<[Model]> {
        let isPlain = request.last == nil && request.offset == 0
        return observe(
            isPlain ? selection(Model.self, request.filter) : nil, key: isPlain ? readingKey(request) : nil
        ) { try $0.fetch(request) }
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
    ) -> Observation<State> { observe(nil, key: nil, question) }

    /// What a fetch selects.
    private func selection<Model: CoreModel>(_ type: Model.Type, _ filter: Filter<Model>) -> Interest.Selection? {
        let registry = registry
        guard let plan = try? registry.plan(of: type) else { return nil }
        return try? Interest.Selection(plan, registry) { try filter.predicate(plan, registry) }
    }

    /// What tells a fetch from others; nil for one that cannot be put into words.
    private func readingKey<Model: CoreModel>(_ request: ModelRequest<Model>) -> ReadingKey? {
        guard let plan = try? registry.plan(of: Model.self),
            let selection = try? StructFetcher<Model>(plan: plan, registry: registry).selection(request)
        else { return nil }
        return ReadingKey(model: ObjectIdentifier(Model.self), selection)
    }

    private func observe<State: Sendable>(
        _ selection: Interest.Selection?, key: ReadingKey?, _ question: @escaping @Sendable (ReadAccess) throws -> State
    ) -> Observation<State> {
        let container = container
        let signals = saveSignals
        let reading = key.map { sharedReadings.reading($0, of: Asked<State>.self) }
        let ask: @Sendable () async throws -> Asked<State> = {
            try await self.asking { store in
                let state = try question(store)
                return Asked(state: state, entities: try store.access.entities())
            }
        }
        return Observation(
            makeInterest: { Interest(selection) },
            signals: { signals.stream(of: container, for: $0) },
            state: { interest in
                do {
                    let asked =
                        if let reading {
                            try await reading.state(after: { signals.count }, isFirst: interest.isNew, ask)
                        } else {
                            try await ask()
                        }
                    // What is asked for is known when the block has run; until then every save counts.
                    interest.ask(for: asked.entities)
                    return asked.state
                } catch  where self.isStartingOver.withLock({ $0 }) {
                    throw ObservationPause()
                }
            },
            isSame: { areEqual($0, $1) })
    }
}

/// What a block answered, and the entities that it asked for.
private struct Asked<State: Sendable>: Sendable {
    let state: State
    let entities: Set<String>
}
