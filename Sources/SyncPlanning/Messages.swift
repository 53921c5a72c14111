/// What a device asks a server.
package enum SyncRequest: Hashable, Sendable {
    case hello(HelloRequest)
    case push(PushRequest)
    case pull(PullRequest)
    case rows(RowsRequest)
    case sums(SumsRequest)

    package var device: DeviceID {
        switch self {
        case .hello(let request): request.device
        case .push(let request): request.device
        case .pull(let request): request.device
        case .rows(let request): request.device
        case .sums(let request): request.device
        }
    }
}

/// What a server answers. `greet` asks for a new greeting: the server's history or one of the schemas is another one.
package enum SyncAnswer: Hashable, Sendable {
    case hello(HelloAnswer)
    case push(PushAnswer)
    case page(Page)
    case portion(Portion)
    case sums([UInt64])
    /// The server is at another state than the one that was asked about.
    case moved
    case greet
    /// The history no longer reaches back to the device's cursor.
    case resync
    /// The state that the portions are taken from is gone.
    case generationGone
}

/// Two versions of the schema that have met in a greeting.
package struct Agreement: Codable, Hashable, Sendable {
    package var deviceSchema: Int
    package var serverSchema: Int

    package init(deviceSchema: Int, serverSchema: Int) {
        self.deviceSchema = deviceSchema
        self.serverSchema = serverSchema
    }
}

package struct HelloRequest: Hashable, Sendable {
    package var device: DeviceID
    /// The server's history that the device knows; nil before the first download.
    package var epoch: String?
    package var schemaVersion: Int
    package var properties: KnownProperties
    /// Where the device is in that history, when the server took that transaction, and the last batch of its own that
    /// the server has answered: a server that knows otherwise has been restored from a backup.
    package var cursor: HistoryNumber = 0
    package var cursorTime: Int64?
    package var lastAnswered: UInt64 = 0
}

package struct HelloAnswer: Hashable, Sendable {
    /// The life of the server's history. It is another one after a backup has been restored.
    package var epoch: String
    /// The last transaction that this history shares with the one that the device knows.
    package var shared: HistoryNumber
    /// The last transaction, and the one after which the history is complete.
    package var latest: HistoryNumber
    package var oldest: HistoryNumber
    /// The last batch of this device that the server has decided about.
    package var lastBatch: UInt64
    /// The last one of these whose transactions it has looked at.
    package var lastDecided: UInt64
    /// The scopes that the user may see.
    package var granted: Set<SyncScope>
    package var agreement: Agreement
    /// The properties that both sides know.
    package var known: KnownProperties
    /// Entities of which this device's program cannot make rows.
    package var unwritable: Set<String>
    /// Microseconds since 1970.
    package var time: Int64
}

package struct PushRequest: Codable, Hashable, Sendable {
    package var device: DeviceID
    package var agreement: Agreement
    package var epoch: String
    /// Grows with each batch. The same number is the same bytes.
    package var batch: UInt64
    package var transactions: [OwnTransaction]
    /// The last batch that this life of the server's history has answered. A server that does not know of it has been
    /// restored from a backup, and takes nothing before that is settled.
    package var answered: UInt64?
}

/// What the server has decided about a batch. It is kept with the batch's number, and given again when asked again.
package enum PushAnswer: Codable, Hashable, Sendable {
    /// One outcome for each transaction, in order. After a conflict the rest is not looked at, and has none.
    case decided([PushOutcome])
    /// Nothing was taken: the epoch or a schema is another one.
    case notProcessed
    /// The server has decided about a later batch. Only a copy that was late gets this answer.
    case outdated

    /// The last transaction of the server's history that holds something of the batch.
    package var settledAt: HistoryNumber {
        guard case .decided(let outcomes) = self else { return 0 }
        return outcomes.reduce(0) { if case .taken(let number, _) = $1 { max($0, number) } else { $0 } }
    }
}

package enum PushOutcome: Codable, Hashable, Sendable {
    /// The transaction is in the server's history up to this number, apart from some of its changes.
    case taken(HistoryNumber, [RefusedChange])
    case refused(RefusalReason)
    /// A closure must run first.
    case conflict(RowID)
}

