import Testing

@testable import SyncPlanning

@Suite("The states of a device")
struct DeviceMachineTests {
    private static let schema = SyncSchema(["Book": SyncEntity(["title": SyncProperty()])])
    private let reading = ClockReading(boot: "1", running: 0, wall: 0)

    private func hello(latest: HistoryNumber = 5, oldest: HistoryNumber = 0, lastBatch: UInt64 = 0) -> SyncAnswer {
        .hello(
            HelloAnswer(
                epoch: "life", shared: 0, latest: latest, oldest: oldest, lastBatch: lastBatch, lastDecided: lastBatch,
                granted: [], agreement: Agreement(deviceSchema: 1, serverSchema: 1), known: Self.schema.properties,
                unwritable: [], time: 0))
    }

    /// A device that has had everything up to transaction 5.
    private func device() -> DeviceRecord {
        var record = DeviceRecord(device: DeviceID("a"))
        record.epoch = "life"
        record.cursor = 5
        record.nextBatch = 3
        record.known = Self.schema.properties
        return record
    }

    /// Starts a device and greets.
    private func started(
        _ record: DeviceRecord, batch: FrozenBatch? = nil, hasOpen: Bool = false, answer: SyncAnswer
    ) -> (machine: DeviceMachine, actions: [DeviceAction]) {
        var machine = DeviceMachine(record: record, schemaVersion: 1, schema: Self.schema)
        _ = machine.handle(.started(batch, hasOpen: hasOpen), at: reading)
        _ = machine.handle(.answered(1, answer), at: reading)
        let actions = machine.handle(.stored(.kept), at: reading)
        return (machine, actions)
    }

    private func request(_ actions: [DeviceAction]) -> SyncRequest? {
        for case .send(_, let request) in actions { return request }
        return nil
    }

    private func batch() -> FrozenBatch {
        FrozenBatch(
            request: PushRequest(
                device: DeviceID("a"), agreement: Agreement(deviceSchema: 1, serverSchema: 1), epoch: "life", batch: 2,
                transactions: []))
    }

    @Test("begin with a download of everything for a new device")
    func newDevice() {
        var (machine, actions) = started(DeviceRecord(device: DeviceID("a")), answer: hello())
        guard case .store(.stage(_, _, isFirst: true)) = actions.first else {
            Issue.record("The stage is not emptied: \(actions)")
            return
        }
        actions = machine.handle(.stored(.kept), at: reading)
        guard case .rows(let rows) = request(actions) else {
            Issue.record("No rows are asked for: \(actions)")
            return
        }
        #expect(rows.kind == .everything)
    }

    @Test("send a frozen batch again, with the same bytes, before anything is pulled")
    func frozenFirst() {
        var (machine, actions) = started(device(), batch: batch(), answer: hello())
        #expect(request(actions) == .push(batch().request))
        _ = machine.handle(.answered(2, .push(.decided([.taken(9, [])]))), at: reading)
        actions = machine.handle(.stored(.kept), at: reading)
        guard case .pull(let pull) = request(actions) else {
            Issue.record("Nothing is pulled: \(actions)")
            return
        }
        #expect(pull.after == 5)
        #expect(pull.atLeast == 9)
    }

    @Test("push after a pull that is up to date, and then wait")
    func pushAndWait() {
        var (machine, actions) = started(device(), hasOpen: true, answer: hello())
        _ = machine.handle(
            .answered(2, .page(Page(transactions: [], end: 5, latest: 5, granted: []))), at: reading)
        actions = machine.handle(.stored(.rebased(hasOpen: true)), at: reading)
        guard case .store(.freeze) = actions.first else {
            Issue.record("Nothing is frozen: \(actions)")
            return
        }
        actions = machine.handle(.stored(.frozen(nil, waitsForServer: true, waitsForProgram: false)), at: reading)
        #expect(machine.state == .waitsForServer)
        #expect(request(actions) == nil)
    }

    @Test("wait a second after a failure, twice as long after each further one, at most five minutes")
    func offline() {
        var machine = DeviceMachine(record: device(), schemaVersion: 1, schema: Self.schema)
        var waits: [Int64] = []
        for attempt in 1...12 {
            let actions = machine.handle(attempt == 1 ? .started(nil, hasOpen: false) : .wake, at: reading)
            guard case .send(let id, _)? = actions.last else { break }
            for case .wait(let milliseconds) in machine.handle(.failed(id), at: reading) { waits.append(milliseconds) }
            #expect(machine.state == .offline(attempt: attempt))
        }
        #expect(
            waits == [1000, 2000, 4000, 8000, 16000, 32000, 64000, 128_000, 256_000, 300_000, 300_000, 300_000])
    }

    @Test("do not hear an answer to a former request")
    func lateAnswer() {
        var machine = DeviceMachine(record: device(), schemaVersion: 1, schema: Self.schema, firstRequest: 7)
        _ = machine.handle(.started(nil, hasOpen: false), at: reading)
        #expect(machine.handle(.answered(6, hello()), at: reading).isEmpty)
        #expect(machine.state == .greeting)
    }

    @Test("download everything if the history does not reach back to the cursor, or not up to it")
    func leftBehind() {
        for answer in [hello(latest: 40, oldest: 20), hello(latest: 3)] {
            let (machine, _) = started(device(), answer: answer)
            #expect(machine.record.download?.kind == .everything)
        }
    }

    @Test("stop if the store is an older copy")
    func olderCopy() {
        var machine = DeviceMachine(record: device(), schemaVersion: 1, schema: Self.schema)
        _ = machine.handle(.started(nil, hasOpen: true), at: reading)
        let actions = machine.handle(.answered(1, hello(lastBatch: 3)), at: reading)
        #expect(machine.state == .isOlderCopy)
        #expect(request(actions) == nil)
        #expect(machine.handle(.saved, at: reading).isEmpty)
    }
}
