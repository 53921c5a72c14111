/// A transaction of the server's history, with its rows before and after.
package struct HistoryTransaction: Hashable, Sendable {
    package var number: HistoryNumber
    /// When the server took it.
    package var time: Int64
    /// The device, and the number in its own history.
    package var device: DeviceID?
    package var ownNumber: UInt64?
    package var changes: [HistoryChange]

    package init(
        number: HistoryNumber, time: Int64, device: DeviceID?, ownNumber: UInt64?, changes: [HistoryChange]
    ) {
        self.number = number
        self.time = time
        self.device = device
        self.ownNumber = ownNumber
        self.changes = changes
    }
}

package struct HistoryChange: Hashable, Sendable {
    package var id: RowID
    package var before: Row?
    package var after: Row?
    /// The row that this one was joined to, and its scope.
    package var forwarded: RowID?
    package var forwardedScope: SyncScope?

    package init(id: RowID, before: Row?, after: Row?, forwarded: RowID? = nil, forwardedScope: SyncScope? = nil) {
        self.id = id
        self.before = before
        self.after = after
        self.forwarded = forwarded
        self.forwardedScope = forwardedScope
    }
}

/// What the server keeps of a device.
package struct DeviceOnServer: Codable, Hashable, Sendable {
    package var lastBatch: UInt64 = 0
    /// The last batch whose transactions were looked at.
    package var lastDecided: UInt64 = 0
    package var lastAnswer: PushAnswer?
    package var agreement: Agreement?
    package var known = KnownProperties([:])
    /// The user who greeted with the device first; nil where devices reach the database themselves.
    package var user: String?

    package init() {}
}

/// What the server knows when a request arrives. All of it is read in the transaction that answers.
package struct ServerMoment: Sendable {
    /// The lives of the server's history, the present one last.
    package var epochs: [Epoch]
    package var latest: HistoryNumber
    package var oldest: HistoryNumber
    package var schemaVersion: Int
    package var schema: SyncSchema
    /// Microseconds since 1970.
    package var now: Int64
    package var device: DeviceOnServer
    package var granted: Set<SyncScope>
    /// When the transaction was taken at which the device is; nil if the history does not have it.
    package var timeAtCursor: Int64?
    /// The name of the next life, if this one turns out to be one that nobody has named.
    package var nextEpoch: String

    package init(
        epochs: [Epoch], latest: HistoryNumber, oldest: HistoryNumber,
        schemaVersion: Int, schema: SyncSchema, now: Int64, device: DeviceOnServer, granted: Set<SyncScope>,
        timeAtCursor: Int64? = nil, nextEpoch: String = "next"
    ) {
        self.timeAtCursor = timeAtCursor
        self.nextEpoch = nextEpoch
        self.epochs = epochs
        self.latest = latest
        self.oldest = oldest
        self.schemaVersion = schemaVersion
        self.schema = schema
        self.now = now
        self.device = device
        self.granted = granted
    }
}

/// A life of a server's history: it ends when a backup is restored.
package struct Epoch: Codable, Hashable, Sendable {
    package var name: String
    /// The last transaction that it has in common with the one before it.
    package var shared: HistoryNumber

    package init(name: String, shared: HistoryNumber) {
        self.name = name
        self.shared = shared
    }
}

extension ServerMoment {
    /// The present life's name.
    package var epoch: String { epochs.last?.name ?? "" }

    /// The last transaction that the present history has in common with a former one; 0 if that one is not known.
    func shared(with epoch: String?) -> HistoryNumber {
        guard let place = epochs.firstIndex(where: { $0.name == epoch }) else { return 0 }
        return epochs[(place + 1)...].map(\.shared).min() ?? latest
    }
}

/// What a server does next for a request.
package enum ServerStep: Sendable {
    case answer(SyncAnswer)
    /// Keep this of the device, and answer.
    case record(DeviceOnServer, SyncAnswer)
    /// The server has been restored from a backup. Keep the lives of its history and this of the device, and answer.
    case renew([Epoch], DeviceOnServer, SyncAnswer)
    /// Plan the push with the rows that it concerns, and write the plan.
    case apply(PushRequest)
    /// Read the history after the request's cursor, and make a page of it.
    case read(PullRequest)
    /// Read rows of the generation, and make a portion of them.
    case readRows(RowsRequest)
    /// Sum up the rows of the state, or read those of some ranges.
    case sum(SumsRequest)
}

/// Everything that a push changes on a server, in one transaction.
package struct PushPlan: Sendable {
    package var rows: [RowID: RowFact]
    package var history: [HistoryTransaction]
    package var device: DeviceOnServer
    package var answer: PushAnswer
}

