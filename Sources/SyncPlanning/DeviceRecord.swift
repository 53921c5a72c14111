/// What a device keeps of its sync, in the store, beside its rows.
package struct DeviceRecord: Codable, Hashable, Sendable {
    package var device: DeviceID
    /// The server's history that the cursor counts in; nil before the first download.
    package var epoch: String?
    /// The last transaction of the server's history that the rows have.
    package var cursor: HistoryNumber = 0
    /// When the server took that transaction; nil if it has not said so.
    package var cursorTime: Int64?
    /// The last batch whose answer has come from this life of the server's history; nil for none.
    package var answered: UInt64?
    package var nextBatch: UInt64 = 1
    /// The scopes whose rows are here.
    package var scopes: Set<SyncScope> = []
    /// The properties that both sides know, whose values are here.
    package var known = KnownProperties([:])
    package var clocks = ClockOffsets()
    package var download: DownloadProgress?
    /// Whether only the rows of some scopes are here; nil for all rows.
    package var isScoped: Bool?

    package init(device: DeviceID) { self.device = device }
}

/// A download that goes on after a kill. Its rows are in a table beside the rows until all of them are there.
package struct DownloadProgress: Codable, Hashable, Sendable {
    package var kind: DownloadKind
    package var epoch: String
    package var agreement: Agreement
    package var granted: Set<SyncScope>
    /// The state of the first rows, and that of the last ones: a server that could not keep the former goes on with a
    /// later one, and the changes between the two follow.
    package var first: HistoryNumber?
    package var generation: HistoryNumber?
    package var next: RowID?
    package var isComplete = false
}

/// Own transactions on their way: written before the first byte is sent, and unchanged until the server has decided.
package struct FrozenBatch: Codable, Hashable, Sendable {
    package var request: PushRequest
    package var answer: PushAnswer?

    package init(request: PushRequest, answer: PushAnswer? = nil) {
        self.request = request
        self.answer = answer
    }
}

extension FrozenBatch {
    /// Whether the server has taken the batch whole, and a page has nothing but what it made of it, which is what was
    /// sent. The device then has nothing to do but forget the batch.
    ///
    /// - Parameters:
    ///   - order: what the page leads to.
    ///   - record: the record before.
    ///   - base: what the server last had of the batch's rows.
    /// - Returns: false also where that is not certain.
    package func isEchoed(by order: RebaseOrder, from record: DeviceRecord, base: [RowID: Row?]) -> Bool {
        guard order.stage == nil, order.restored == nil, case .decided(let outcomes) = answer,
            order.record.epoch == record.epoch, order.record.known == record.known,
            order.record.scopes == record.scopes, outcomes.count == request.transactions.count,
            outcomes.allSatisfy({ if case .taken(let number, []) = $0 { number <= order.end } else { false } })
        else { return false }
        var mine: [RowID: [String: SyncValue]?] = [:]
        for change in request.transactions.lazy.flatMap(\.changes) {
            guard let known = mine[change.id] ?? base[change.id].map({ $0?.values }) else { return false }
            switch (change.edit, known) {
            case (.insert(let values), nil): mine.updateValue(values, forKey: change.id)
            case (.update(let changes), let former?):
                mine.updateValue(former.merging(changes.mapValues(\.new)) { $1 }, forKey: change.id)
            case (.delete, _): mine.updateValue(nil, forKey: change.id)
            default: return false
            }
        }
        var theirs = mine
        for id in mine.keys { theirs.updateValue(base[id]??.values, forKey: id) }
        for transaction in order.transactions {
            guard transaction.device == record.device else { return false }
            for change in transaction.changes {
                guard let former = theirs[change.id] else { return false }
                switch (change, former) {
                case (.row(let id, let values, nil), nil): theirs.updateValue(values, forKey: id)
                case (.values(let id, let values, nil), let former?):
                    theirs.updateValue(former.merging(values) { $1 }, forKey: id)
                case (.deleted(let id), _): theirs.updateValue(nil, forKey: id)
                default: return false
                }
            }
        }
        return mine == theirs
    }
}

