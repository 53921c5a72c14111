/// What a device asks a server.
package enum SyncRequest: Hashable, Sendable {
    case hello(HelloRequest)
    case push(PushRequest)
    case pull(PullRequest)
    case rows(RowsRequest)

    package var device: DeviceID {
        switch self {
        case .hello(let request): request.device
        case .push(let request): request.device
        case .pull(let request): request.device
        case .rows(let request): request.device
        }
    }
}

/// What a server answers. `greet` asks for a new greeting: the server's history or one of the schemas is another one.
package enum SyncAnswer: Hashable, Sendable {
    case hello(HelloAnswer)
    case push(PushAnswer)
    case page(Page)
    case portion(Portion)
    case greet
    /// The history no longer reaches back to the device's cursor.
    case resync
    /// The state that the portions are taken from is gone.
    case generationGone
}

/// Two versions of the schema that have met in a greeting.
package struct Agreement: Hashable, Sendable {
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

package struct PushRequest: Hashable, Sendable {
    package var device: DeviceID
    package var agreement: Agreement
    package var epoch: String
    /// Grows with each batch. The same number is the same bytes.
    package var batch: UInt64
    package var transactions: [OwnTransaction]
}

/// What the server has decided about a batch. It is kept with the batch's number, and given again when asked again.
package enum PushAnswer: Hashable, Sendable {
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

package enum PushOutcome: Hashable, Sendable {
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
}

/// Whole transactions of the server's history, as far as they concern a device.
package struct Page: Hashable, Sendable {
    package var transactions: [PageTransaction]
    /// The device's next cursor.
    package var end: HistoryNumber
    package var latest: HistoryNumber
    package var granted: Set<SyncScope>
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
package enum DownloadKind: Hashable, Sendable {
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
}
