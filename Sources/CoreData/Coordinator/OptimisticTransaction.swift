import Foundation
import Synchronization

/// Work that reads stores, and saves what it decided by that, as if nobody else were at work: what it has read is still so when
/// it saves, or it is told that it is not.
///
/// Nobody waits for it. Stores count what is saved to them, by whomever; each reading and the save make sure that nothing was
/// since the first reading. So the work never sees two states of the stores, either. Work that has met others too often can keep
/// them from saving while it runs: ``keepOthersOut()``.
package final class OptimisticTransaction: Sendable {
    /// The transaction that the current code is a part of.
    @TaskLocal package static var current: OptimisticTransaction?

    private let coordinator: NSPersistentStoreCoordinator
    /// What this one is a part of: a write within a write.
    private let outer: OptimisticTransaction?
    private let state = Mutex(State())

    private struct State {
        /// When it first read; `nil` before that.
        var moment: StoresMoment?
        var isBroken = false
        var hasSaved = false
    }

    /// Begins: nothing is read yet.
    package init(_ coordinator: NSPersistentStoreCoordinator) {
        self.coordinator = coordinator
        outer = Self.current
    }

    /// Whether somebody else has saved since the first reading. What was read is of no more use then, and nothing can be saved.
    package var isBroken: Bool { state.withLock { $0.isBroken } }

    /// Whether anything was read.
    package var hasRead: Bool { state.withLock { $0.moment != nil } }

    /// Whether something was saved on the way, which stays.
    package var hasSaved: Bool { state.withLock { $0.hasSaved } }

    /// The error of a transaction that is broken.
    package static func conflict(_ url: URL?) -> NSError {
        StoreError.make(
            CoreDataErrorCode.managedObjectMerge,
            "Somebody else has saved to the store\(url.map { " “\($0.lastPathComponent)”" } ?? "") since it was first read here, so "
                + "what was read may not be so any more.", url: url, suggestion: "Read again, and decide anew.")
    }

    /// Keeps others from saving until the transaction has saved, or ends: `BEGIN IMMEDIATE`. Contexts of the same coordinator still
    /// can, which breaks the transaction.
    ///
    /// - Throws: 134090 when others keep a store locked for longer than its timeout.
    package func keepOthersOut() throws {
        try coordinator.withLock {
            for store in coordinator.stores where !store.isReadOnly { try store.engine.sharing?.keepOthersOut() }
        }
    }

    /// Keeps others from saving, as ``keepOthersOut()`` does, unless that takes waiting: for another thread of this program that has the stores,
    /// for another program, or for a server.
    ///
    /// - Returns: whether others are kept out: never where there are several stores.
    /// - Throws: the errors of the store.
    package func keepOthersOutUnlessBusy() throws -> Bool {
        try coordinator.withLockIfFree {
            guard coordinator.stores.count == 1, let engine = coordinator.stores[0].engine.sharing else { return false }
            return try engine.keepOthersOutUnlessBusy()
        } ?? false
    }

    /// Lets others save again.
    package func end() {
        coordinator.withLock {
            for store in coordinator.stores { store.engine.sharing?.letOthersIn() }
        }
    }

    // MARK: For the coordinator

    /// Runs a reading, and makes sure that it found the stores as the first one did.
    package func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try coordinator.withLock {
            // In one state of the store, nothing can come in between.
            let read = try coordinator.readingOneState {
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

    /// Makes sure that the stores are as they were at the first reading, or notes how they are.
    private func settle() throws {
        guard let moment = state.withLock({ $0.moment }) else { return _ = try moment() }
        if isBroken { throw broken() }
        try check(moment)
    }

    /// Runs a save, in which stores make sure once more that they are as they were.
    func saving<Result>(to stores: [NSPersistentStore], _ body: () throws -> Result) throws -> Result {
        let known = state.withLock { $0 }
        if known.isBroken { throw broken() }
        guard let moment = known.moment else { return try body() }
        // A store that is written to looks at what it counts by itself, in the transaction that writes.
        let areAllWritten = coordinator.stores.allSatisfy { store in stores.contains { $0 === store } }
        if !areAllWritten { try check(moment) } else if coordinator.generation != moment.saves { throw broken() }
        for store in stores { store.engine.sharing?.expectedChanges = moment.changes[store.identity.number] }
        defer { for store in stores { store.engine.sharing?.expectedChanges = nil } }
        do { return try body() } catch is UnexpectedChange { throw broken() }
    }

    /// Runs what hands out keys for objects that are saved later.
    func handingOut<Result>(_ body: () throws -> Result) rethrows -> Result {
        try coordinator.working(in: self, body)
    }

    /// Notes that something was saved by the current code: that is no other's save to the transactions that it is a part of.
    static func noteSave(
        in transaction: OptimisticTransaction?, to coordinator: NSPersistentStoreCoordinator, _ former: UInt32,
        _ now: UInt32
    ) {
        var next = transaction ?? current
        while let one = next {
            one.state.withLock { state in
                state.hasSaved = true
                if one.coordinator === coordinator, state.moment?.saves == former { state.moment?.saves = now }
            }
            next = one.outer
        }
    }

    /// The state of the stores that is read: the one of the first reading, which is now where nothing was read.
    ///
    /// - Throws: an `NSError` for a transaction that is broken, and the errors of the stores.
    package func firstMoment() throws -> StoresMoment { try coordinator.withLock { try moment() } }

    private func moment() throws -> StoresMoment {
        let known = state.withLock { $0 }
        if known.isBroken { throw broken() }
        if let moment = known.moment { return moment }
        let moment = try coordinator.moment()
        state.withLock { $0.moment = moment }
        return moment
    }

    private func check(_ moment: StoresMoment) throws {
        guard try coordinator.moment() == moment else { throw broken() }
    }

    private func broken() -> NSError {
        state.withLock { $0.isBroken = true }
        return Self.conflict(coordinator.stores.first?.url)
    }
}

/// How often a coordinator's stores had been saved to: two equal ones are one state of the stores.
package struct StoresMoment: Equatable, Sendable {
    /// By contexts of the coordinator.
    var saves: UInt32
    /// By everybody else: what each store counts, by its number.
    let changes: [Int: Int64]
}

extension NSPersistentStoreCoordinator {
    /// For use under the lock.
    fileprivate func moment() throws -> StoresMoment {
        var changes: [Int: Int64] = [:]
        for store in stores { changes[store.identity.number] = try store.engine.sharing?.changeCount() ?? 0 }
        return StoresMoment(saves: generation, changes: changes)
    }

    /// The rows that differ between two states of the stores, where contexts of the coordinator made the difference, in saves of few rows
    /// that are not long ago.
    ///
    /// - Parameters:
    ///   - former: the earlier state.
    ///   - now: the later one.
    /// - Returns: the rows; nil where that is not known. The first question turns the log on.
    package func rowsSaved(between former: StoresMoment, and now: StoresMoment) -> SavedRowIDs? {
        withLock {
            let rows = saveLog.rows(after: former.saves, through: now.saves)
            return former.changes == now.changes ? rows : nil
        }
    }

    /// Runs a request's work as a part of a transaction.
    func working<Result>(in transaction: OptimisticTransaction?, _ body: () throws -> Result) rethrows -> Result {
        guard let transaction else { return try body() }
        return try withLock {
            let former = activeTransaction
            activeTransaction = transaction
            defer { activeTransaction = former }
            return try body()
        }
    }

    /// Runs what writes to stores, and counts it. For use under the lock.
    ///
    /// - Returns: what the closure returns, and the number of the save.
    func writing<Result>(
        to stores: [NSPersistentStore], in transaction: OptimisticTransaction?, _ body: () throws -> Result
    ) throws -> (Result, generation: UInt32) {
        let former = generation
        let result = if let transaction { try transaction.saving(to: stores, body) } else { try body() }
        let now = saveCount.add(1, ordering: .acquiringAndReleasing).newValue
        OptimisticTransaction.noteSave(in: transaction, to: self, former, now)
        return (result, now)
    }
}
