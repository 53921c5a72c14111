import StoreSession

extension PersistenceManager {
    /// Runs a block that reads. Everything that it asks is answered from one state of the store, whatever others save
    /// meanwhile.
    ///
    /// ```swift
    /// let (books, worth) = try await manager.read { store in
    ///     (try store.fetch(Book.self), try store.sum(Book.self, \.price))
    /// }
    /// ```
    ///
    /// The block does not block others. A store that cannot keep a state (one in memory, a file without a write-ahead
    /// log) makes the block run again if there is a save while it runs, so the block should do nothing that must not
    /// happen twice. A block that saves something itself does not see it, and cannot ask such a store anything after
    /// it.
    ///
    /// - Parameter work: asks the access that it is given. It runs off the calling thread.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws, what `load()` throws if the store was not open yet,
    ///   ``PersistenceError/Code/conflict`` for a question after the block's own save, and
    ///   ``PersistenceError/Code/readFailed`` where the store was destroyed meanwhile.
    public func read<Result: Sendable>(
        _ work: @escaping @Sendable (ReadAccess) throws -> Result
    ) async throws -> Result { try await offThread { try self.readAndWait(work) } }

    /// Runs a block that reads, as ``read(_:)`` does, and waits for it. It is for programs without concurrency.
    ///
    /// - Parameter work: asks the access that it is given.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws, and what `load()` throws if the store was not open yet.
    public func readAndWait<Result>(_ work: (ReadAccess) throws -> Result) throws -> Result {
        try openIfNeeded()
        return try reading(isPinned: true) { access in
            defer { access.end() }
            return try work(ReadAccess(access: access))
        }
    }

    /// Runs a block that changes things, and saves all of its changes, or none if it throws.
    ///
    /// ```swift
    /// try await manager.write { store in
    ///     guard var book = try store.find(Book.self, id: "emma") else { return }
    ///     book.price *= 2
    ///     try store.save(book)
    /// }
    /// ```
    ///
    /// The block is a transaction: everything that it reads is of one state of the store, and that state is still
    /// current when the block is saved, even with other writers in this program or another one. It locks out no
    /// others. If there is another save to the store while it runs, **the block runs again**, on the new state. So it
    /// should only read and change what it is given, and do nothing that must not happen twice. `onConflict: .fail`
    /// throws instead. A block that has run several times makes other programs wait until it is done. After 16
    /// attempts, the conflict is thrown.
    ///
    /// - Parameters:
    ///   - onConflict: what to do if others have saved in between.
    ///   - work: asks and changes what it is given. It runs off the calling thread, one at a time with the manager's
    ///     other writes.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws, and ``PersistenceError``: ``PersistenceError/Code/conflict`` for a conflict
    ///   that running the block again must not or cannot settle, ``PersistenceError/Code/invalid``,
    ///   ``PersistenceError/Code/saveFailed``; and what `load()` throws if the store was not open yet. Nothing is saved
    ///   then.
    @discardableResult
    public func write<Result: Sendable>(
        onConflict: WriteConflictPolicy = .retry, _ work: @escaping @Sendable (WriteAccess) throws -> Result
    ) async throws -> Result {
        try await inSavedTransaction(onConflict) { try self.writing(in: $0, work) }
    }

    /// Runs a block that changes things, and saves its changes, as ``write(onConflict:_:)`` does, and waits for it. It
    /// is for programs without concurrency.
    ///
    /// - Parameters:
    ///   - onConflict: what to do if others have saved in between. By default the block runs again.
    ///   - work: asks and changes what it is given.
    /// - Returns: what the block returns.
    /// - Throws: what ``write(onConflict:_:)`` throws.
    @discardableResult
    public func writeAndWait<Result>(
        onConflict: WriteConflictPolicy = .retry, _ work: (WriteAccess) throws -> Result
    ) throws -> Result {
        try inSavedTransaction(onConflict) { try writing(in: $0, work) }
    }

    /// Changes a few models, as a verb of one line does.
    ///
    /// - Parameters:
    ///   - count: how many models there are. A large number is taken to a thread of its own, and so are models that
    ///     lead to many others.
    ///   - type: the models' type.
    ///   - work: changes what it is given.
    /// - Returns: what the work returns.
    /// - Throws: what ``write(onConflict:_:)`` throws.
    func changing<Result: Sendable>(
        _ count: Int, of type: Any.Type, _ work: @escaping @Sendable (WriteAccess) throws -> Result
    ) async throws -> Result {
        guard count <= Self.few else { return try await write(work) }
        return try await inBriefTransaction(WorkKind(.change, of: type, result: Result.self)) { turn, isBrief in
            try self.writing(in: turn, limit: isBrief ? Self.few : nil, work)
        }
    }

    /// The most models that are saved on the thread of their task.
    private static var few: Int { 100 }

    private func writing<Result>(
        in turn: WriteTurn, limit: Int? = nil, _ work: (WriteAccess) throws -> Result
    ) throws -> Result {
        try changing(in: turn) { access in
            access.limit = limit
            return try work(WriteAccess(access: access))
        }
    }

    /// Runs a block that changes things, and hands its changes to the store.
    func changing<Result>(in turn: WriteTurn, _ work: (ModelAccess) throws -> Result) throws -> Result {
        let access = ModelAccess(self, turn)
        defer { access.end() }
        let result = try work(access)
        try access.finish()
        return result
    }
}
