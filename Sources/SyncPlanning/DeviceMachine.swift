/// What happens to a device's sync.
package enum DeviceEvent: Sendable {
    /// The program has opened the store: a batch may be on its way, and transactions may wait.
    case started(FrozenBatch?, hasOpen: Bool)
    /// The program has saved.
    case saved
    /// A wait has ended, or the network is there again, or the program asks for it.
    case wake
    case answered(UInt64, SyncAnswer)
    /// A request failed, or got no answer in time.
    case failed(UInt64)
    case stored(StoreResult)
}

/// What a device does next. Work in the store is one transaction, and ends with an event; so does a request.
package enum DeviceAction: Sendable {
    case send(UInt64, SyncRequest)
    case store(StoreWork)
    /// Wait, and then send a `wake`. Others may wake it earlier.
    case wait(milliseconds: Int64)
    case report(SyncState)
}

/// A device's state, as its program sees it.
package enum SyncState: Hashable, Sendable {
    case greeting, pushing, pulling, downloading, upToDate
    /// Requests fail; the next one comes after a wait.
    case offline(attempt: Int)
    /// The server's schema lacks what some saves have.
    case waitsForServer
    /// The server's schema requires what this program cannot write. Reading goes on.
    case waitsForProgram
    /// The server has had later batches of this device: the store is an older copy. Nothing is sent.
    case isOlderCopy
    /// So many rows were others than the server's, past all history, and are as they are there now.
    case repaired(Int)
}

/// A transaction in the device's store.
package enum StoreWork: Sendable {
    case keep(DeviceRecord)
    /// Keep the answer beside the batch.
    case keepAnswer(PushAnswer)
    /// Add downloaded rows to the stage, or empty it first, and keep the record.
    case stage([PageChange], DeviceRecord, isFirst: Bool)
    case rebase(RebaseOrder)
    /// Freeze the next batch with the record's next number, and count that up.
    case freeze(FreezeOrder)
}

/// What a rebase needs beside the store's own rows, batch and unsent transactions.
package struct RebaseOrder: Sendable {
    package var transactions: [PageTransaction]
    package var end: HistoryNumber
    /// The record afterwards.
    package var record: DeviceRecord
    /// What the stage holds; nil if it is not needed.
    package var stage: DownloadKind?
    /// Set if the server has been restored from a backup. What it had acknowledged since is sent again.
    package var restored: RestoredServer?

    /// What makes rows those of the server, where the device is.
    package static func repair(_ changes: [PageChange], at record: DeviceRecord) -> RebaseOrder {
        let transaction = PageTransaction(number: record.cursor, time: 0, device: nil, changes: changes)
        return RebaseOrder(transactions: [transaction], end: record.cursor, record: record)
    }
}

/// What a restored server still knows.
package struct RestoredServer: Hashable, Sendable {
    /// The last batch of this device that it has decided about.
    package var lastDecided: UInt64
    /// The last transaction that its history has in common with the one that the device knew.
    package var shared: HistoryNumber
}

package enum StoreResult: Sendable {
    case kept
    case rebased(hasOpen: Bool)
    case frozen(PushRequest?, waitsForServer: Bool, waitsForProgram: Bool)
}

