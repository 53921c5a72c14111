import CoreDataModel
import Foundation
import StoreEngine
import Synchronization

/// Work that reads stores and saves changes based on what it read, as if the stores had no other users: when it saves,
/// everything that it has read is still current, or it gets an error.
///
/// It blocks no other thread or program. Stores count all saves to them; each reading and the save check that there
/// were none since the first reading. So the work never sees two states of the stores, either. Work that has been
/// disturbed too often can keep others from saving while it runs: ``lockOutWriters()``.
package final class OptimisticTransaction: Sendable {
    /// The transaction that the current code belongs to.
    @TaskLocal package static var current: OptimisticTransaction?

    private let session: StoreSession
    /// The transaction that contains this one, for a write within a write.
    private let outer: OptimisticTransaction?
    /// Whether the work only reads, so that a save of its own disturbs it as others' do.
    private let isReading: Bool
    private let state = Mutex(State())

    private struct State {
        /// The state of the stores at the first reading; `nil` before that.
        var moment: StoresMoment?
        var isBroken = false
        var hasSaved = false
    }

    /// Begins a transaction that has not read anything yet.
    package init(_ session: StoreSession, isReading: Bool = false) {
        (self.session, self.isReading) = (session, isReading)
        outer = Self.current
    }

    /// Whether there was another save since the first reading. The values read are then useless, and nothing can be
    /// saved.
    package var isBroken: Bool { state.withLock { $0.isBroken } }

    /// Whether anything was read.
    package var hasRead: Bool { state.withLock { $0.moment != nil } }

    /// Whether something was saved during the transaction, which stays saved.
    package var hasSaved: Bool { state.withLock { $0.hasSaved } }

    /// The error of a broken transaction.
    package static func conflict(_ url: URL?) -> NSError {
        StoreError.make(
            CoreDataErrorCode.managedObjectMerge,
            "Somebody else has saved to the store\(url.map { " “\($0.lastPathComponent)”" } ?? "") since it was first read here, so "
                + "what was read may not be so any more.", url: url, suggestion: "Read again, and decide anew.")
    }

    /// Keeps others from saving until the transaction has saved or ends: `BEGIN IMMEDIATE`. Others of the same session
    /// can still save, which breaks the transaction.
    ///
    /// - Throws: 134090 if others keep a store locked for longer than its timeout.
    package func lockOutWriters() throws {
        try session.withLock {
            for store in session.stores where !store.isReadOnly { try store.engine.sharing?.lockOutWriters() }
        }
    }

    /// Keeps others from saving, as ``lockOutWriters()`` does, unless that takes waiting: for another thread of this
    /// program that has the stores, for another program, or for a server.
    ///
    /// - Returns: whether others are kept out: never where there are several stores.
    /// - Throws: the errors of the store.
    package func lockOutWritersUnlessBusy() throws -> Bool {
        try session.withLockIfFree {
            guard session.stores.count == 1, let engine = session.stores[0].engine.sharing else { return false }
            return try engine.lockOutWritersUnlessBusy()
        } ?? false
    }

    /// Lets others save again.
    package func end() {
        session.withLock {
            for store in session.stores { store.engine.sharing?.readmitWriters() }
        }
    }

    // MARK: For the session

    /// Runs a reading, and checks that the stores are in the state of the first one.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try session.withLock {
            // Within one state of the store, there can be no save in between.
            let read = try session.readingOneState {
                try settle()
                return try body()
            }
            if let read { return read }
            let moment = try moment()
            let result = try body()
            try check(moment)
            return result
        }
    }

    /// Checks that the stores are in the state of the first reading, or records their state.
    private func settle() throws {
        guard let moment = state.withLock({ $0.moment }) else { return _ = try moment() }
        if isBroken { throw broken() }
        try check(moment)
    }

    /// Runs a save. The stores check again that their state has not changed.
    func saving<Result>(to stores: [SessionStore], _ body: () throws -> Result) throws -> Result {
        let known = state.withLock { $0 }
        if known.isBroken { throw broken() }
        guard let moment = known.moment else { return try body() }
        // A store that is written to checks its own count, in the transaction that writes.
        let areAllWritten = session.stores.allSatisfy { store in stores.contains { $0 === store } }
        if !areAllWritten { try check(moment) } else if session.generation != moment.saves { throw broken() }
        for store in stores { store.engine.sharing?.expectedChanges = moment.changes[store.identity.number] }
        defer { for store in stores { store.engine.sharing?.expectedChanges = nil } }
        do { return try body() } catch is UnexpectedChange { throw broken() }
    }

    /// Begins a preview of the only store, in the state of the first reading.
    ///
    /// - Throws: the error of a broken transaction, and those of the closure.
    func beginningPreview(of store: SessionStore, _ begin: () throws -> Void) throws {
        let moment = try moment()
        if session.generation != moment.saves { throw broken() }
        store.engine.sharing?.expectedChanges = moment.changes[store.identity.number]
        defer { store.engine.sharing?.expectedChanges = nil }
        do { try begin() } catch is UnexpectedChange { throw broken() }
    }

    /// Notes that nothing can be saved any more, so that the work is done again.
    ///
    /// - Returns: the error of a broken transaction.
    package func breakOff() -> NSError { broken() }

    /// Runs code that reserves keys for objects that are saved later.
    package func handingOut<Result>(_ body: () throws -> Result) rethrows -> Result {
        try session.working(in: self, body)
    }

    /// Records a save of the current code, so that it does not count as another's save in the transactions that contain
    /// it.
    static func noteSave(
        in transaction: OptimisticTransaction?, to session: StoreSession, _ former: UInt32,
        _ now: UInt32
    ) {
        var next = transaction ?? current
        while let one = next {
            one.state.withLock { state in
                state.hasSaved = true
                if one.session === session, !one.isReading, state.moment?.saves == former {
                    state.moment?.saves = now
                }
            }
            next = one.outer
        }
    }

    /// The state of the stores that the transaction reads: that of the first reading, or the present one if there was
    /// none yet.
    ///
    /// - Throws: an `NSError` for a broken transaction, and the errors of the stores.
    package func firstMoment() throws -> StoresMoment { try session.withLock { try moment() } }

    private func moment() throws -> StoresMoment {
        let known = state.withLock { $0 }
        if known.isBroken { throw broken() }
        if let moment = known.moment { return moment }
        let moment = try session.moment()
        state.withLock { $0.moment = moment }
        return moment
    }

    private func check(_ moment: StoresMoment) throws {
        guard try session.moment() == moment else { throw broken() }
    }

    private func broken() -> NSError {
        state.withLock { $0.isBroken = true }
        return Self.conflict(session.stores.first?.url)
    }
}

