import Dispatch
import Foundation
import Pippin
import StoreSession
import SyncPlanning
import Synchronization

/// Runs a device's state machine: one thing after the other, on a queue of its own.
final class SyncRunner: @unchecked Sendable {
    // @unchecked Sendable: everything that changes is used on `queue` alone, apart from what has a lock of its own.

    private let queue = DispatchQueue(label: "PippinSync")
    let device: SyncDevice
    private let server: SyncServer
    private let report: @Sendable (SyncState, SyncRunner) -> Void

    private var machine: DeviceMachine?
    private var actions: [DeviceAction] = []
    private var isRunning = false
    private var attempt = 0
    /// Distinguishes waits: those that others have ended are over.
    private var wait = 0
    /// Why the last work failed.
    private(set) var failure: (any Error)?

    private let signals = Mutex(Signals())
    private var listeners: [@Sendable () -> Void] = []

    private struct Signals {
        var isSaved = false
        var isWoken = false
        var isScheduled = false
        var isStopped = false
    }

    init(device: SyncDevice, server: SyncServer, report: @escaping @Sendable (SyncState, SyncRunner) -> Void) {
        (self.device, self.server, self.report) = (device, server, report)
    }

    // MARK: From outside

    /// Begins: from now on what either side saves reaches the other.
    func start() {
        let (own, others) = (device.place.session, server.manager.session)
        let numbers = (
            own.saves.add { [weak self] _ in self?.signal(isSave: true) },
            own.changes.add { [weak self] _ in self?.signal(isSave: true) },
            others.changes.add { [weak self] _ in self?.signal(isSave: false) }
        )
        let end: @Sendable () -> Void = {
            own.saves.remove(numbers.0)
            own.changes.remove(numbers.1)
            others.changes.remove(numbers.2)
        }
        queue.async { [self] in
            listeners.append(end)
            begin()
        }
    }

    /// Ends after the step that is running. What is unsent is sent the next time.
    func stop() {
        signals.withLock { $0.isStopped = true }
        queue.sync {
            for end in listeners { end() }
            listeners = []
            machine = nil
            actions = []
        }
    }

    /// Runs until both sides are in step.
    ///
    /// - Throws: ``SyncError`` if that cannot be.
    func finish() throws {
        try queue.sync {
            if signals.withLock({ $0.isStopped }) { return }
            signals.withLock { ($0.isSaved, $0.isWoken) = (false, false) }
            if machine == nil || failure != nil { begin() } else { handle(.wake) }
            handle(.saved)
            if let failure { throw failure }
            if case .isOlderCopy = machine?.state { throw SyncError.olderCopy }
        }
    }

    private func signal(isSave: Bool) {
        let isNew = signals.withLock { signals in
            if isSave { signals.isSaved = true } else { signals.isWoken = true }
            defer { signals.isScheduled = true }
            return !signals.isScheduled && !signals.isStopped
        }
        if isNew { queue.async { [weak self] in self?.takeSignals() } }
    }

    private func takeSignals() {
        let taken = signals.withLock { signals in
            defer { (signals.isSaved, signals.isWoken, signals.isScheduled) = (false, false, false) }
            return signals
        }
        if taken.isStopped { return }
        if taken.isWoken { handle(.wake) }
        if taken.isSaved { handle(.saved) }
    }

    // MARK: Events and actions

    private func begin() {
        do {
            let content = try device.start()
            let mapping = device.place.mapping
            machine = DeviceMachine(
                record: content.record, schemaVersion: mapping.version, schema: mapping.schema,
                firstRequest: (machine?.awaited ?? 0) + 1)
            actions = []
            failure = nil
            handle(.started(content.frozen, hasOpen: true))
        } catch { fail(error) }
    }

    private func handle(_ event: DeviceEvent) {
        guard machine != nil else { return }
        actions += machine?.handle(event, at: Self.reading()) ?? []
        if isRunning { return }
        isRunning = true
        defer { isRunning = false }
        while !actions.isEmpty, !signals.withLock({ $0.isStopped }) { run(actions.removeFirst()) }
    }

