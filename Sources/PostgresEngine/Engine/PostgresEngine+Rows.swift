import CoreDataModel
import StoreEngine

extension PostgresEngine {
    package func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> { try current().fetchRows(plan) }

    package func forEachRow(_ plan: FetchPlan, _ body: (any CurrentRow) -> Bool) throws {
        try current().forEachRow(plan, body)
    }

    package func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
        try current().fetchIdentifiers(plan)
    }

    package func fetchCount(_ plan: FetchPlan) throws -> Int { try current().fetchCount(plan) }

    package func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] {
        try current().fetchDictionaries(plan)
    }

    package func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try current().rows(for: identifiers)
    }

    package func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] { try current().destinations(of: relationship, for: identifiers) }

    package func makePermanentIdentifiers(
        for entities: [EntityLayout], isSavedLater: Bool
    ) throws -> [NSManagedObjectID] { try writing { try $0.makePermanentIdentifiers(for: entities) } }

    package func save(_ changes: ChangeSet, with others: () throws -> Void) throws -> SaveResult {
        let metadata = facts.metadataAreChanged ? facts.metadata : nil
        let result = try writing { try $0.save(changes, metadata: metadata, with: others) }
        facts.metadataAreChanged = false
        return result
    }

    package var keys: (any KeyedEngine)? { self }
    package var batches: (any BatchEngine)? { self }
    package var longTransactions: (any LongTransactionEngine)? { self }
}

extension PostgresEngine: KeyedEngine {
    package func reserveKeys(upTo key: Int64, of root: EntityLayout) throws {
        try writing { try $0.reserveKeys(upTo: key, of: root) }
    }
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
    package func beginLongTransaction(makesIndexesLater: Bool) throws {
        try writing { try $0.beginLongTransaction(makesIndexesLater: makesIndexesLater) }
    }

    package func makeIndexes() throws { try writing { try $0.makeIndexes() } }

    package func sharedUniqueValues(limit: Int) throws -> [(constraint: [String], rows: [NSManagedObjectID])] {
        try current().sharedUniqueValues(limit: limit)
    }

    package func resetVersions() throws { try writing { try $0.resetVersions() } }
    package func endLongTransaction(commits: Bool) throws { try opened?.endLongTransaction(commits: commits) }
}