/// The state machine of a device: events in, actions out. It keeps in memory only what it can find again in the store,
/// so that a kill at any point costs nothing but a greeting.
///
/// A batch that has been sent is decided before anything is pulled. So the rows on which closures run, and the
/// transactions that are refused or sent again, are never those that the server may be taking at the same time.
package struct DeviceMachine: Sendable {
    package private(set) var record: DeviceRecord
    package private(set) var state = SyncState.greeting
    /// The frozen batch, until a rebase has taken in what became of it.
    package private(set) var batch: FrozenBatch?

    private let schemaVersion: Int
    private let properties: KnownProperties
    private var hasOpen = false
    private var greeting: HelloAnswer?
    /// What the server and this program agreed on in the last greeting.
    package var agreement: Agreement? { greeting?.agreement }
    private var helloSent: ClockReading?
    /// The request whose answer is awaited. Answers to others are old, and say nothing.
    package private(set) var awaited: UInt64
    private var attempt = 0
    private var isWaiting = false
    /// Whether the cursor is beyond the server's history: it was restored, and does not know it.
    private var isAhead = false
    private var waitsForServer = false
    private var waitsForProgram = false
    /// What the next end of a store's work leads to.
    private var afterStore = AfterStore.next
    private var page: Page?

    private enum AfterStore { case next, greet, afterPage }

    package init(record: DeviceRecord, schemaVersion: Int, schema: SyncSchema, firstRequest: UInt64 = 1) {
        self.record = record
        self.schemaVersion = schemaVersion
        properties = schema.properties
        awaited = firstRequest
    }

    /// - Parameters:
    ///   - event: what has happened.
    ///   - reading: what the device's clocks show.
    /// - Returns: what to do, in order.
    package mutating func handle(_ event: DeviceEvent, at reading: ClockReading) -> [DeviceAction] {
        switch event {
        case .started(let batch, let hasOpen):
            self.batch = batch
            self.hasOpen = hasOpen
            return greet(at: reading)
        case .saved:
            hasOpen = true
            return isWaiting && state != .isOlderCopy ? freeze() : []
        case .wake:
            if case .offline = state { return greet(at: reading) }
            return isWaiting ? greetOrPull(at: reading) : []
        case .answered(let id, let answer):
            guard id == awaited else { return [] }
            awaited += 1
            attempt = 0
            return take(answer, at: reading)
        case .failed(let id):
            guard id == awaited else { return [] }
            awaited += 1
            attempt += 1
            isWaiting = false
            state = .offline(attempt: attempt)
            // 1 s, doubled with each failure, at most 5 minutes.
            let wait = min(Int64(1000) << Int64(min(attempt - 1, 9)), 300_000)
            return [.report(state), .wait(milliseconds: wait)]
        case .stored(let result): return take(result, at: reading)
        }
    }

    private mutating func send(_ request: SyncRequest, _ state: SyncState) -> [DeviceAction] {
        isWaiting = false
        let isNew = self.state != state
        self.state = state
        return (isNew ? [.report(state)] : []) + [.send(awaited, request)]
    }

    private mutating func store(_ work: StoreWork, then: AfterStore) -> [DeviceAction] {
        afterStore = then
        return [.store(work)]
    }

    private mutating func greet(at reading: ClockReading) -> [DeviceAction] {
        greeting = nil
        helloSent = reading
        return send(
            .hello(
                HelloRequest(
                    device: record.device, epoch: record.epoch, schemaVersion: schemaVersion, properties: properties,
                    cursor: record.cursor, cursorTime: record.cursorTime, lastAnswered: record.answered ?? 0)),
            .greeting)
    }

    /// Greets again where only the server can say more, and otherwise goes on. A server whose schema has changed
    /// meanwhile answers that with a request for a greeting.
    private mutating func greetOrPull(at reading: ClockReading) -> [DeviceAction] {
        state == .isOlderCopy ? greet(at: reading) : next(at: reading)
    }

    // MARK: Answers

    private mutating func take(_ answer: SyncAnswer, at reading: ClockReading) -> [DeviceAction] {
        switch answer {
        case .hello(let hello):
            if let helloSent { record.clocks.measure(sent: helloSent, received: reading, server: hello.time) }
            greeting = hello
            isAhead = record.cursor > hello.latest
            if hello.lastBatch >= record.nextBatch {
                state = .isOlderCopy
                isWaiting = true
                return [.report(state), .wait(milliseconds: 300_000)]
            }
            return store(.keep(record), then: .next)
        case .push(let answer):
            batch?.answer = answer
            return store(.keepAnswer(answer), then: answer == .notProcessed ? .greet : .next)
        case .page(let page): return take(page, at: reading)
        case .portion(let portion): return take(portion, at: reading)
        case .resync where record.download != nil:
            // The changes that were to follow a download are gone.
            record.download = nil
            return store(.keep(record), then: .greet)
        case .greet, .resync: return greet(at: reading)
        // They answer questions that the machine does not ask.
        case .sums, .moved: return []
        case .generationGone:
            record.download = nil
            return store(.keep(record), then: .next)
        }
    }

    private mutating func take(_ page: Page, at reading: ClockReading) -> [DeviceAction] {
        guard let greeting else { return greet(at: reading) }
        var after = record
        (after.cursor, after.cursorTime) = (page.end, page.endTime)
        after.scopes = record.scopes.intersection(page.granted)
        if let batch, let answer = batch.answer, answer != .outdated { after.answered = batch.request.batch }
        var order = RebaseOrder(transactions: page.transactions, end: page.end, record: after)
        if let download = record.download, download.isComplete {
            guard page.granted == download.granted, page.end == download.generation else { return greet(at: reading) }
            order.stage = download.kind
            order.record.download = nil
            switch download.kind {
            case .scopes(let scopes): order.record.scopes.formUnion(scopes)
            case .properties: order.record.known = greeting.known
            case .everything:
                order = replacement(with: page.transactions, upTo: page.end, greeting)
                order.record.cursorTime = page.endTime
                isAhead = false
            }
        }
        record = order.record
        self.page = page
        return store(.rebase(order), then: .afterPage)
    }

    private mutating func take(_ portion: Portion, at reading: ClockReading) -> [DeviceAction] {
        guard var download = record.download else { return next(at: reading) }
        if portion.granted != download.granted { return greet(at: reading) }
        download.first = download.first ?? portion.generation
        download.generation = portion.generation
        download.next = portion.next
        download.isComplete = portion.next == nil
        record.download = download
        return store(.stage(portion.rows, record, isFirst: false), then: .next)
    }

    // MARK: The store

    private mutating func take(_ result: StoreResult, at reading: ClockReading) -> [DeviceAction] {
        switch result {
        case .kept: return afterStore == .greet ? greet(at: reading) : next(at: reading)
        case .rebased(let hasOpen):
            self.hasOpen = hasOpen
            batch = nil
            guard let greeting, afterStore == .afterPage else { return next(at: reading) }
            guard let page else { return next(at: reading) }
            if page.granted != greeting.granted { return greet(at: reading) }
            if page.end < page.latest { return next(at: reading) }
            return hasOpen ? freeze() : wait()
        case .frozen(let request, let waitsForServer, let waitsForProgram):
            self.waitsForServer = waitsForServer
            self.waitsForProgram = waitsForProgram
            guard let request else { return wait() }
            batch = FrozenBatch(request: request)
            record.nextBatch = request.batch + 1
            return send(.push(request), .pushing)
        }
    }

    // MARK: What comes next

    private mutating func next(at reading: ClockReading) -> [DeviceAction] {
        guard let greeting else { return greet(at: reading) }
        if let batch, batch.answer == nil { return send(.push(batch.request), .pushing) }
        if record.epoch != greeting.epoch || record.cursor < greeting.oldest || isAhead {
            return download(.everything, greeting)
        }
        let scopes = greeting.granted.subtracting(record.scopes)
        if !scopes.isEmpty { return download(.scopes(scopes), greeting) }
        let added = greeting.known.subtracting(record.known)
        if !added.isEmpty { return download(.properties(added), greeting) }
        if record.known != greeting.known || record.download != nil {
            // The server knows less than before, or a download is not needed any more.
            record.known = greeting.known
            record.download = nil
            return store(.keep(record), then: .next)
        }
        return pull(atLeast: batch?.answer?.settledAt ?? 0, atMost: nil, greeting)
    }

    private mutating func pull(
        after: HistoryNumber? = nil, scopes: Set<SyncScope>? = nil, atLeast: HistoryNumber, atMost: HistoryNumber?,
        _ greeting: HelloAnswer
    ) -> [DeviceAction] {
        send(
            .pull(
                PullRequest(
                    device: record.device, agreement: greeting.agreement, epoch: greeting.epoch,
                    after: after ?? record.cursor, atLeast: atLeast, atMost: atMost, scopes: scopes ?? record.scopes,
                    afterTime: after == nil ? record.cursorTime : nil)),
            .pulling)
    }

    private mutating func download(_ kind: DownloadKind, _ greeting: HelloAnswer) -> [DeviceAction] {
        let new = DownloadProgress(
            kind: kind, epoch: greeting.epoch, agreement: greeting.agreement, granted: greeting.granted)
        guard let download = record.download, download.kind == new.kind, download.epoch == new.epoch,
            download.agreement == new.agreement, download.granted == new.granted
        else {
            record.download = new
            return store(.stage([], record, isFirst: true), then: .next)
        }
        guard download.isComplete, let generation = download.generation else {
            return send(
                .rows(
                    RowsRequest(
                        device: record.device, agreement: greeting.agreement, epoch: greeting.epoch, kind: kind,
                        generation: download.generation, after: download.next)), .downloading)
        }
        guard case .everything = kind else {
            return pull(atLeast: generation, atMost: generation, greeting)
        }
        if let first = download.first, first < generation {
            return pull(after: first, scopes: greeting.granted, atLeast: generation, atMost: generation, greeting)
        }
        let order = replacement(with: [], upTo: generation, greeting)
        record = order.record
        isAhead = false
        return store(.rebase(order), then: .next)
    }

    /// What replaces all rows by downloaded ones.
    private func replacement(
        with transactions: [PageTransaction], upTo end: HistoryNumber, _ greeting: HelloAnswer
    ) -> RebaseOrder {
        var after = record
        (after.cursor, after.cursorTime) = (end, nil)
        after.scopes = greeting.granted
        after.known = greeting.known
        after.download = nil
        after.epoch = greeting.epoch
        var order = RebaseOrder(transactions: transactions, end: end, record: after, stage: .everything)
        if record.epoch != greeting.epoch { order.record.answered = greeting.lastBatch }
        if let epoch = record.epoch, epoch != greeting.epoch {
            order.restored = RestoredServer(lastDecided: greeting.lastDecided, shared: greeting.shared)
        }
        return order
    }

    private mutating func freeze() -> [DeviceAction] {
        guard let greeting else { return wait() }
        isWaiting = false
        return store(
            .freeze(
                FreezeOrder(
                    known: record.known, unwritable: greeting.unwritable, agreement: greeting.agreement,
                    epoch: greeting.epoch)), then: .next)
    }

    private mutating func wait() -> [DeviceAction] {
        isWaiting = true
        state = waitsForProgram ? .waitsForProgram : waitsForServer ? .waitsForServer : .upToDate
        return [.report(state), .wait(milliseconds: 60_000)]
    }
}