    private func run(_ action: DeviceAction) {
        switch action {
        case .send(let id, let request):
            do {
                let answer = try server.answer(request)
                failure = nil
                handle(.answered(id, answer))
            } catch {
                failure = SyncError.offline(error)
                handle(.failed(id))
            }
        case .store(let work):
            do {
                let result = try device.run(work)
                attempt = 0
                handle(.stored(result))
            } catch { fail(error) }
        case .wait(let milliseconds): wait(milliseconds: milliseconds) { $0.handle(.wake) }
        case .report(let state): report(state, self)
        }
    }

    /// Work in the store has failed: the machine begins anew later, with what the store has.
    private func fail(_ error: any Error) {
        failure = error
        actions = []
        attempt += 1
        report(.offline(attempt: attempt), self)
        wait(milliseconds: min(1_000 << Int64(min(attempt - 1, 9)), 300_000)) { $0.begin() }
    }

    private func wait(milliseconds: Int64, _ then: @escaping @Sendable (SyncRunner) -> Void) {
        wait += 1
        let number = wait
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(milliseconds))) { [weak self] in
            guard let self, wait == number, !signals.withLock({ $0.isStopped }) else { return }
            then(self)
        }
    }

    // MARK: Clocks

    /// The identifier of the machine's start.
    private static let boot: String = {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "?"
    }()

    static func reading() -> ClockReading {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        let running = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        return ClockReading(boot: boot, running: running, wall: Int64(Date().timeIntervalSince1970 * 1_000_000))
    }
}

/// The device's side of a sync: carries out in the store what the state machine asks for, each in one transaction.
final class SyncDevice {
    let place: SyncStore
    /// Downloaded rows until all of them are there. They are downloaded anew after a kill.
    private var stage: [PageChange] = []

    init(_ place: SyncStore) { self.place = place }

    /// What the store keeps of its sync, which begins now if it keeps nothing.
    func start() throws -> DeviceContent {
        try place.exclusively { transaction in
            if var content = try place.kept(DeviceContent.self, DeviceContent.key) {
                if content.record.download != nil, stage.isEmpty { content.record.download = nil }
                return content
            }
            let (_, history) = try place.parts()
            if let oldest = try history.oldestKeptTransaction(), oldest > 1, try history.latestTransaction() >= oldest {
                throw SyncError.historyIsTrimmed(place.name)
            }
            let content = DeviceContent(record: DeviceRecord(device: DeviceID(UUID().uuidString)), captured: 0)
            try keep(content, transaction)
            return content
        }
    }

    /// Forgets the server. What is unsent is sent to the next one, as if it was saved without knowing its rows.
    func forget() throws {
        stage = []
        try place.exclusively { transaction in
            guard var content = try place.kept(DeviceContent.self, DeviceContent.key) else { return }
            content.record = DeviceRecord(device: DeviceID(UUID().uuidString))
            content.open = (content.frozen?.request.transactions ?? []) + content.open
            for transaction in content.open.indices {
                for change in content.open[transaction].changes.indices {
                    content.open[transaction].changes[change].base = 0
                    content.open[transaction].changes[change].seen = 0
                }
            }
            (content.frozen, content.acknowledged, content.cursors) = (nil, [], [])
            try keep(content, transaction)
        }
    }

    private func keep(_ content: DeviceContent, _ transaction: OptimisticTransaction) throws {
        try place.write([:], under: DeviceContent.key, contextName: nil, in: transaction) { _ in content }
    }

    /// How many own transactions the server has not decided about, and how many changes are in the journal.
    func counts() throws -> (pending: Int, refused: Int) {
        try place.session.withLock {
            guard let content = try place.kept(DeviceContent.self, DeviceContent.key) else { return (0, 0) }
            let later = try place.parts().history.historyTransactions(after: .transaction(content.captured))
            let own = later.count { SyncMark($0.contextName) == nil }
            return (content.open.count + own + (content.frozen?.request.transactions.count ?? 0), content.journal.count)
        }
    }

    // MARK: Work

