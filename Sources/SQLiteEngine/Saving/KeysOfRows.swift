import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

// Primary keys for new rows.
extension OpenStore {
    /// Reserves all keys up to a given one, whether or not a row has it already. A higher counter stays.
    package func reserveKeys(upTo key: Int64, of root: EntityLayout) throws {
        try run("reserve keys in", fallback: CoreDataErrorCode.persistentStoreSave) {
            try transaction {
                let keys = try keys(of: root)
                try keys.setLatest(max(key, keys.latest()))
            }
        }
    }

    /// The highest key that was given out.
    package func lastKey(of root: EntityLayout) throws -> Int64 { try keys(of: root).latest() }

    /// Reserves primary keys in a transaction of its own: `UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?`. The row
    /// of the root entity counts for its subentities.
    ///
    /// - Parameters:
    ///   - entities: one entity for each object.
    ///   - isSavedLater: whether the keys are for work that keeps others out; they are then stored together with its
    ///     changes.
    /// - Returns: an ID for each of the entities, in order.
    /// - Throws: an `NSError` for a store that cannot be written, and SQLite's errors.
    func makePermanentIdentifiers(
        for entities: [EntityLayout], isSavedLater: Bool = false
    ) throws -> [NSManagedObjectID] {
        guard !entities.isEmpty else { return [] }
        func body() throws -> [NSManagedObjectID] {
            try identifiers(for: entities) { root, count in try keys(of: root).reserve(count) }
        }
        return try run("hand out keys in", fallback: CoreDataErrorCode.persistentStoreSave) {
            try isSavedLater && locksOutWriters ? body() : transaction(body)
        }
    }

    /// The next keys, without reserving them: the save does that, in its transaction. Nothing is written.
    ///
    /// - Parameter entities: one entity for each object.
    /// - Returns: an ID for each of the entities, in order, and the promises.
    /// - Throws: an `NSError` for a store that cannot be read, and SQLite's errors.
    func promiseIdentifiers(for entities: [EntityLayout]) throws -> PromisedIdentifiers {
        guard !entities.isEmpty else { return PromisedIdentifiers([]) }
        return try run("hand out keys in", fallback: CoreDataErrorCode.persistentStoreSave) {
            var promises: [KeyPromise] = []
            let made: [NSManagedObjectID] = try reading {
                try identifiers(for: entities) { root, count in
                    let before = try keys(of: root).next(count)
                    promises.append(KeyPromise(root: root, before: before, last: before + count))
                    return before
                }
            }
            return PromisedIdentifiers(made, promises)
        }
    }

    /// Reserves the promised keys of a change set, inside its transaction.
    ///
    /// - Throws: `KeysTaken` if they are no longer the next ones.
    func keep(_ promises: [KeyPromise]) throws {
        for promise in promises {
            let keys = try keys(of: promise.root)
            guard try keys.latest() == promise.before else { throw KeysTaken() }
            try keys.setLatest(promise.last)
        }
    }

    /// The key counter of an entity and of all that share its table.
    package func keys(of entity: EntityLayout) throws -> KeyCounter {
        let access = try access(entity.root)
        return KeyCounter(
            connection, number: Int64(access.mapping.number), table: access.mapping.table,
            reading: access.greatestKeyText)
    }

    /// IDs for new rows, with the keys of each entity taken together.
    ///
    /// - Parameters:
    ///   - entities: one entity for each object.
    ///   - take: takes a number of keys of a root entity, and returns the key before the first of them.
    /// - Returns: an ID for each of the entities, in order.
    /// - Throws: what `take` throws.
    private func identifiers(
        for entities: [EntityLayout], _ take: (_ root: EntityLayout, _ count: Int64) throws -> Int64
    ) rethrows -> [NSManagedObjectID] {
        if let only = entities.first, entities.count == 1 {
            return [NSManagedObjectID(layout: only, store: identity, key: try take(only.root, 1) + 1)]
        }
        var counts: [ObjectIdentifier: (root: EntityLayout, count: Int64)] = [:]
        let runs = EntityRun.runs(of: entities)
        for run in runs {
            let root = run.entity.root
            counts[ObjectIdentifier(root), default: (root, 0)].count += Int64(run.count)
        }
        var next: [ObjectIdentifier: Int64] = [:]
        for (root, count) in counts.values { next[ObjectIdentifier(root)] = try take(root, count) }
        var identifiers: [NSManagedObjectID] = []
        identifiers.reserveCapacity(entities.count)
        for run in runs {
            let root = ObjectIdentifier(run.entity.root)
            let first = (next[root] ?? 0) + 1
            next[root] = first + Int64(run.count) - 1
            for key in first..<first + Int64(run.count) {
                identifiers.append(NSManagedObjectID(layout: run.entity, store: identity, key: key))
            }
        }
        return identifiers
    }
}

/// Consecutive elements of one entity in a list: many new objects are usually of few entities.
private struct EntityRun {
    let entity: EntityLayout
    var count: Int

    static func runs(of entities: [EntityLayout]) -> [EntityRun] {
        var runs: [EntityRun] = []
        var last: ObjectIdentifier?
        // By index: iterating over the entities would count references.
        for index in entities.indices {
            if last == ObjectIdentifier(entities[index]) {
                runs[runs.count - 1].count += 1
            } else {
                last = ObjectIdentifier(entities[index])
                runs.append(EntityRun(entity: entities[index], count: 1))
            }
        }
        return runs
    }
}
