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
        observe { try $0.fetch(type, where: filter, sortedBy: order, after: last, limit: limit, offset: offset) }
    }

    /// The models that a request describes: now, and again after each save that changed them.
    ///
    /// - Parameter request: the request.
    /// - Returns: the states, for `for try await`.
    public func observe<Model: CoreModel>(_ request: ModelRequest<Model>) -> Observation<[Model]> {
        observe { try $0.fetch(request) }
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
    ) -> Observation<State> {
        let container = container
        // What the block asks for is known when it has run; until then every save counts.
        let entities = Locked<Set<String>?>(nil)
        return Observation(
            signals: { SaveSignals.stream(of: container) { entities.withLock { $0 } } },
            state: {
                do {
                    return try await self.asking { store in
                        defer { entities.withLock { $0 = ($0 ?? []).union(store.access.entities) } }
                        return try question(store)
                    }
                } catch  where self.isStartingOver.withLock({ $0 }) {
                    throw ObservationPause()
                }
            },
            isSame: { areEqual($0, $1) })
    }
}
