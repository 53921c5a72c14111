import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

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

    package func deleteHistory(before end: HistoryPosition?) throws {
        try writing { try $0.deleteHistory(before: end) }
    }

    package func latestTransaction() throws -> Int64 { try current().latestTransaction() }

    package func oldestKeptTransaction() throws -> Int64? { try current().oldestKeptTransaction() }
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