package struct PullRequest: Hashable, Sendable {
    package var device: DeviceID
    package var agreement: Agreement
    package var epoch: String
    package var after: HistoryNumber
    /// The page ends not before this transaction, and not after that one.
    package var atLeast: HistoryNumber
    package var atMost: HistoryNumber?
    /// The scopes whose rows the device has.
    package var scopes: Set<SyncScope>
    /// When the server took transaction `after`, as far as the device knows.
    package var afterTime: Int64?
}

/// Whole transactions of the server's history, as far as they concern a device.
package struct Page: Hashable, Sendable {
    package var transactions: [PageTransaction]
    /// The device's next cursor.
    package var end: HistoryNumber
    package var latest: HistoryNumber
    package var granted: Set<SyncScope>
    /// When the server took transaction `end`; nil if it does not know that any more.
    package var endTime: Int64?
}

package struct PageTransaction: Hashable, Sendable {
    package var number: HistoryNumber
    package var time: Int64
    package var device: DeviceID?
    package var changes: [PageChange]
}

package enum PageChange: Hashable, Sendable {
    /// The whole row: it is new, or it has come into a scope.
    case row(RowID, [String: SyncValue], SyncScope?)
    /// Changed properties, and the scope.
    case values(RowID, [String: SyncValue], SyncScope?)
    case deleted(RowID)
    case left(RowID)
    case forwarded(RowID, to: RowID)

    package var id: RowID {
        switch self {
        case .row(let id, _, _), .values(let id, _, _), .deleted(let id), .left(let id), .forwarded(let id, _): id
        }
    }
}

/// What is downloaded row by row, from one state of the server.
package enum DownloadKind: Codable, Hashable, Sendable {
    /// The first time, and whenever the history does not lead from here to there.
    case everything
    /// Scopes that the user has got.
    case scopes(Set<SyncScope>)
    /// Properties that both programs know since one was updated.
    case properties(KnownProperties)
}

package struct RowsRequest: Hashable, Sendable {
    package var device: DeviceID
    package var agreement: Agreement
    package var epoch: String
    package var kind: DownloadKind
    /// The state to read; nil to pin the latest.
    package var generation: HistoryNumber?
    package var after: RowID?
}

package struct Portion: Hashable, Sendable {
    package var generation: HistoryNumber
    package var rows: [PageChange]
    /// Where the next portion begins; nil after the last.
    package var next: RowID?
    package var granted: Set<SyncScope>

    package init(generation: HistoryNumber, rows: [PageChange], next: RowID?, granted: Set<SyncScope>) {
        (self.generation, self.rows, self.next, self.granted) = (generation, rows, next, granted)
    }
}

/// What a device's program saved at once.
package struct OwnTransaction: Codable, Hashable, Sendable {
    /// Its number in the device's own history.
    package var number: UInt64
    /// The device's clocks when it was saved.
    package var reading: ClockReading
    /// When it was saved by the server's clock; set when it is sent.
    package var time: Int64?
    package var changes: [RowChange]
    /// Whether the server took this once and lost it, being restored from a backup.
    package var isRepeated = false

    package init(number: UInt64, reading: ClockReading, changes: [RowChange]) {
        self.number = number
        self.reading = reading
        self.changes = changes
    }
}

/// A row's part of a transaction.
package struct RowChange: Codable, Hashable, Sendable {
    package enum Edit: Codable, Hashable, Sendable {
        case insert([String: SyncValue])
        case update([String: ValueChange])
        case delete
    }

    package var id: RowID
    /// The server's history as far as the device knew it when it made the change.
    package var base: HistoryNumber
    /// The server's history as far as the program's closures have seen it; at first the base.
    package var seen: HistoryNumber
    package var edit: Edit
    /// The saved change that this one is, or is a part of.
    package var origin: ChangeOrigin
    /// The saved changes that a closure has merged into this one, by property.
    package var merged: [String: Set<ChangeOrigin>] = [:]
    /// Whether the later edit decides, because the program's closure has failed twice.
    package var skipsClosure = false

    package init(_ id: RowID, base: HistoryNumber, _ edit: Edit, origin: ChangeOrigin) {
        self.id = id
        self.base = base
        seen = base
        self.edit = edit
        self.origin = origin
    }

    /// The values that the change sets.
    package var newValues: [String: SyncValue] {
        switch edit {
        case .insert(let values): values
        case .update(let changes): changes.mapValues(\.new)
        case .delete: [:]
        }
    }
}

