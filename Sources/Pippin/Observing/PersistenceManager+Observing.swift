import StoreSession

extension PersistenceManager {
    /// The models that a filter selects: now, and again after each save that changes them, whichever context, manager
    /// or process saves.
    ///
    /// ```swift
    /// for try await books in manager.observe(Book.self, where: \.price < 20) { show(books) }
    /// ```
    ///
    /// States that equal the one before are skipped. The sequence ends when its task is cancelled, or with an error
    /// when the store is removed.
    ///
    /// A list whose models are filtered and sorted by their own values is read once; after a save of this manager, only
    /// the saved models are read. Changes by other programs and batch requests, and changes of models within the
    /// models, make it read the whole list again.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    ///   - order: the order; without one, the order is arbitrary.
    ///   - last: the model after which to begin.
    ///   - limit: how many at most; all of them without one.
    ///   - offset: how many to skip.
    /// - Returns: the states, for `for try await`.
    public func observe<Model: CoreModel>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy order: Order<Model> = [],
        after last: Model? = nil, limit: Int? = nil, offset: Int = 0
    ) -> LiveQuery<[Model]> {
        var request = ModelRequest(type)
        (request.filter, request.order, request.last, request.limit, request.offset) = (
            filter, order, last, limit, offset
        )
        return observe(request)
    }

    /// The models that a request describes: now, and again after each save that changes them.
    ///
    /// - Parameter request: the request.
    /// - Returns: the states, for `for try await`.
    public func observe<Model: CoreModel>(_ request: ModelRequest<Model>) -> LiveQuery<[Model]> {
        // A change before the place to begin at affects the result as well.
        guard request.last == nil, request.cursor == nil, request.offset == 0,
            let selection = selection(Model.self, request.filter),
            let key = readingKey(request)
        else { return observe { try $0.fetch(request) } }
        let isPlain = selection.isPlainFilter && !selection.isWithinItself
        return liveQuery(selection, key) { store, former in
            let list = try store.access.list(request, isPlain: isPlain, since: former?.kept as? ReadList<Model>)
            let mark = list.edit?.isEmpty ?? false ? former?.reading.mark : nil
            var reading = Reading(state: list.models, mark: mark ?? ReadingMark(), keys: list.keys)
            if let former, let edit = list.edit { reading.step = (former.reading.mark, edit) }
            return Asked(reading: reading, kept: list)
        }
    }

    /// The model with an identifier: now, and again after each save that changes it; `nil` while there is none.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - id: the identifier.
    /// - Returns: the states, for `for try await`.
    public func observe<Model: CoreModel>(_ type: Model.Type, id: Model.ID) -> LiveQuery<Model?> {
        observe { try $0.find(type, id: id) }
    }

    /// The models whose texts have what a person looks for, best first: now, and again after each save that changes
    /// models of the type.
    ///
    /// ```swift
    /// for try await hits in manager.observe(Book.self, searching: "whale*", limit: 20) { show(hits) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type, whose schema says what is searched (`SchemaRule.searchable`).
    ///   - text: what to look for, as people type it: ``ModelReader/fetch(_:searching:where:limit:)``.
    ///   - filter: what must hold besides.
    ///   - limit: how many models at most; all of them without one.
    /// - Returns: the states, for `for try await`. States of an `Equatable` type that equal the one before are skipped.
    /// - SQL: `SELECT rowid, rank FROM PIPPIN_SEARCH_<ENTITY> WHERE … MATCH ? ORDER BY rank LIMIT <limit>`
    public func observe<Model: CoreModel>(
        _ type: Model.Type, searching text: String, where filter: Filter<Model> = .all, limit: Int? = nil
    ) -> LiveQuery<[SearchHit<Model>]> {
        observe { try $0.search(type, for: text, where: filter, limit: limit) }
    }

    /// The answer to any question that a block asks: now, and again after each save that touches what it asked for.
    ///
    /// ```swift
    /// let shelves = manager.observe { store in
    ///     (count: try store.count(Book.self), worth: try store.sum(Book.self, \.price))
    /// }
    /// for try await shelf in shelves { show(shelf) }
    /// ```
    ///
    /// - Parameter question: asks the access that it is given, on one state of the store. It runs off the calling
    ///   thread.
    /// - Returns: the states, for `for try await`; those of an `Equatable` type that equal the one before are skipped.
    public func observe<State: Sendable>(
        _ question: @escaping @Sendable (ReadAccess) throws -> State
    ) -> LiveQuery<State> {
        liveQuery(nil, nil) { store, _ in Asked(reading: Reading(state: try question(store), mark: ReadingMark())) }
    }

    /// What a fetch selects.
    private func selection<Model: CoreModel>(_ type: Model.Type, _ filter: Filter<Model>) -> Interest.Selection? {
        let registry = registry
        guard let plan = try? registry.plan(of: type) else { return nil }
        return try? Interest.Selection(plan, registry) { try filter.predicate(plan, registry) }
    }

    /// The key that distinguishes a fetch from others; nil for one that has no description in text.
    private func readingKey<Model: CoreModel>(_ request: ModelRequest<Model>) -> ReadingKey? {
        guard let plan = try? registry.plan(of: Model.self),
            let selection = try? StructFetcher<Model>(plan: plan, registry: registry).selection(request)
        else { return nil }
        return ReadingKey(model: ObjectIdentifier(Model.self), selection)
    }

    private func liveQuery<State: Sendable>(
        _ selection: Interest.Selection?, _ key: ReadingKey?,
        _ question: @escaping @Sendable (ReadAccess, _ former: Asked<State>?) throws -> Asked<State>
    ) -> LiveQuery<State> {
        let session = session
        let signals = saveSignals
        let shared = key.map { sharedReadings.reading($0, of: Asked<State>.self) }
        let ask: @Sendable (Asked<State>?) async throws -> Asked<State> = { former in
            try await self.asking { store in
                var asked = try question(store, former)
                asked.entities = try store.access.entities()
                return asked
            }
        }
        return LiveQuery(
            makeInterest: { Interest(selection) },
            signals: { signals.stream(of: session, for: $0) },
            read: { interest in
                do {
                    let asked =
                        if let shared {
                            try await shared.state(after: { signals.count }, isFirst: interest.isNew, ask)
                        } else {
                            try await ask(nil)
                        }
                    // The entities asked for are known once the block has run. Until then every save counts.
                    interest.ask(for: asked.entities)
                    interest.prepare(for: session.modelLayout)
                    return asked.reading
                } catch  where self.lifecycle.withLock({ $0.isStartingOver }) {
                    throw LiveQueryPause()
                }
            })
    }
}

