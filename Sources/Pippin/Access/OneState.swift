import StoreSession

// Reading one state of the store.
extension PersistenceManager {
    /// Runs a single query, and repeats it if there is a save while the result is read.
    ///
    /// - Parameters:
    ///   - type: the type of the models that it is about, where the store answers in one statement, which is of one
    ///     state by itself.
    ///   - question: asks what it is given.
    /// - Returns: what the question returns.
    /// - Throws: what the question throws, and what `load()` throws where the store was not open yet.
    func asking<Result: Sendable>(
        oneStatementAbout type: Any.Type? = nil, _ question: @escaping @Sendable (ReadAccess) throws -> Result
    ) async throws -> Result {
        try await openIfNeeded()
        if let type {
            let kind = WorkKind(.question, of: type, result: Result.self)
            if let answer = try answerAtOnce(kind, question) { return answer }
            return try await offThread {
                while true {
                    let closings = try self.closingsWhileOpen()
                    let outcome = Swift.Result {
                        try self.workDurations.timing(kind) {
                            try question(ReadAccess(access: self.access(to: .now)))
                        }
                    }
                    // What a store that is closed meanwhile answers, an error included, is not its answer.
                    if self.hasStayedOpen(since: closings) { return try outcome.get() }
                }
            }
        }
        return try await offThread { try self.reading(isPinned: false) { try question(ReadAccess(access: $0)) } }
    }

    /// The type of a model that is read in one statement, since it leads to no other models; nil for any other.
    func flat<Model: CoreModel>(_ type: Model.Type) -> Any.Type? {
        (try? registry.plan(of: type).relationships.isEmpty) == true ? type : nil
    }

    /// Finds a model on this thread; see `answerAtOnce`.
    ///
    /// - Parameters:
    ///   - id: the identifier.
    ///   - model: set to the model if there is one.
    /// - Returns: whether it was looked for: `false` if that would have to wait, and for models that may nest as
    ///   deep as the store.
    /// - Throws: what reading throws, as a ``PersistenceError``.
    func findAtOnce<Model: CoreModel>(_ id: Model.ID, _ model: inout Model?) throws -> Bool {
        let fetcher = StructFetcher<Model>(plan: try registry.plan(of: Model.self), registry: registry)
        let isFlat = fetcher.plan.relationships.isEmpty
        guard isFlat || registry.isTree(fetcher.plan) else { return false }
        return try answerAtOnce { rows in
            // One statement sees one state in any case.
            if isFlat {
                model = try fetcher.model(id, rows)
                return true
            }
            return try rows.session.readingOneState { model = try fetcher.model(id, rows) } != nil
        }
    }

    /// Whether there is a model with an identifier, asked on this thread; nil if that would have to wait.
    func existsAtOnce<Model: CoreModel>(_ type: Model.Type, id: Model.ID) throws -> Bool? {
        let plan = try registry.plan(of: type)
        let kind = plan.record.attributeKinds[plan.uidField]
        guard let identifier = StoredValue(try Model.recordKey(of: id), of: kind) else { return nil }
        var isThere = false
        let isKnown = try answerAtOnce { rows in
            guard rows.isSetSource else { return false }
            isThere = try rows.has(identifier, plan)
            return true
        }
        return isKnown ? isThere : nil
    }

    /// Asks a question of one statement on this thread; nil where it would have to wait, or where such questions
    /// take long.
    private func answerAtOnce<Result>(
        _ kind: WorkKind, _ question: (ReadAccess) throws -> Result
    ) throws -> Result? {
        guard workDurations.areShort(kind) else { return nil }
        var answer: Result?
        _ = try answerAtOnce { _ in
            answer = try workDurations.timing(kind) { try question(ReadAccess(access: access(to: .now))) }
            return true
        }
        return answer
    }

    /// Asks rows on this thread, which takes less time than going to another thread and back. Tasks share the
    /// thread: it waits neither for other threads that have the stores, nor for a server, nor for the lock of
    /// another program that writes to a file without a write-ahead log.
    ///
    /// - Parameter ask: asks the rows as they are now, and says whether they could answer. The caller keeps the
    ///   result in a variable of its own: a generic result's type would be looked up at each call, which took a
    ///   sixth of the time.
    /// - Returns: whether there is an answer.
    /// - Throws: what asking throws, as a ``PersistenceError``.
    private func answerAtOnce(_ ask: (StoreRows) throws -> Bool) throws -> Bool {
        guard ThreadSharing.allowsWork else { return false }
        return try session.withLockIfFree {
            guard session.readsWithoutWaiting else { return false }
            return try PersistenceError.explaining(.readFailed) { try ask(storeRows) }
        } ?? false
    }

    /// Runs work on one state of the store. A state is kept while others save, if `isPinned` and the store can keep
    /// one; otherwise the work runs again.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    func reading<Result>(isPinned: Bool, _ work: (ModelAccess) throws -> Result) throws -> Result {
        let before = lifecycle.withLock { $0.closings }
        if isPinned, let scope = try session.pinnedScope(Cancellation.current) {
            let outcome = Swift.Result {
                let result = try work(access(to: scope))
                try PersistenceError.explaining(.readFailed) { try scope.check(session) }
                return result
            }
            // If the store was destroyed meanwhile, that is the error.
            if case .failure = outcome, !hasStayedOpen(since: before) { _ = try closingsWhileOpen() }
            return try outcome.get()
        }
        var attempt = 0
        while true {
            attempt += 1
            let closings = try closingsWhileOpen()
            let transaction = OptimisticTransaction(session, isReading: true)
            let access = access(to: .transaction(transaction))
            func run() throws -> Result {
                guard isPinned else { return try work(access) }
                return try OptimisticTransaction.$current.withValue(transaction) { try work(access) }
            }
            // One at a time with the manager's own writes, if trying again does not help.
            let outcome = Swift.Result {
                try attempt < WriteAttempts.limit ? run() : writes.sync { try writes.entering(run) }
            }
            // Without a store, nothing is found.
            guard transaction.isBroken || !hasStayedOpen(since: closings) else { return try outcome.get() }
            // The block's own saves must not be repeated.
            if transaction.hasSaved || attempt >= 2 * WriteAttempts.limit {
                let url = session.openStores.first?.url
                throw PersistenceError.explained(OptimisticTransaction.conflict(url), .conflict)
            }
            WriteAttempts.pause(after: attempt)
        }
    }

    private func access(to scope: ReadScope) -> ModelAccess {
        ModelAccess(self, storeRows.reading(scope))
    }
}
