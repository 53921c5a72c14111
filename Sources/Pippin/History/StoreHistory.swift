import StoreSession

extension PersistenceManager {
    /// The history of the store, if it keeps one (`keepsHistory` of its location).
    ///
    /// ```swift
    /// for try await transaction in manager.history.changes(after: token) {
    ///     for change in try transaction.changes(of: Book.self) {
    ///         switch change.kind {
    ///         case .inserted, .changed: index.update(change.id)
    ///         case .deleted: index.remove(change.id)
    ///         }
    ///     }
    ///     token = transaction.token
    /// }
    /// ```
    public var history: StoreHistory { StoreHistory(manager: self) }
}

/// The history of a store: what was saved, in order, by whichever program.
public struct StoreHistory: Sendable {
    let manager: PersistenceManager

    /// The place after the latest transaction. What is saved from now on comes after it.
    ///
    /// - Returns: the place.
    /// - Throws: ``PersistenceError`` with `noHistory` for a store without a history, and what `load()` throws if the
    ///   store was not open yet.
    /// - SQL: `SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16002`
    public func latest() async throws -> HistoryToken {
        try await reading { session in
            let (store, number) = try session.latestTransaction()
            return HistoryToken(store: store, number: number)
        }
    }

    /// The transactions after a place.
    ///
    /// - Parameters:
    ///   - token: the place; nil for the beginning of what is kept.
    ///   - limit: how many at most; all of them without one.
    /// - Returns: the transactions, in order.
    /// - Throws: ``PersistenceError`` with `noHistory` for a store without a history, `historyExpired` if transactions
    ///   after the place were deleted, or it is of another store or a later state of it, and what `load()` throws if
    ///   the store was not open yet.
    /// - SQL: `SELECT … FROM ACHANGE c JOIN ATRANSACTION t ON t.Z_PK = c.ZTRANSACTIONID WHERE t.Z_PK > ? ORDER BY …`
    public func transactions(after token: HistoryToken? = nil, limit: Int? = nil) async throws -> [HistoryTransaction] {
        try await reading { try read($0, after: token, limit ?? .max) }
    }

    /// The transactions after a place: those that are there, and then each one that is saved, by this program or
    /// another one.
    ///
    /// - Parameter token: the place; nil for the beginning of what is kept.
    /// - Returns: the transactions, for `for try await`. The sequence ends with the task that reads it, or with the
    ///   errors of ``transactions(after:limit:)``.
    public func changes(after token: HistoryToken? = nil) -> AsyncThrowingStream<HistoryTransaction, any Error> {
        let session = manager.session
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = session.changes.add { _ in signal.yield() }
        let next = NextTransactions(history: self, token: token, signals: signals) {
            session.changes.remove(number)
            signal.finish()
        }
        return AsyncThrowingStream { try await next.next() }
    }

    /// Deletes the transactions before a date. Places before it are not in the history any more.
    ///
    /// - Parameter date: the date.
    /// - Throws: ``PersistenceError`` with `noHistory` for a store without a history, `saveFailed` if the store cannot
    ///   be written, and what `load()` throws if the store was not open yet.
    /// - SQL: `DELETE FROM ATRANSACTION WHERE ZTIMESTAMP < ?`
    public func delete(before date: Date) async throws {
        try await reading(.saveFailed) { try $0.deleteHistory(before: date.timeIntervalSinceReferenceDate) }
    }

    private func reading<Result: Sendable>(
        _ code: PersistenceError.Code = .readFailed, _ work: @escaping @Sendable (StoreSession) throws -> Result
    ) async throws -> Result {
        try await manager.openIfNeeded()
        return try await manager.offThread {
            do { return try work(manager.session) } catch let error as PersistenceError { throw error } catch {
                guard (error as NSError).code != CoreDataErrorCode.persistentStoreUnsupportedRequestType else {
                    throw PersistenceError.noHistory(error)
                }
                throw PersistenceError.explained(error, code)
            }
        }
    }

    private func read(_ session: StoreSession, after token: HistoryToken?, _ limit: Int) throws -> [HistoryTransaction]
    {
        let (store, latest) = try session.latestTransaction()
        if let token, token.store != store { throw PersistenceError.historyExpired("it is of another store") }
        guard let recorded = try session.transactions(after: token?.number, limit: limit) else {
            let isLater = token.map { $0.number > latest } ?? false
            throw PersistenceError.historyExpired(
                isLater ? "the store was replaced by an older copy" : "transactions after it were deleted")
        }
        let (registry, identifiers) = (
            manager.registry, try HistoryIdentifiers(of: recorded, manager.registry, session)
        )
        return recorded.map { HistoryTransaction(recorded: $0, registry: registry, identifiers: identifiers) }
    }
}

/// The transactions of a history that somebody follows. One task at a time asks for the next one.
private actor NextTransactions {
    private let history: StoreHistory
    private var token: HistoryToken?
    private var signals: AsyncStream<Void>.Iterator
    private var waiting: ArraySlice<HistoryTransaction> = []
    /// How many transactions are read next: more each time, since each reading looks through what comes after it.
    private var portion = NextTransactions.fewest
    private let end: @Sendable () -> Void

    init(
        history: StoreHistory, token: HistoryToken?, signals: AsyncStream<Void>, _ end: @escaping @Sendable () -> Void
    ) {
        (self.history, self.token, self.end) = (history, token, end)
        self.signals = signals.makeAsyncIterator()
    }

    deinit { end() }

    private static let (fewest, most) = (100, 10_000)

    func next() async throws -> HistoryTransaction? {
        while waiting.isEmpty {
            waiting = try await history.transactions(after: token, limit: portion)[...]
            portion = waiting.count < portion ? Self.fewest : min(2 * portion, Self.most)
            if !waiting.isEmpty { break }
            var signals = signals
            let goesOn: Void? = await signals.next(isolation: self)
            self.signals = signals
            if goesOn == nil || Task.isCancelled { return nil }
        }
        let next = waiting.removeFirst()
        token = next.token
        return next
    }
}
