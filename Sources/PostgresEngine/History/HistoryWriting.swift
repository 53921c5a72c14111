import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

/// One transaction of the history while it is written: collects changes, and writes them as arrays.
struct HistoryRun {
    private var kinds: [Int16] = []
    private var entities: [Int32] = []
    private var keys: [Int64] = []
    private var columns = PostgresArray(.bytes)
    private var tombstones = PostgresArray(.bytes)

    var isEmpty: Bool { keys.isEmpty }

    mutating func note(
        _ kind: HistoryChangeKind, entity: Int, key: Int64, columns mask: Data? = nil, tombstone: Data? = nil
    ) {
        kinds.append(Int16(kind.rawValue))
        entities.append(Int32(entity))
        keys.append(key)
        if let mask { columns.append(mask) } else { columns.appendNull() }
        if let tombstone { tombstones.append(tombstone) } else { tombstones.appendNull() }
    }

    /// The statements that write it, among the last of a transaction. They lock the store's history, so that
    /// transactions become visible in the order of their numbers.
    func requests(_ origin: ChangeOrigin, schema: String) -> [PostgresConnection.Request] {
        var all = PostgresParameters()
        all.append(schema)
        all.append(origin.author)
        all.append(origin.contextName)
        all.append(Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName)
        all.append(ProcessInfo.processInfo.processName)
        all.append(array: kinds)
        all.append(array: entities)
        all.append(array: keys)
        all.append(columns)
        all.append(tombstones)
        all.append(Int64(keys.count))
        return [
            .init(
                """
                WITH s AS (UPDATE pippin.stores SET latest = latest + 1, latest_change = latest_change + $11 WHERE schema_name = $1 \
                RETURNING latest, latest_change - $11 AS first), \
                t AS (INSERT INTO pippin.transactions (schema_name, id, date, author, context_name, bundle_id, process_id) \
                SELECT $1, s.latest, clock_timestamp(), $2, $3, $4, $5 FROM s) \
                INSERT INTO pippin.changes (schema_name, transaction_id, id, kind, entity, key, columns, tombstone) \
                SELECT $1, s.latest, s.first + u.n, u.kind, u.entity, u.key, u.columns, u.tombstone FROM s, \
                unnest($6, $7, $8, $9, $10) WITH ORDINALITY AS u(kind, entity, key, columns, tombstone, n)
                """, all)
        ]
    }
}

extension OpenDatabase {
    func historyProperties(_ layout: EntityLayout) -> HistoryProperties {
        if let known = knownProperties[ObjectIdentifier(layout)] { return known }
        let properties = HistoryProperties(layout)
        knownProperties[ObjectIdentifier(layout)] = properties
        return properties
    }

    private func number(_ identifier: NSManagedObjectID) -> Int {
        schema.mapping(of: identifier.layout)?.number ?? identifier.layout.number
    }

    /// The tombstones of objects that are to be deleted.
    func tombstones(of identifiers: [NSManagedObjectID]) throws -> [NSManagedObjectID: Data] {
        guard hasHistory else { return [:] }
        let kept = identifiers.filter { !historyProperties($0.layout).preservedSlots.isEmpty }
        guard !kept.isEmpty else { return [:] }
        var tombstones: [NSManagedObjectID: Data] = [:]
        for row in try readRows(kept) {
            tombstones[row.objectID] = Tombstones.data(row, historyProperties(row.objectID.layout))
        }
        return tombstones
    }

    /// Whether any of the objects to be deleted leaves a tombstone.
    func keepsTombstones(_ changes: ChangeSet) -> Bool {
        hasHistory && changes.deleted.contains { !historyProperties($0.objectID.layout).preservedSlots.isEmpty }
    }

    /// The history of a save, written inside its transaction.
    func history(
        of changes: ChangeSet, tombstones: [NSManagedObjectID: Data]
    ) throws -> [PostgresConnection.Request] {
        guard hasHistory, !changes.isEmpty else { return [] }
        var run = HistoryRun()
        for change in changes.inserted { run.note(.insert, entity: number(change.objectID), key: change.objectID.key) }
        // Most updates of a save change the same properties.
        var latest: (layout: EntityLayout, slots: [Int], mask: Data)?
        for change in changes.updated {
            let layout = change.objectID.layout
            let isSame =
                latest?.layout === layout && latest?.slots == change.changedSlots && change.toManyChanges.isEmpty
            if !isSame {
                let names =
                    change.changedSlots.map { layout.slots[$0].name } + change.toManyChanges.map(\.relationship.name)
                latest = (
                    layout, change.toManyChanges.isEmpty ? change.changedSlots : [],
                    historyProperties(layout).mask(of: names)
                )
            }
            run.note(.update, entity: number(change.objectID), key: change.objectID.key, columns: latest?.mask)
        }
        for deletion in changes.deleted {
            let identifier = deletion.objectID
            run.note(.delete, entity: number(identifier), key: identifier.key, tombstone: tombstones[identifier])
        }
        let origin = ChangeOrigin(contextName: changes.contextName, author: changes.author)
        return run.requests(origin, schema: place.schema)
    }

    /// Collects the changes of a batch.
    func noteBatch(
        _ kind: HistoryChangeKind, _ identifiers: [NSManagedObjectID], _ origin: ChangeOrigin, changed: [Int]
    ) throws {
        guard hasHistory else { return }
        batch.origin = origin
        let tombstones = kind == .delete ? try tombstones(of: identifiers) : [:]
        for identifier in identifiers {
            let layout = identifier.layout
            let mask = kind == .update ? historyProperties(layout).mask(of: changed.map { layout.slots[$0].name }) : nil
            batch.history.note(
                kind, entity: number(identifier), key: identifier.key, columns: mask, tombstone: tombstones[identifier])
        }
    }

    /// Writes the changes of a batch, at the end of its transaction.
    func recordBatch() throws {
        guard !batch.history.isEmpty else { return }
        _ = try connection.pipeline(batch.history.requests(batch.origin, schema: place.schema))
    }
}