/// The counts of saves to a session's stores. Equal counts mean the same state of the stores.
package struct StoresMoment: Equatable, Sendable {
    /// By contexts of the session.
    var saves: UInt32
    /// By others: each store's own count, by the store's number.
    let changes: [Int: Int64]
}

extension StoreSession {
    /// Whether there are stores, and reading any of them does not block. For use under the lock.
    package var readsWithoutWaiting: Bool {
        !stores.isEmpty
            && stores.allSatisfy { $0.engine.sharing?.readsWithoutWaiting ?? ($0.type == NSInMemoryStoreType) }
    }

    /// For use under the lock.
    fileprivate func moment() throws -> StoresMoment {
        var changes: [Int: Int64] = [:]
        for store in stores { changes[store.identity.number] = try store.engine.sharing?.changeCount() ?? 0 }
        return StoresMoment(saves: generation, changes: changes)
    }

    /// The rows that differ between two states of the stores, if only recent saves of few rows by this session lie
    /// between them.
    ///
    /// - Parameters:
    ///   - former: the earlier state.
    ///   - now: the later one.
    /// - Returns: the rows; nil if they are unknown. The first call turns the log on.
    package func rowsSaved(between former: StoresMoment, and now: StoresMoment) -> SavedRowIDs? {
        withLock {
            let rows = saveLog.rows(after: former.saves, through: now.saves)
            return former.changes == now.changes ? rows : nil
        }
    }

    /// Runs a request's work in a transaction.
    package func working<Result>(in transaction: OptimisticTransaction?, _ body: () throws -> Result) rethrows -> Result
    {
        guard let transaction else { return try body() }
        return try withState {
            let former = activeTransaction
            activeTransaction = transaction
            defer { activeTransaction = former }
            return try body()
        }
    }

    /// Runs code that writes to stores, and counts it as a save. For use under the lock.
    ///
    /// - Returns: the closure's result, and the number of the save.
    func writing<Result>(
        to stores: [SessionStore], in transaction: OptimisticTransaction?, _ body: () throws -> Result
    ) throws -> (Result, generation: UInt32) {
        let former = generation
        let result = if let transaction { try transaction.saving(to: stores, body) } else { try body() }
        let now = saveCount.add(1, ordering: .acquiringAndReleasing).newValue
        OptimisticTransaction.noteSave(in: transaction, to: self, former, now)
        return (result, now)
    }
}
