/// News of the server, and what a device has that the server has not taken, together: everything that decides what the
/// device's rows are afterwards.
package struct RebaseInput: Sendable {
    package var order: RebaseOrder
    /// The record as it is before.
    package var record: DeviceRecord
    package var schema: SyncSchema
    /// Downloaded rows of scopes or properties. When everything is replaced, the facts are about the downloaded rows
    /// instead of the present ones.
    package var staged: [PageChange] = []
    package var frozen: FrozenBatch?
    package var open: [OwnTransaction]
    /// Acknowledged transactions of batches after the order's last one: the server took them, and lost them.
    package var lost: [OwnTransaction] = []
    /// The rows that differ from the server's, and those that open, frozen and lost transactions change, with what the
    /// server last had; nil where it had none.
    package var dirty: [RowID: Row?] = [:]
    /// What is shown of those rows now; nil where nothing is.
    package var shown: [RowID: Row?] = [:]
    /// The server's rows of the scopes that the order leaves; not needed when everything is replaced.
    package var leaving: Set<RowID> = []
    /// Rows whose closures were noted for this step, and how often each was noted.
    package var noted: Set<RowID> = []
    package var attempts: [RowID: Int] = [:]

    package init(
        order: RebaseOrder, record: DeviceRecord, schema: SyncSchema, frozen: FrozenBatch?, open: [OwnTransaction]
    ) {
        self.order = order
        self.record = record
        self.schema = schema
        self.frozen = frozen
        self.open = open
    }

    var isReplacement: Bool { order.stage == .everything }

    /// The page's transactions, and what was downloaded after them.
    var transactions: [PageTransaction] {
        if staged.isEmpty || isReplacement { return order.transactions }
        return order.transactions + [PageTransaction(number: order.end, time: 0, device: nil, changes: staged)]
    }
}

/// What a device writes in one transaction.
package struct RebasePlan: Sendable {
    /// The server's rows that have changed; nil for those that are gone.
    package var base: [RowID: Row?] = [:]
    /// What is shown of changed rows and of those that were or are different from the server's; nil for nothing.
    package var shown: [RowID: Row?] = [:]
    package var open: [OwnTransaction] = []
    /// What the server has taken, for the case that it loses it.
    package var acknowledged: [OwnTransaction] = []
    package var journal: [RefusedChange] = []
    /// Rows whose closures failed twice: the later edit decides.
    package var skippedClosures: Set<RowID> = []
}

package enum RebaseStep: Sendable {
    case needs(RowQuestions)
    /// Write down that the closures of these rows are about to run, and plan again.
    case note(Set<RowID>)
    case done(RebasePlan)
}

/// The page ends before the transactions that the server has taken: it was not asked for with `atLeast`.
package struct PageTooShort: Error, CustomStringConvertible {
    package let end: HistoryNumber
    package let settledAt: HistoryNumber

    package var description: String {
        "The page ends with transaction \(end), before \(settledAt), which has this device's last push. Ask for at least \(settledAt)."
    }
}
