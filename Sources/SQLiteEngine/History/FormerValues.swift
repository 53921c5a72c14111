import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

// What rows were before they are changed or deleted, read in the transaction that does that.
extension OpenStore {
    /// How many rows are read at once.
    private static var portion: Int { 500 }

    /// What the rows that a save changes or deletes were before; nothing if the history does not keep it.
    func formerValues(of changes: ChangeSet) throws -> [NSManagedObjectID: Data] {
        guard history?.keepsValues ?? false else { return [:] }
        var former: [NSManagedObjectID: Data] = [:]
        for start in stride(from: 0, to: changes.updated.count, by: Self.portion) {
            let updates = changes.updated[start..<min(start + Self.portion, changes.updated.count)]
            var lists: [NSManagedObjectID: [String: [NSManagedObjectID]]] = [:]
            var relationships: [ObjectIdentifier: (RelationshipLayout, [NSManagedObjectID])] = [:]
            for update in updates {
                for change in update.toManyChanges {
                    relationships[
                        ObjectIdentifier(change.relationship), default: (change.relationship, [])
                    ].1.append(update.objectID)
                }
            }
            for (relationship, owners) in relationships.values {
                for (owner, members) in zip(owners, try destinations(of: relationship, for: owners)) {
                    lists[owner, default: [:]][relationship.name] = members
                }
            }
            let rows = try rowsByID(updates.map(\.objectID))
            for update in updates {
                guard let row = rows[update.objectID] else { continue }
                former[update.objectID] = KeptValues.data(
                    of: row, slots: update.changedSlots, lists: lists[update.objectID] ?? [:])
            }
        }
        for start in stride(from: 0, to: changes.deleted.count, by: Self.portion) {
            let deletions = changes.deleted[start..<min(start + Self.portion, changes.deleted.count)]
            former.merge(try formerRows(deletions.map(\.objectID))) { $1 }
        }
        return former
    }

    /// The kept values of rows; the changed ones alone, if there are any.
    private func formerRows(
        _ identifiers: [NSManagedObjectID], changing names: [String]? = nil
    ) throws -> [NSManagedObjectID: Data] {
        var lists: [NSManagedObjectID: [String: [NSManagedObjectID]]] = [:]
        // Of rows that are deleted, also the lists.
        for (relationship, owners) in names == nil ? KeptValues.lists(of: identifiers) : [] {
            for (owner, members) in zip(owners, try destinations(of: relationship, for: owners)) {
                lists[owner, default: [:]][relationship.name] = members
            }
        }
        return try rowsByID(identifiers).mapValues { row in
            let layout = row.objectID.layout
            let slots = names.map { $0.compactMap { layout.slotIndex(forName: $0) } }
            return KeptValues.data(
                of: row, slots: slots ?? KeptValues.slots(of: layout), lists: lists[row.objectID] ?? [:])
        }
    }

    private func rowsByID(_ identifiers: [NSManagedObjectID]) throws -> [NSManagedObjectID: Row] {
        Dictionary(try rows(for: identifiers).map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Writes a change for each row of an entity that a condition selects, before the rows are changed.
    ///
    /// - Parameters:
    ///   - kind: whether the rows will be updated or deleted.
    ///   - mapping: the entity; rows of its subentities are not included.
    ///   - condition: the condition on the rows of the entity's table `t`.
    ///   - names: the properties that an update changes.
    ///   - run: the transaction of the history.
    /// - Throws: SQLite's errors.
    func note(
        _ kind: HistoryChangeKind, of mapping: EntityMapping, where condition: SQLFragment,
        changing names: [String] = [], in run: HistoryRun
    ) throws {
        guard let history else { return }
        let mask = kind == .update ? history.properties(of: mapping.layout).mask(of: names) : nil
        guard history.keepsValues else {
            return try run.noteRows(kind, of: mapping, where: condition, columns: mask)
        }
        let statement = try connection.prepare(HistoryRowSQL.changedKeys(of: mapping, where: condition))
        var keys: [Int64] = []
        while try statement.step() { keys.append(statement.integer(at: 0)) }
        statement.reset()
        for start in stride(from: 0, to: keys.count, by: Self.portion) {
            let identifiers = keys[start..<min(start + Self.portion, keys.count)].map {
                NSManagedObjectID(layout: mapping.layout, store: identity, key: $0)
            }
            let former = try formerRows(identifiers, changing: kind == .update ? names : nil)
            let tombstones =
                kind == .delete
                ? try history.tombstones(of: identifiers.map { RowDeletion(objectID: $0, version: 0) }) : [:]
            for (place, identifier) in identifiers.enumerated() {
                try run.note(
                    kind, identifier, columns: mask, tombstone: tombstones[place] ?? [],
                    former: former[identifier])
            }
        }
    }
}