/// A property's former value and its new one.
package struct ValueChange: Codable, Hashable, Sendable {
    package var old: SyncValue
    package var new: SyncValue

    package init(old: SyncValue, new: SyncValue) {
        self.old = old
        self.new = new
    }
}

/// A change as it was saved: the transaction in the device's history, and the place in it.
package struct ChangeOrigin: Codable, Hashable, Comparable, Sendable {
    package var transaction: UInt64
    package var place: Int

    package init(transaction: UInt64, place: Int) {
        self.transaction = transaction
        self.place = place
    }

    package static func < (one: ChangeOrigin, other: ChangeOrigin) -> Bool {
        (one.transaction, one.place) < (other.transaction, other.place)
    }
}

/// Why the server, or the device itself, did not take something.
package enum RefusalReason: Codable, Hashable, Sendable {
    /// Another row has the values that only one may have; nil if this user may not see that row.
    case uniqueValueTaken(properties: [String], by: RowID?)
    /// The row was deleted before.
    case rowDeleted
    /// The row left this device's scopes.
    case rowLeftScope
    /// The row was edited before by somebody who did not know of the deletion.
    case rowEdited
    /// A reference leads to a row that is not there.
    case missingReference(property: String, RowID)
    /// A required property has no value.
    case missingValue(property: String)
    /// Rows refer to the deleted one that must not lose it.
    case deletionDenied(by: RowID)
    /// The user may not write rows of this scope.
    case notAuthorized(SyncScope?)
    /// It builds on a row that a refused transaction was to insert.
    case dependsOnRefused(RowID)
    /// The server's schema does not have the entity or the property.
    case unknownProperty(String)
}

/// A change that was not taken, for the journal. The rest of its transaction may have been.
package struct RefusedChange: Codable, Hashable, Sendable {
    /// The number of the transaction in the device's own history.
    package var transaction: UInt64
    package var change: RowChange
    /// The property that was not taken; nil for the whole change.
    package var property: String?
    package var reason: RefusalReason

    package init(transaction: UInt64, change: RowChange, property: String? = nil, reason: RefusalReason) {
        self.transaction = transaction
        self.change = change
        self.property = property
        self.reason = reason
    }
}

extension OwnTransaction {
    /// The transaction without what was not taken.
    func without(_ refused: [RefusedChange]) -> OwnTransaction {
        var transaction = self
        for item in refused {
            guard
                let place = transaction.changes.firstIndex(where: {
                    $0.origin == item.change.origin && $0.id == item.change.id
                })
            else { continue }
            guard let property = item.property else {
                transaction.changes.remove(at: place)
                continue
            }
            switch transaction.changes[place].edit {
            case .insert(var values):
                values[property] = nil
                transaction.changes[place].edit = .insert(values)
            case .update(var changes):
                changes[property] = nil
                transaction.changes[place].edit = .update(changes)
            case .delete: break
            }
        }
        return transaction
    }
}

extension RowChange {
    /// The change with another row in place of one.
    func replacing(_ id: RowID, by other: RowID) -> RowChange {
        var change = self
        if change.id == id { change.id = other }
        switch edit {
        case .insert(let values): change.edit = .insert(values.mapValues { $0.replacing(id, by: other) })
        case .update(let changes):
            change.edit = .update(
                changes.mapValues {
                    ValueChange(old: $0.old.replacing(id, by: other), new: $0.new.replacing(id, by: other))
                })
        case .delete: break
        }
        return change
    }
}
