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
    /// The changes of rows whose former values are kept, counted from 1, and these values.
    private var formerPlaces: [Int64] = []
    private var formerValues = PostgresArray(.bytes)

    var isEmpty: Bool { keys.isEmpty }

    mutating func note(
        _ kind: HistoryChangeKind, entity: Int, key: Int64, columns mask: Data? = nil, tombstone: Data? = nil,
        former: Data? = nil
    ) {
        kinds.append(Int16(kind.rawValue))
        entities.append(Int32(entity))
        keys.append(key)
        if let mask { columns.append(mask) } else { columns.appendNull() }
        if let tombstone { tombstones.append(tombstone) } else { tombstones.appendNull() }
        guard let former else { return }
        formerPlaces.append(Int64(keys.count))
        formerValues.append(former)
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
        return [changes(all)] + (formerPlaces.isEmpty ? [] : [former(schema)])
    }

    /// What rows were before. The statement follows the one that has counted up the changes.
    private func former(_ schema: String) -> PostgresConnection.Request {
        var parameters = PostgresParameters()
        parameters.append(schema)
        parameters.append(Int64(keys.count))
        parameters.append(array: formerPlaces)
        parameters.append(formerValues)
        return .init(
            """
            INSERT INTO pippin.former_values (schema_name, transaction_id, id, former) \
            SELECT $1, s.latest, s.latest_change - $2 + u.n, u.former FROM pippin.stores s, \
            unnest($3, $4) AS u(n, former) WHERE s.schema_name = $1
            """, parameters)
    }

    private func changes(_ all: PostgresParameters) -> PostgresConnection.Request {
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

    /// Whether the history keeps something of the rows as they are before a save.
    func keepsRows(before changes: ChangeSet) -> Bool {
        guard hasHistory else { return false }
        if keepsFormerValues { return !changes.updated.isEmpty || !changes.deleted.isEmpty }
        return changes.deleted.contains { !historyProperties($0.objectID.layout).preservedSlots.isEmpty }
    }

    /// What the rows that a save changes or deletes were before; nothing if that is not kept.
    func formerValues(of changes: ChangeSet) throws -> [NSManagedObjectID: Data] {
        guard hasHistory, keepsFormerValues else { return [:] }
        var lists: [NSManagedObjectID: [String: [NSManagedObjectID]]] = [:]
        var owners: [ObjectIdentifier: (relationship: RelationshipLayout, rows: [NSManagedObjectID])] = [:]
        for update in changes.updated {
            for change in update.toManyChanges {
                owners[ObjectIdentifier(change.relationship), default: (change.relationship, [])].rows
                    .append(update.objectID)
            }
        }
        for (relationship, rows) in owners.values {
            for (row, members) in zip(rows, try destinations(of: relationship, for: rows)) {
                lists[row, default: [:]][relationship.name] = members
            }
        }
        let rows = try currentRows(changes.updated.map(\.objectID))
        var former = try formerValues(of: changes.deleted.map(\.objectID))
        for update in changes.updated {
            guard let row = rows[update.objectID] else { continue }
            former[update.objectID] = KeptValues.data(
                of: row, slots: update.changedSlots, lists: lists[update.objectID] ?? [:])
        }
        return former
    }

    /// The present values of rows that a batch is about to change or to delete; nothing if they are not kept.
    ///
    /// - Parameters:
    ///   - identifiers: the rows.
    ///   - slots: the slots that are changed; nil for rows that are deleted.
    /// - Returns: the values.
    /// - Throws: the server's errors.
    func formerValues(
        of identifiers: [NSManagedObjectID], changing slots: [Int]? = nil
    ) throws -> [NSManagedObjectID: Data] {
        guard hasHistory, keepsFormerValues, !identifiers.isEmpty else { return [:] }
        let lists = slots == nil ? try lists(of: identifiers) : [:]
        return try currentRows(identifiers).mapValues {
            KeptValues.data(
                of: $0, slots: slots ?? KeptValues.slots(of: $0.objectID.layout), lists: lists[$0.objectID] ?? [:])
        }
    }

    /// The lists of rows that are about to be deleted, as far as the other ends do not say what is in them.
    private func lists(
        of identifiers: [NSManagedObjectID]
    ) throws -> [NSManagedObjectID: [String: [NSManagedObjectID]]] {
        var lists: [NSManagedObjectID: [String: [NSManagedObjectID]]] = [:]
        for (relationship, owners) in KeptValues.lists(of: identifiers) {
            for (owner, members) in zip(owners, try destinations(of: relationship, for: owners)) {
                lists[owner, default: [:]][relationship.name] = members
            }
        }
        return lists
    }

    /// Records all rows as inserted, in one transaction of the history.
    func recordRows() throws -> Bool {
        guard hasHistory else { return false }
        return try inBatch("record the rows of") {
            for layout in schema.mappings.compactMap({ $0?.layout }) where !layout.isAbstract {
                var plan = FetchPlan(entity: layout)
                plan.includesSubentities = false
                try noteBatch(
                    .insert, fetchIdentifiers(plan), ChangeOrigin(contextName: nil, author: nil), changed: [])
            }
            return true
        }
    }

    /// The history of a save, written inside its transaction.
    func history(
        of changes: ChangeSet, tombstones: [NSManagedObjectID: Data], former: [NSManagedObjectID: Data]
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
            run.note(
                .update, entity: number(change.objectID), key: change.objectID.key, columns: latest?.mask,
                former: former[change.objectID])
        }
        for deletion in changes.deleted {
            let identifier = deletion.objectID
            run.note(
                .delete, entity: number(identifier), key: identifier.key, tombstone: tombstones[identifier],
                former: former[identifier])
        }
        let origin = ChangeOrigin(contextName: changes.contextName, author: changes.author ?? settings.author)
        return run.requests(origin, schema: place.schema)
    }

    /// Rows as the connection sees them, without those that are gone.
    func currentRows(_ identifiers: [NSManagedObjectID]) throws -> [NSManagedObjectID: Row] {
        Dictionary(try readRows(identifiers).map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Collects the changes of a batch.
    ///
    /// - Parameters:
    ///   - kind: whether rows are inserted, updated or deleted.
    ///   - identifiers: the rows.
    ///   - origin: who does it.
    ///   - changed: the slots that an update changes.
    ///   - former: what the rows were before.
    /// - Throws: the server's errors.
    func noteBatch(
        _ kind: HistoryChangeKind, _ identifiers: [NSManagedObjectID], _ origin: ChangeOrigin, changed: [Int],
        former: [NSManagedObjectID: Data] = [:]
    ) throws {
        guard hasHistory else { return }
        batch.origin = origin
        if batch.origin.author == nil { batch.origin.author = settings.author }
        let tombstones = kind == .delete ? try tombstones(of: identifiers) : [:]
        for identifier in identifiers {
            let layout = identifier.layout
            let mask = kind == .update ? historyProperties(layout).mask(of: changed.map { layout.slots[$0].name }) : nil
            batch.history.note(
                kind, entity: number(identifier), key: identifier.key, columns: mask,
                tombstone: tombstones[identifier], former: former[identifier])
        }
    }

    /// Writes the changes of a batch, at the end of its transaction.
    func recordBatch() throws {
        guard !batch.history.isEmpty else { return }
        _ = try connection.pipeline(batch.history.requests(batch.origin, schema: place.schema))
    }
}
