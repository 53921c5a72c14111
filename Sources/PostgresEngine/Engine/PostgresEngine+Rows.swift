import CoreDataModel
import Foundation
import PostgresConnection
import StoreEngine

extension PostgresEngine {
    package func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> { try reading { try $0.fetchRows(plan) } }

    package func readRows(_ plan: FetchPlan, _ body: (consuming PlacedRow) -> Void) throws {
        try reading { try $0.readRows(plan, body) }
    }

    package func forEachRow(_ plan: FetchPlan, _ body: (any CurrentRow) -> Bool) throws {
        try reading { try $0.forEachRow(plan, body) }
    }

    package func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
        try reading { try $0.fetchIdentifiers(plan) }
    }

    package func fetchCount(_ plan: FetchPlan) throws -> Int { try reading { try $0.fetchCount(plan) } }

    package func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] {
        try reading { try $0.fetchDictionaries(plan) }
    }

    package func readTuples(_ plan: FetchPlan, _ body: (ContiguousArray<StoredValue>) throws -> Void) throws {
        for tuple in try reading({ try $0.fetchTuples(plan) }) { try body(tuple) }
    }

    package func row(for identifier: NSManagedObjectID) throws -> Row? { try reading { try $0.row(for: identifier) } }

    package func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try reading { try $0.rows(for: identifiers) }
    }

    package func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] { try reading { try $0.destinations(of: relationship, for: identifiers) } }

    package func forEachRow(
        for identifiers: [NSManagedObjectID], _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws { try reading { try $0.forEachRow(for: identifiers, body) } }

    package func forEachRow(
        of entity: EntityLayout, where slot: Int, isAmong values: [StoredValue], _ body: (any CurrentRow) throws -> Void
    ) throws {
        let isDone = try reading { try $0.forEachRow(of: entity, where: slot, isAmong: values, body) }
        if !isDone { try forEachFetchedRow(of: entity, where: slot, isAmong: values, body) }
    }

    package func forEachDestination(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws { try reading { try $0.forEachDestination(of: relationship, for: identifiers, body) } }

    package func makePermanentIdentifiers(
        for entities: [EntityLayout], isSavedLater: Bool
    ) throws -> [NSManagedObjectID] { try writing { try $0.makePermanentIdentifiers(for: entities) } }

    package func expectRows(_ count: Int, of entity: EntityLayout) { opened?.expectRows(count, of: entity) }

    package func save(_ changes: ChangeSet) throws -> SaveResult { try save(changes, others: nil) }

    package func save(_ changes: ChangeSet, with others: () throws -> Void) throws -> SaveResult {
        try withoutActuallyEscaping(others) { try save(changes, others: $0) }
    }

    private func save(_ changes: ChangeSet, others: (() throws -> Void)?) throws -> SaveResult {
        if opened?.wasLockedBeforePreview != nil { return try writing { try $0.save(changes, with: others) } }
        let metadata = facts.metadataAreChanged ? facts.metadata : nil
        let (start, trips) = (ContinuousClock.now, roundTrips)
        let result = try writing { try $0.save(changes, metadata: metadata, with: others) }
        NSPostgreSQLMetricsReceiver.record(
            .saved(
                rows: changes.inserted.count + changes.updated.count + changes.deleted.count,
                // A new connection counts from zero.
                roundTrips: max(0, roundTrips - trips), duration: ContinuousClock.now - start))
        facts.metadataAreChanged = false
        return result
    }

    package var keys: (any KeyedEngine)? { self }
    package var batches: (any BatchEngine)? { self }
    package var roundsDates: Bool { true }
    package var previews: (any PreviewingEngine)? { self }
    package var longTransactions: (any LongTransactionEngine)? { self }
    package var pinning: (any PinningEngine)? { self }
    package var sharing: (any SharedEngine)? { self }
    package var explaining: (any ExplainingEngine)? { self }
    package var sql: (any SQLReadingEngine)? { self }
    package var searching: (any SearchingEngine)? { self }
    package var noting: (any NotingEngine)? { self }
    package var history: (any HistoryEngine)? { settings.tracksHistory ? self : nil }
    package var changeNotifications: (any ChangeNotifyingEngine)? { settings.postsRemoteChanges ? self : nil }
}

extension PostgresEngine: KeyedEngine {
    package func reserveKeys(upTo key: Int64, of root: EntityLayout) throws {
        try writing { try $0.reserveKeys(upTo: key, of: root) }
    }

    package func lastKey(of root: EntityLayout) throws -> Int64 { try reading { try $0.lastKey(of: root) } }
}

extension PostgresEngine: BatchEngine {
    package func insertBatch(
        _ plan: BatchInsertPlan, next: (inout BatchRow) throws -> Bool
    ) throws -> BatchOutcome { try writing { try $0.insertBatch(plan, next: next) } }

    package func updateBatch(_ plan: BatchUpdatePlan) throws -> BatchOutcome {
        try writing { try $0.updateBatch(plan) }
    }

    package func deleteBatch(_ plan: BatchDeletePlan) throws -> BatchOutcome {
        try writing { try $0.deleteBatch(plan) }
    }
}

extension PostgresEngine: LongTransactionEngine {
    package func beginLongTransaction(makesIndexesLater: Bool, copying source: (any StoreEngine)?) throws {
        try writing { try $0.beginLongTransaction(makesIndexesLater: makesIndexesLater) }
    }

    package func makeIndexes() throws { try writing { try $0.makeIndexes() } }

    package func sharedUniqueValues(limit: Int) throws -> [(constraint: [String], rows: [NSManagedObjectID])] {
        try following { try $0.sharedUniqueValues(limit: limit) }
    }

    package func resetVersions() throws { try writing { try $0.resetVersions() } }
    package func endLongTransaction(commits: Bool) throws { try opened?.endLongTransaction(commits: commits) }
}

extension PostgresEngine: PreviewingEngine {
    package func beginPreview() throws { try writing { try $0.beginPreview() } }
    package func endPreview() -> Bool { opened?.endPreview() ?? false }
}

extension PostgresEngine: ExplainingEngine {
    package func statement(of plan: FetchPlan) throws -> String { try reading { try $0.statement(of: plan) } }
}

extension PostgresEngine: SQLReadingEngine {
    package func read(
        _ sql: WrittenSQL, columns: ([String]) throws -> Void, row: (any CurrentRow) throws -> Bool
    ) throws { try reading { try $0.read(sql, columns: columns, row: row) } }
}

extension PostgresEngine: NotingEngine {
    package func note(_ name: String) throws -> Data? { try following { try $0.note(name) } }

    package func notes(
        beginningWith prefix: String, after name: String?, limit: Int
    ) throws -> [(name: String, data: Data)] {
        try following { try $0.notes(beginningWith: prefix, after: name, limit: limit) }
    }

    package func noteCount(beginningWith prefix: String) throws -> Int {
        try following { try $0.noteCount(beginningWith: prefix) }
    }

    package func makeNotes() throws { try writing { try $0.makeNotes() } }
}

extension PostgresEngine: SharedEngine {
    package func changeCount() throws -> Int64 { try following { try $0.changeCount() } }
    package func lockOutWriters() throws { try following { try $0.lockOutWriters() } }
    /// The lock is a round trip away.
    package func lockOutWritersUnlessBusy() -> Bool { false }

    package var readsWithoutWaiting: Bool { false }
    package func readmitWriters() { opened?.readmitWriters() }
}

extension PostgresEngine: HistoryEngine {
    package var mayLag: Bool { facts.isReadOnly }

    package func historyTransactions(after start: HistoryPosition?, limit: Int?) throws -> [HistoryTransactionRow] {
        try reading { try $0.historyTransactions(after: start, limit: limit) }
    }

    package func historyTransactions(numbered numbers: Set<Int64>) throws -> [HistoryTransactionRow] {
        try following { try $0.historyTransactions(numbered: numbers) }
    }

    package func historyChanges(
        after start: HistoryPosition?, through last: Int64?, ofKeys keys: Set<Int64>?
    ) throws -> [HistoryChangeRow] {
        try reading { try $0.historyChanges(after: start, through: last, ofKeys: keys) }
    }

    package func historyChanges(ofRowsChangedAfter first: Int64, through last: Int64) throws -> [HistoryChangeRow] {
        try reading {
            try $0.historyChanges(
                after: .transaction(last), through: nil, ofKeys: nil, ofRowsChangedIn: (first, last))
        }
    }

    package func deleteHistory(before end: HistoryPosition?) throws {
        try writing { try $0.deleteHistory(before: end) }
    }
    package func recordRows() throws -> Bool { try writing { try $0.recordRows() } }
    package func latestTransaction() throws -> Int64 { try following { try $0.latestTransaction() } }
    package func oldestKeptTransaction() throws -> Int64? { try following { try $0.oldestKeptTransaction() } }
}

extension PostgresEngine: PinningEngine {
    package func pinGeneration() throws -> AnyObject? {
        do { return try pinGeneration(holding: nil) } catch let full as GenerationsInUse {
            return try pinGeneration(holding: full.wait())
        }
    }

    package func pinGeneration(holding place: AnyObject?) throws -> AnyObject? {
        try following { _ in try makeGeneration(holding: place as? GenerationPlace) }
    }
}

extension PostgresEngine: ChangeNotifyingEngine {
    package func observeChanges(
        whileIdle: @escaping @Sendable (() -> Bool) -> Bool?, handler: @escaping @Sendable () -> Void
    ) {
        observation = (whileIdle, handler)
        guard let opened else { return }
        listener?.cancel()
        // nonisolated(unsafe): `whileIdle` ensures that no other thread uses the engine meanwhile.
        nonisolated(unsafe) weak let engine = self
        let listener = NotificationListener(
            opened.place, isPooled: opened.isPooled, ownProcess: { engine?.opened?.connection.processID },
            whileIdle: whileIdle, handler: handler)
        self.listener = listener
        opened.notifications.channel = listener.channel
    }
}
