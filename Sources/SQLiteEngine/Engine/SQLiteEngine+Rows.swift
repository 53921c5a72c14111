import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension SQLiteEngine {
    // Predicates that SQL cannot express are left to the caller, if it has the objects to evaluate them with.
    package func evaluatesInMemory(_ plan: FetchPlan) -> Bool {
        guard callerEvaluates, plan.predicate != nil || !plan.sortDescriptors.isEmpty else { return false }
        // One fetch asks several times, and the objects in its predicate and order do not change.
        if let answer = latestAnswer, answer.isOf(plan) { return answer.isLeft }
        let isLeft = plan.isCode || ((try? reading { $0.canSay(plan) }) == false && !plan.hasOpenVariable)
        latestAnswer = AnsweredPlan(plan, isLeft: isLeft)
        return isLeft
    }

    private func answered(_ plan: FetchPlan) -> FetchPlan { evaluatesInMemory(plan) ? plan.withoutConditions : plan }

    package func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> {
        try reading { try $0.fetchRows(answered(plan)) }
    }

    package func readRows(_ plan: FetchPlan, _ body: (consuming PlacedRow) -> Void) throws {
        try reading { try $0.readRows(answered(plan), body) }
    }

    package func forEachRow(_ plan: FetchPlan, _ body: (any CurrentRow) -> Bool) throws {
        try reading { try $0.forEachRow(plan, body) }
    }

    package func portions(_ plan: FetchPlan) throws -> any RowPortions {
        // The structure is checked when the first row is read; the other rows are of the same state.
        try reading { try $0.rowCursor(plan) } ?? NoPortions()
    }

    package func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
        try reading { try $0.fetchIdentifiers(answered(plan)) }
    }

    package func fetchCount(_ plan: FetchPlan) throws -> Int { try reading { try $0.fetchCount(plan) } }

    package func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] {
        try reading { try $0.fetchDictionaries(plan) }
    }

    package func readTuples(_ plan: FetchPlan, _ body: (ContiguousArray<StoredValue>) throws -> Void) throws {
        try reading { try $0.readTuples(plan, body) }
    }

    package func row(for identifier: NSManagedObjectID) throws -> Row? {
        try reading { store in try store.run("read from") { try store.row(for: identifier) } }
    }

    package func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try reading { store in try store.run("read from") { try store.rows(for: identifiers) } }
    }

    package func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] { try reading { try $0.destinations(of: relationship, for: identifiers) } }

    package func forEachRow(
        for identifiers: [NSManagedObjectID], _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws { try reading { store in try store.run("read from") { try store.forEachRow(for: identifiers, body) } } }

    package func forEachRow(
        of entity: EntityLayout, where slot: Int, isAmong values: [StoredValue], _ body: (any CurrentRow) throws -> Void
    ) throws {
        let isDone = try reading { store in
            try store.run("read from") { try store.forEachRow(of: entity, where: slot, isAmong: values, body) }
        }
        if !isDone { try forEachFetchedRow(of: entity, where: slot, isAmong: values, body) }
    }

    package func forEachDestination(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws {
        try reading { store in
            try store.run("read from") { try store.forEachDestination(of: relationship, for: identifiers, body) }
        }
    }

    package func forEachKey(
        atEndOf relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ key: Int64) -> Void
    ) throws {
        try reading { store in
            try store.run("read from") { try store.forEachKey(atEndOf: relationship, for: identifiers, body) }
        }
    }

    package func readingOneState(_ body: () throws -> Void) throws -> Bool {
        try reading { _ in try body() }
        return true
    }

    package func makePermanentIdentifiers(
        for entities: [EntityLayout], isSavedLater: Bool
    ) throws -> [NSManagedObjectID] {
        try writing { try $0.makePermanentIdentifiers(for: entities, isSavedLater: isSavedLater) }
    }

    package func promiseIdentifiers(for entities: [EntityLayout]) throws -> PromisedIdentifiers {
        try writing { try $0.promiseIdentifiers(for: entities) }
    }

    /// From how many rows on a save is worth the four system calls that stop the reports of its writes.
    private static let manyRows = 1_000

    package func save(_ changes: ChangeSet, with others: () throws -> Void) throws -> SaveResult {
        let isPreview = opened?.wasLockedBeforePreview != nil
        let metadata = facts.metadataAreChanged && !isPreview ? facts.metadata : nil
        let save = { (store: OpenStore) in try store.save(changes, metadata: metadata, with: others) }
        let count = changes.inserted.count + changes.updated.count + changes.deleted.count
        let result = try count < Self.manyRows ? writing(save) : writingMuch(save)
        if !isPreview { facts.metadataAreChanged = false }
        return result
    }

    package var keys: (any KeyedEngine)? { self }
    package var batches: (any BatchEngine)? { self }
    package var previews: (any PreviewingEngine)? { self }
    package var longTransactions: (any LongTransactionEngine)? { self }
    package var sharing: (any SharedEngine)? { self }
    package var pinning: (any PinningEngine)? { self }
    package var inspection: (any InspectedEngine)? { self }
    package var interruption: (any InterruptibleEngine)? { self }
    package var explaining: (any ExplainingEngine)? { self }
    package var sql: (any SQLReadingEngine)? { self }
    package var searching: (any SearchingEngine)? { self }
    package var migration: (any MigratedEngine)? { self }
    package var noting: (any NotingEngine)? { self }
    package var history: (any HistoryEngine)? {
        settings.tracksHistory && opened?.hasHistory == true ? self : nil
    }
}