    func run(_ work: StoreWork) throws -> StoreResult {
        try place.exclusively { transaction in
            var moment = try DeviceMoment(place, transaction)
            switch work {
            case .keep(let record):
                moment.content.record = record
                try keep(moment.content, transaction)
                return .kept
            case .keepAnswer(let answer):
                moment.content.frozen?.answer = answer
                try keep(moment.content, transaction)
                return .kept
            case .stage(let rows, let record, let isFirst):
                if isFirst { stage = [] }
                stage += rows
                moment.content.record = record
                try keep(moment.content, transaction)
                return .kept
            case .freeze(let order): return try moment.freeze(order)
            case .rebase(let order):
                let result = try moment.rebase(order, staged: stage)
                if order.stage != nil { stage = [] }
                return result
            }
        }
    }

    // MARK: The journal

    func journal() throws -> [DeviceContent.JournalEntry] {
        try place.exclusively { _ in try place.kept(DeviceContent.self, DeviceContent.key)?.journal ?? [] }
    }

    /// Removes a change from the journal.
    ///
    /// - Parameters:
    ///   - number: the entry's number.
    ///   - change: what the row is to be, from the entry; nil to save nothing.
    /// - Throws: the errors of the store.
    func settle(_ number: Int, _ change: ((DeviceContent.JournalEntry) -> PlannedRow?)?) throws {
        try place.exclusively { transaction in
            guard var content = try place.kept(DeviceContent.self, DeviceContent.key),
                let index = content.journal.firstIndex(where: { $0.number == number })
            else { return }
            let entry = content.journal.remove(at: index)
            var targets: [RowID: PlannedRow?] = [:]
            if let change { targets[entry.refused.change.id] = .some(change(entry)) }
            try place.write(targets, under: DeviceContent.key, contextName: nil, in: transaction) { _ in content }
        }
    }
}

/// Everything that a device keeps of its sync beside its rows and its history. It is written in the transactions that
/// change it.
struct DeviceContent: Codable {
    static let key = "PippinSync"

    var record: DeviceRecord
    /// Transactions of the store's history up to this number are in `open`, in `frozen`, or settled. What comes later
    /// is read from the history.
    var captured: Int64
    /// The cursors of own transactions that are read from the history.
    var cursors: [CursorMark] = []
    /// Unsent transactions that are not what the history has any more.
    var open: [OwnTransaction] = []
    var frozen: FrozenBatch?
    /// What the server has taken, for the case that it loses it.
    var acknowledged: [AcknowledgedBatch] = []
    /// What the server last had of rows with unsent changes.
    var base: [BaseRow] = []
    var journal: [JournalEntry] = []
    var nextEntry = 1

    init(record: DeviceRecord, captured: Int64) { (self.record, self.captured) = (record, captured) }

    /// Own transactions after a number of the store's history were made when the device knew this state of the server.
    struct CursorMark: Codable, Hashable {
        let after: Int64
        let cursor: HistoryNumber
    }

    /// The transactions of a batch, by their numbers in the store's history.
    struct AcknowledgedBatch: Codable, Hashable {
        let batch: UInt64
        let first: UInt64
        let last: UInt64
    }

    struct BaseRow: Codable, Hashable {
        let id: RowID
        /// Nil for a row that the server does not have.
        let values: [String: SyncValue]?
    }

    /// A change that was not taken.
    struct JournalEntry: Codable, Hashable {
        let number: Int
        let refused: RefusedChange
        /// The whole row as it was shown.
        let values: [String: SyncValue]
    }

    /// How many batches are kept for the case that the server loses them.
    private static let mostAcknowledged = 200

    func cursor(of number: Int64) -> HistoryNumber { cursors.last { $0.after < number }?.cursor ?? 0 }

    mutating func note(cursor: HistoryNumber, after number: Int64) {
        cursors.append(CursorMark(after: number, cursor: cursor))
        let first = cursors.lastIndex { $0.after <= captured } ?? 0
        cursors.removeFirst(first)
    }

    mutating func acknowledge(_ batch: UInt64, _ transactions: [OwnTransaction]) {
        guard let first = transactions.map(\.number).min(), let last = transactions.map(\.number).max() else { return }
        acknowledged.append(AcknowledgedBatch(batch: batch, first: first, last: last))
        if acknowledged.count > Self.mostAcknowledged { acknowledged.removeFirst() }
    }

    mutating func refuse(_ refused: RefusedChange, _ values: [String: SyncValue]) {
        journal.append(JournalEntry(number: nextEntry, refused: refused, values: values))
        nextEntry += 1
    }
}
