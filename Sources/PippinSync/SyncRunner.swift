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
    let server: any SyncPeer
    private let report: @Sendable (SyncState, SyncRunner) -> Void

    private var machine: DeviceMachine?
    private var actions: [DeviceAction] = []
    private var isRunning = false
    private var attempt = 0
    /// Distinguishes waits: those that others have ended are over.
    private var wait = 0
    /// Why the last work failed.
    private(set) var failure: (any Error)?

    /// How often a server that reports changes is asked whether there are any.
    private let idle: Int64
    private let signals = Mutex(Signals())
    private var listeners: [@Sendable () -> Void] = []

    private struct Signals {
        var isSaved = false
        var isWoken = false
        var isScheduled = false
        var isStopped = false
        /// The thread that carries out the sync's own work.
        var worker: pthread_t?
    }

    /// - Parameters:
    ///   - device: the device's side.
    ///   - server: the server's side.
    ///   - idle: how often a server that reports changes is asked whether there are any, in milliseconds.
    ///   - report: shows a state.
    init(
        device: SyncDevice, server: any SyncPeer, idle: Int64 = 300_000,
        report: @escaping @Sendable (SyncState, SyncRunner) -> Void
    ) {
        (self.device, self.server, self.idle, self.report) = (device, server, idle, report)
    }

    // MARK: From outside

    /// Begins: from now on what either side saves reaches the other.
    func start() {
        let own = device.place.session
        let numbers = (
            own.saves.add { [weak self] _ in self?.signal(isSave: true) },
            // What follows a save of this process is reported by `saves`, or is the sync's own.
            own.changes.add { [weak self] in if $0.followSaves.contains(false) { self?.signal(isSave: true) } }
        )
        server.whenChanged { [weak self] in self?.signal(isSave: false) }
        let end: @Sendable () -> Void = {
            own.saves.remove(numbers.0)
            own.changes.remove(numbers.1)
        }
        queue.async { [self] in
            listeners.append(end)
            begin()
        }
    }

    /// Ends after the step that is running. What is unsent is sent the next time.
    func stop() {
        signals.withLock { $0.isStopped = true }
        server.interrupt()
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

    /// Compares the rows of both sides, and repairs this one's.
    ///
    /// - Returns: what differed.
    /// - Throws: ``SyncError`` if one side cannot be asked.
    func check() throws -> [RepairedModel] {
        // The server may have moved on between two questions.
        for _ in 0..<8 {
            try finish()
            if let repaired = try queue.sync(execute: { try compared() }) { return repaired }
        }
        throw SyncError.alwaysMoving
    }

    /// - Returns: what differed; nil if the server is at another state than the device.
    /// - Throws: the errors of both sides.
    private func compared() throws -> [RepairedModel]? {
        guard let machine, let agreement = machine.agreement, let epoch = machine.record.epoch else { return [] }
        if machine.batch != nil || machine.record.download != nil { return nil }
        let record = machine.record
        let known = device.place.comparable(record.known)
        func ask(_ wanted: SumsRequest.Wanted) throws -> SyncAnswer {
            do {
                return try server.answer(
                    .sums(
                        SumsRequest(
                            device: record.device, agreement: agreement, epoch: epoch, at: record.cursor, known: known,
                            wanted: wanted)))
            } catch { throw SyncError.offline(error) }
        }
        // From the first answer on the server holds the state, whatever is saved meanwhile.
        guard case .sums(let first) = try ask(.sums([.all])) else { return nil }
        let scan = try device.scan(known)
        var ranges = scan.sums.differing(partsOf: [.all], from: first)
        while let range = ranges.first, range.depth < IdentifierRange.deepest {
            guard case .sums(let sums) = try ask(.sums(ranges)) else { return nil }
            ranges = scan.sums.differing(partsOf: ranges, from: sums)
        }
        if ranges.isEmpty { return [] }
        var theirs: [RowID: PlannedRow] = [:]
        var next: RowID?
        repeat {
            guard case .portion(let portion) = try ask(.rows(Set(ranges), after: next)) else { return nil }
            for case .row(let id, let values, let scope) in portion.rows {
                theirs[id] = PlannedRow(values: values, scope: scope)
            }
            next = portion.next
        } while next != nil
        let changes = RangeSums.repair(try scan.rows(in: Set(ranges)), theirs, known)
        if changes.isEmpty { return [] }
        signals.withLock { $0.worker = pthread_self() }
        defer { signals.withLock { $0.worker = nil } }
        return try device.repair(changes, at: record)
    }

    private func signal(isSave: Bool) {
        let isNew = signals.withLock { signals in
            if let worker = signals.worker, pthread_equal(worker, pthread_self()) != 0 { return false }
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
        if taken.isWoken, hasNews { handle(.wake) }
        if taken.isSaved { handle(.saved) }
    }

    /// Whether the server has something that the device has not heard, as far as one question tells.
    private var hasNews: Bool {
        guard let machine, machine.state == .upToDate else { return true }
        return (try? server.latest()) != machine.record.cursor
    }

    // MARK: Events and actions

    private func begin() {
        do {
            let content = try device.start()
            machine = DeviceMachine(
                record: content.record, schemaVersion: device.place.version, schema: device.place.schema,
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
        signals.withLock { $0.worker = pthread_self() }
        defer {
            signals.withLock { $0.worker = nil }
            isRunning = false
        }
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
        case .wait(let milliseconds):
            machine?.state == .upToDate ? waitIdly() : wait(spread(milliseconds)) { $0.handle(.wake) }
        case .report(let state): report(state, self)
        }
    }

    /// Work in the store has failed: the machine begins anew later, with what the store has.
    private func fail(_ error: any Error) {
        failure = error
        actions = []
        attempt += 1
        report(.offline(attempt: attempt), self)
        wait(min(1_000 << Int64(min(attempt - 1, 9)), 300_000)) { $0.begin() }
    }

    /// Asks now and then, for the case that a report of changes was lost.
    private func waitIdly() {
        wait(idle) { $0.hasNews ? $0.handle(.wake) : $0.waitIdly() }
    }

    /// A wait that is up to a fifth shorter or longer, so that devices which lost one server do not come back to it at
    /// once; and never shorter than the server wants.
    private func spread(_ milliseconds: Int64) -> Int64 {
        let wanted = (failure as? SyncError)?.retryAfter ?? 0
        return max(milliseconds + Int64.random(in: -milliseconds / 5...milliseconds / 5), Int64(wanted) * 1_000)
    }

    private func wait(_ milliseconds: Int64, _ then: @escaping @Sendable (SyncRunner) -> Void) {
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