/// The answer to a question, and what is needed to ask again.
private struct Asked<State: Sendable>: Sendable {
    let reading: Reading<State>
    /// The list that was read, from which the next reading continues.
    var kept: (any Sendable)?
    /// The entities that were asked for.
    var entities: Set<String> = []
}

// What one writes first, as `fetch` has it.
extension PersistenceManager {
    /// `observe(_:where:sortedBy:after:limit:offset:)` with ``Filter/matching(_:)``.
    @_disfavoredOverload
    public func observe<Model: CoreModel>(
        _ type: Model.Type, where predicate: Predicate<Model>, sortedBy order: Order<Model> = [],
        after last: Model? = nil, limit: Int? = nil, offset: Int = 0
    ) -> LiveQuery<[Model]> {
        observe(type, where: .matching(predicate), sortedBy: order, after: last, limit: limit, offset: offset)
    }

    /// `observe(_:where:sortedBy:after:limit:offset:)` with ``Order/ascending(_:)``.
    @_disfavoredOverload
    public func observe<Model: CoreModel, Value>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy property: KeyPath<Model, Value>,
        after last: Model? = nil, limit: Int? = nil, offset: Int = 0
    ) -> LiveQuery<[Model]> {
        observe(type, where: filter, sortedBy: .ascending(property), after: last, limit: limit, offset: offset)
    }

    /// `observe(_:where:sortedBy:after:limit:offset:)` with ``Filter/matching(_:)`` and ``Order/ascending(_:)``.
    @_disfavoredOverload
    public func observe<Model: CoreModel, Value>(
        _ type: Model.Type, where predicate: Predicate<Model>, sortedBy property: KeyPath<Model, Value>,
        after last: Model? = nil, limit: Int? = nil, offset: Int = 0
    ) -> LiveQuery<[Model]> {
        observe(
            type, where: .matching(predicate), sortedBy: .ascending(property), after: last, limit: limit,
            offset: offset)
    }
}