/// What may be sent next.
package struct FreezeOrder: Hashable, Sendable {
    /// The properties that both sides know.
    package var known: KnownProperties
    /// The entities of which this program cannot make rows. The first transaction that makes such a row, and all after
    /// it, are not sent.
    package var unwritable: Set<String>
    package var agreement: Agreement
    package var epoch: String

    package init(known: KnownProperties, unwritable: Set<String>, agreement: Agreement, epoch: String) {
        self.known = known
        self.unwritable = unwritable
        self.agreement = agreement
        self.epoch = epoch
    }
}

/// Chooses what is sent next. Pure.
package enum Freezing {
    package struct Result: Hashable, Sendable {
        /// What to send: the parts that the server knows; nil if there is none.
        package var request: PushRequest?
        /// What stays: parts that the server does not know yet, and everything after a transaction that must wait.
        package var rest: [OwnTransaction] = []
        /// Whether something waits for a newer server.
        package var waitsForServer = false
        /// Whether something waits for a newer program.
        package var waitsForProgram = false
    }

    /// - Parameters:
    ///   - open: the unsent transactions, in order.
    ///   - order: what may be sent.
    ///   - record: the device's record, with the number of the next batch.
    ///   - schema: the device's schema.
    ///   - limit: how many transactions a batch has at most.
    /// - Returns: the batch, and what stays.
    package static func freeze(
        _ open: [OwnTransaction], _ order: FreezeOrder, record: DeviceRecord, schema: SyncSchema, limit: Int
    ) -> Result {
        let known = order.known
        var result = Result()
        var batch: [OwnTransaction] = []
        for (place, transaction) in open.enumerated() {
            let isStopped = transaction.changes.contains { change in
                if case .insert = change.edit { order.unwritable.contains(change.id.entity) } else { false }
            }
            if isStopped || batch.count >= limit {
                result.rest += open[place...]
                result.waitsForProgram = isStopped
                break
            }
            var sent = transaction
            var rest = transaction
            sent.changes = transaction.changes.compactMap { part(of: $0, isKnown: true, known, schema) }
            rest.changes = transaction.changes.compactMap { part(of: $0, isKnown: false, known, schema) }
            if !rest.changes.isEmpty {
                result.rest.append(rest)
                result.waitsForServer = true
            }
            if sent.changes.isEmpty { continue }
            sent.time = record.clocks.serverTime(of: transaction.reading)
            batch.append(sent)
        }
        if !batch.isEmpty {
            result.request = PushRequest(
                device: record.device, agreement: order.agreement, epoch: order.epoch, batch: record.nextBatch,
                transactions: batch, answered: record.answered)
        }
        return result
    }

    /// The part of a change that the server knows, or the other one; nil if there is nothing in it.
    private static func part(
        of change: RowChange, isKnown: Bool, _ known: KnownProperties, _ schema: SyncSchema
    ) -> RowChange? {
        var part = change
        let entity = change.id.entity
        guard known.contains(entity) else { return isKnown ? nil : change }
        switch change.edit {
        case .delete: return isKnown ? change : nil
        case .insert(let values):
            if isKnown {
                part.edit = .insert(known.part(of: values, in: entity))
                return part
            }
            // Values that a row gets anyway need not be sent later.
            let rest = values.filter { property, value in
                !known.contains(property, of: entity)
                    && value != schema.property(property, of: entity)?.initialValue ?? .null
            }
            if rest.isEmpty { return nil }
            part.edit = .update(
                rest.reduce(into: [:]) { changes, item in
                    let old = schema.property(item.key, of: entity)?.initialValue ?? .null
                    changes[item.key] = ValueChange(old: old, new: item.value)
                })
            return part
        case .update(let changes):
            let kept = changes.filter { known.contains($0.key, of: entity) == isKnown }
            if kept.isEmpty { return nil }
            part.edit = .update(kept)
            return part
        }
    }
}

/// What a device's clocks show at one moment.
package struct ClockReading: Codable, Hashable, Sendable {
    /// The identifier of the machine's start; the running time begins anew with each.
    package var boot: String
    /// Microseconds since the start, sleep included. Nobody can set this clock.
    package var running: Int64
    /// Microseconds since 1970, by the clock on the wall, which anybody can set.
    package var wall: Int64

    package init(boot: String, running: Int64, wall: Int64) {
        self.boot = boot
        self.running = running
        self.wall = wall
    }
}