/// The server, as functions from requests to what is to be done. Nothing is kept between requests. Pure.
package enum ServerPlanning {
    package static func step(for request: SyncRequest, at moment: ServerMoment) -> ServerStep {
        switch request {
        case .hello(let hello) where isRestored(hello, moment):
            var renewed = moment
            // How much this history shares with the former one is not known.
            renewed.epochs.append(Epoch(name: moment.nextEpoch, shared: 0))
            guard case .record(let device, let answer) = step(for: request, at: renewed) else { return .answer(.greet) }
            return .renew(renewed.epochs, device, answer)
        case .hello(let hello):
            let own = moment.schema.properties
            var device = moment.device
            device.agreement = Agreement(deviceSchema: hello.schemaVersion, serverSchema: moment.schemaVersion)
            device.known = hello.properties.intersection(own)
            let answer = HelloAnswer(
                epoch: moment.epoch, shared: moment.shared(with: hello.epoch), latest: moment.latest,
                oldest: moment.oldest, lastBatch: moment.device.lastBatch, lastDecided: moment.device.lastDecided,
                granted: moment.granted,
                agreement: Agreement(deviceSchema: hello.schemaVersion, serverSchema: moment.schemaVersion),
                known: device.known, unwritable: moment.schema.unwritable(by: device.known), time: moment.now)
            return .record(device, .hello(answer))
        case .push(let push):
            if push.batch == moment.device.lastBatch, let answer = moment.device.lastAnswer {
                return .answer(.push(answer))
            }
            if push.batch <= moment.device.lastBatch { return .answer(.push(.outdated)) }
            if push.epoch == moment.epoch, push.answered ?? 0 > moment.device.lastBatch { return .answer(.greet) }
            if !isCurrent(push.epoch, push.agreement, moment) {
                // Decided, too: a copy of these bytes that comes later must not be taken.
                var device = moment.device
                device.lastBatch = push.batch
                device.lastAnswer = .notProcessed
                return .record(device, .push(.notProcessed))
            }
            return .apply(push)
        case .pull(let pull):
            if !isCurrent(pull.epoch, pull.agreement, moment) { return .answer(.greet) }
            if pull.after > moment.latest || isOther(pull.afterTime, moment) { return .answer(.greet) }
            if pull.after < moment.oldest { return .answer(.resync) }
            return .read(pull)
        case .rows(let rows):
            if !isCurrent(rows.epoch, rows.agreement, moment) { return .answer(.greet) }
            return .readRows(rows)
        case .sums(let sums):
            if !isCurrent(sums.epoch, sums.agreement, moment) { return .answer(.greet) }
            return .sum(sums)
        }
    }

    /// Whether a device knows more of this life of the history than the server does, or something else: then a backup
    /// took the server's place, and has the same name.
    private static func isRestored(_ hello: HelloRequest, _ moment: ServerMoment) -> Bool {
        hello.epoch == moment.epoch
            && (hello.cursor > moment.latest || hello.lastAnswered > moment.device.lastBatch
                || isOther(hello.cursorTime, moment))
    }

    private static func isOther(_ time: Int64?, _ moment: ServerMoment) -> Bool {
        guard let time, let known = moment.timeAtCursor else { return false }
        return time != known
    }

    private static func isCurrent(_ epoch: String, _ agreement: Agreement, _ moment: ServerMoment) -> Bool {
        epoch == moment.epoch && agreement == moment.device.agreement
            && agreement.serverSchema == moment.schemaVersion
    }

    /// What becomes of a batch's transactions, one after the other. A refused one does not stop the next; a conflict
    /// does, as a device's transactions keep their order.
    ///
    /// - Parameters:
    ///   - push: the batch.
    ///   - moment: what the server knows.
    ///   - facts: the rows, as far as they were read.
    ///   - denied: the device's numbers of transactions that the server's program has refused.
    /// - Returns: the plan, or what it must know first.
    package static func plan(
        _ push: PushRequest, at moment: ServerMoment, facts: RowFacts, denied: Set<UInt64> = []
    ) -> Planned<PushPlan> {
        var planner = TransactionPlanner(
            schema: moment.schema, side: .server(now: moment.now, allowed: moment.granted), device: push.device,
            number: moment.latest, rows: WorkingRows(facts, schema: moment.schema))
        var outcomes: [PushOutcome] = []
        var history: [HistoryTransaction] = []
        var latest = moment.latest
        for transaction in push.transactions {
            planner.number = latest + 1
            var transaction = transaction
            let verdict =
                denied.contains(transaction.number)
                ? planner.refuse(transaction, .notAuthorized(nil)) : planner.take(&transaction)
            switch verdict {
            case .taken(let refused):
                let changes = planner.rows.changesSinceMark()
                if !changes.isEmpty {
                    latest += 1
                    history.append(
                        HistoryTransaction(
                            number: latest, time: moment.now, device: push.device, ownNumber: transaction.number,
                            changes: changes.map { change in
                                var result = HistoryChange(
                                    id: change.id, before: change.before.row, after: change.after.row)
                                if case .forwarded(let other) = change.after {
                                    result.forwarded = other
                                    result.forwardedScope = planner.rows[other].row?.scope
                                }
                                return result
                            }))
                }
                outcomes.append(.taken(latest, refused))
            case .refused(let reason): outcomes.append(.refused(reason))
            case .conflict(let id): outcomes.append(.conflict(id))
            }
            if case .conflict = verdict { break }
        }
        if !planner.rows.questions.isEmpty { return .needs(planner.rows.questions) }
        var device = moment.device
        device.lastBatch = push.batch
        device.lastDecided = push.batch
        device.lastAnswer = .decided(outcomes)
        return .done(
            PushPlan(
                rows: planner.rows.changedRows, history: history, device: device, answer: .decided(outcomes)))
    }

    /// The part of the history that a device may see, by whole transactions.
    ///
    /// - Parameters:
    ///   - request: what the device asked.
    ///   - history: the transactions after its cursor, in order, as many as a page may need.
    ///   - moment: what the server knows.
    ///   - limit: how many changes a page has before it ends with a transaction.
    /// - Returns: the page.
    package static func page(
        for request: PullRequest, of history: some Sequence<HistoryTransaction>, at moment: ServerMoment, limit: Int
    ) -> Page {
        let visible = request.scopes.intersection(moment.granted)
        var transactions: [PageTransaction] = []
        var end = request.after
        var endTime = moment.timeAtCursor
        var count = 0
        for transaction in history {
            if let atMost = request.atMost, transaction.number > atMost { break }
            if count >= limit, end >= request.atLeast { break }
            let changes = transaction.changes.compactMap {
                pageChange($0, visible: visible, known: moment.device.known)
            }
            if !changes.isEmpty {
                transactions.append(
                    PageTransaction(
                        number: transaction.number, time: transaction.time, device: transaction.device, changes: changes
                    ))
            }
            count += changes.count
            (end, endTime) = (transaction.number, transaction.time)
        }
        return Page(
            transactions: transactions, end: end, latest: moment.latest, granted: moment.granted, endTime: endTime)
    }

    /// What a device hears of a change; nil if the row neither was in its scopes nor is.
    private static func pageChange(
        _ change: HistoryChange, visible: Set<SyncScope>, known: KnownProperties
    ) -> PageChange? {
        func isVisible(_ row: Row?) -> Bool {
            guard let row, known.contains(change.id.entity) else { return false }
            return row.scope.map { visible.contains($0) } ?? true
        }
        switch (isVisible(change.before), isVisible(change.after)) {
        case (false, false): return nil
        case (true, false):
            if let forwarded = change.forwarded, change.forwardedScope.map({ visible.contains($0) }) ?? true {
                return .forwarded(change.id, to: forwarded)
            }
            return change.after == nil ? .deleted(change.id) : .left(change.id)
        case (false, true):
            guard let after = change.after else { return nil }
            return .row(change.id, known.part(of: after.values, in: change.id.entity), after.scope)
        case (true, true):
            guard let before = change.before, let after = change.after else { return nil }
            let values = known.part(of: after.values, in: change.id.entity).filter { before.values[$0.key] != $0.value }
            if values.isEmpty, before.scope == after.scope { return nil }
            return .values(change.id, values, after.scope)
        }
    }

    /// A portion of a download.
    ///
    /// - Parameters:
    ///   - request: what the device asked.
    ///   - rows: the rows of the generation after the request's last one, in the order of their identifiers, as many as
    ///     a portion has.
    ///   - generation: the state that they are from.
    ///   - isLast: whether no row follows these.
    ///   - moment: what the server knows.
    /// - Returns: the portion, without what the user may not see.
    package static func portion(
        for request: RowsRequest, of rows: [(id: RowID, row: Row)], generation: HistoryNumber, isLast: Bool,
        at moment: ServerMoment
    ) -> Portion {
        let known = moment.device.known
        let changes = rows.compactMap { id, row -> PageChange? in
            guard known.contains(id.entity) else { return nil }
            if let scope = row.scope, !moment.granted.contains(scope) { return nil }
            let values = known.part(of: row.values, in: id.entity)
            switch request.kind {
            case .everything: return .row(id, values, row.scope)
            case .scopes(let scopes):
                guard let scope = row.scope, scopes.contains(scope) else { return nil }
                return .row(id, values, scope)
            case .properties(let added):
                guard added.contains(id.entity) else { return nil }
                return .values(id, added.part(of: values, in: id.entity), row.scope)
            }
        }
        return Portion(
            generation: generation, rows: changes, next: isLast ? nil : rows.last?.id, granted: moment.granted)
    }
}