/// No rows at all.
private final class NoPortions: RowPortions {
    func next(_ count: Int) -> ContiguousArray<Row> { [] }
}

extension SQLiteEngine: KeyedEngine {
    package func reserveKeys(upTo key: Int64, of root: EntityLayout) throws {
        try writing { try $0.reserveKeys(upTo: key, of: root) }
    }

    package func lastKey(of root: EntityLayout) throws -> Int64 { try reading { try $0.lastKey(of: root) } }
}

extension SQLiteEngine: BatchEngine {
    package func insertBatch(
        _ plan: BatchInsertPlan, next: (inout BatchRow) throws -> Bool
    ) throws -> BatchOutcome { try writingMuch { try $0.insertBatch(plan, next: next) } }

    package func updateBatch(_ plan: BatchUpdatePlan) throws -> BatchOutcome {
        try writingMuch { try $0.updateBatch(plan) }
    }

    package func deleteBatch(_ plan: BatchDeletePlan) throws -> BatchOutcome {
        try writingMuch { try $0.deleteBatch(plan) }
    }
}

extension SQLiteEngine: SharedEngine {
    package func changeCount() throws -> Int64 { try current().changeCount() }

    package func lockOutWriters() throws {
        guard !facts.isReadOnly else { return }
        try following { try $0.lockOutWriters() }
    }

    package func lockOutWritersUnlessBusy() throws -> Bool {
        guard !facts.isReadOnly else { return false }
        return try following { try $0.lockOutWritersUnlessBusy() }
    }

    package func readmitWriters() { opened?.readmitWriters() }

    package var readsWithoutWaiting: Bool { opened?.readsWithoutWaiting ?? false }
}

extension SQLiteEngine: HistoryEngine {
    package func historyTransactions(after start: HistoryPosition?, limit: Int?) throws -> [HistoryTransactionRow] {
        try reading { try $0.historyTransactions(after: start, limit: limit) }
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

    package func latestTransaction() throws -> Int64 { try current().latestTransaction() }

    package func oldestKeptTransaction() throws -> Int64? { try current().oldestKeptTransaction() }
}

extension SQLiteEngine: NotingEngine {
    package func note(_ name: String) throws -> Data? { try reading { try $0.note(name) } }

    package func notes(
        beginningWith prefix: String, after name: String?, limit: Int
    ) throws -> [(name: String, data: Data)] {
        try reading { try $0.notes(beginningWith: prefix, after: name, limit: limit) }
    }

    package func noteCount(beginningWith prefix: String) throws -> Int {
        try reading { try $0.noteCount(beginningWith: prefix) }
    }

    package func makeNotes() throws { try writing { try $0.makeNotes() } }
}

extension SQLiteEngine: PinningEngine {
    package func pinGeneration() throws -> AnyObject? { try makeGeneration(settings) }
}

extension SQLiteEngine: InspectedEngine {
    package var findings: [SchemaFinding] { opened?.schema.findings ?? [] }

    package func missingIndexes() throws -> Set<String> {
        try reading { store in
            let existing = try store.run("read the indexes of") { try StoreStructure(store.file).indexes.keys }
            return Set(store.schema.indexes.map(\.name)).subtracting(existing)
        }
    }

    package func danglingReferences(
        of relationship: RelationshipLayout, from entity: EntityLayout
    ) throws -> [Int64: [NSManagedObjectID]] {
        try reading { try $0.danglingReferences(of: relationship, from: entity) }
    }
}

extension SQLiteEngine: ExplainingEngine {
    package func statement(of plan: FetchPlan) throws -> String { try reading { try $0.statement(of: plan) } }
}

extension SQLiteEngine: InterruptibleEngine {
    package var interrupter: (@Sendable () -> Void)? { opened?.connection.interrupter }
}