/// How far a device's clocks are from the server's, measured with each greeting. Pure.
package struct ClockOffsets: Codable, Hashable, Sendable {
    /// The offset of a start of the machine, and the round trip in which it was measured. Half of that is the greatest
    /// error.
    package struct Measurement: Codable, Hashable, Sendable {
        package var boot: String
        package var offset: Int64
        package var roundTrip: Int64
    }

    /// Server's time less running time by the shortest round trip, for the last starts in which there was a greeting.
    private var measurements: [Measurement] = []
    /// Server's time less the wall clock's, as last measured.
    package private(set) var wall: Int64?

    package init() {}

    /// Takes in a greeting's answer: the server's time was read halfway between sending and receiving.
    package mutating func measure(sent: ClockReading, received: ClockReading, server: Int64) {
        guard sent.boot == received.boot else { return }
        let roundTrip = received.running - sent.running
        let half = roundTrip / 2
        let measurement = Measurement(boot: sent.boot, offset: server - (sent.running + half), roundTrip: roundTrip)
        if let place = measurements.firstIndex(where: { $0.boot == sent.boot }) {
            if roundTrip < measurements[place].roundTrip { measurements[place] = measurement }
        } else {
            measurements = measurements.suffix(15) + [measurement]
        }
        let difference = server - (received.wall - half)
        // What the measurement cannot tell from none is none: clocks that are kept right agree better than that.
        wall = abs(difference) <= half ? 0 : difference
    }

    package func measurement(of boot: String) -> Measurement? { measurements.first { $0.boot == boot } }

    /// When something happened by the server's clock, or nil if no greeting has ever been answered.
    ///
    /// Within a start of the machine in which there was a greeting this does not depend on the wall clock.
    package func serverTime(of reading: ClockReading) -> Int64? {
        if let measurement = measurement(of: reading.boot) { return reading.running + measurement.offset }
        return wall.map { reading.wall + $0 }
    }
}

/// The names under which stores note what a sync must remember.
package enum SyncNote {
    /// What all of a device's begin with, and all of a server's.
    package static let (ofDevice, ofServer) = ("sync/device/", "sync/server/")

    /// What the context's name begins with, in the history, of a transaction that a sync has written.
    package static let context = "PippinSync"

    /// Where the device is: see ``DeviceSummary``.
    package static let cursor = ofDevice + "cursor"
    package static let device = ofDevice + "record"
    package static let open = ofDevice + "open"
    package static let (batch, answer) = (ofDevice + "batch", ofDevice + "answer")
    package static let acknowledged = ofDevice + "acknowledged"
    package static let base = ofDevice + "base"
    package static let closures = ofDevice + "closures"
    package static let (journal, stage) = (ofDevice + "journal/", ofDevice + "stage/")
    package static let content = ofServer + "content"
    package static let devices = ofServer + "devices/"

    /// An entry of the journal.
    package static func journal(_ number: Int) -> String { journal + padded(number, 12) }

    /// A portion of downloaded rows. Those of one entity follow each other.
    package static func stage(_ entity: Int, _ portion: Int) -> String {
        stage + padded(entity, 6) + "/" + padded(portion, 12)
    }

    private static func padded(_ number: Int, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}

/// What everybody may know of a synced store.
package struct DeviceSummary: Codable, Hashable, Sendable {
    /// The last transaction of the server's history that the rows have.
    package var cursor: HistoryNumber
    /// The last transaction of the store's own history that is not waiting there.
    package var captured: Int64
    /// How many transactions wait elsewhere.
    package var waiting: Int

    package init(cursor: HistoryNumber, captured: Int64, waiting: Int) {
        (self.cursor, self.captured, self.waiting) = (cursor, captured, waiting)
    }
}

/// A device's note of where it is, as far as others read it.
package struct DevicePosition: Codable, Sendable {
    package let summary: DeviceSummary
}
