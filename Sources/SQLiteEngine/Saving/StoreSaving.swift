import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// Counts on from a key; nothing to do where the store is further already.
    package func reserveKeys(upTo key: Int64, of root: EntityLayout) throws {
        try run("reserve keys in", fallback: CoreDataErrorCode.persistentStoreSave) {
            try transaction {
                let keys = try keys(of: root)
                let last = try keys.latest()
                if key > last { _ = try keys.reserve(key - last) }
            }
        }
    }

    /// Hands out primary keys, in a transaction of its own: `UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?`. The row
    /// of the root entity counts for its subentities.
    ///
    /// - Parameters:
    ///   - entities: one entity for each object.
    ///   - isSavedLater: whether the keys are for the work that keeps others out: then they are written with what it
    ///     saves.
    /// - Returns: an ID for each of the entities, in order.
    /// - Throws: an `NSError` for a store that cannot be written, and SQLite's errors.
    func makePermanentIdentifiers(
        for entities: [EntityLayout], isSavedLater: Bool = false
    ) throws -> [NSManagedObjectID] {
        guard !entities.isEmpty else { return [] }
        func body() throws -> [NSManagedObjectID] {
            var counts: [ObjectIdentifier: (root: EntityLayout, count: Int64)] = [:]
            let runs = EntityRun.runs(of: entities)
            for run in runs {
                let root = run.entity.root
                counts[ObjectIdentifier(root), default: (root, 0)].count += Int64(run.count)
            }
            var next: [ObjectIdentifier: Int64] = [:]
            for (root, count) in counts.values {
                next[ObjectIdentifier(root)] = try keys(of: root).reserve(count)
            }
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
        return try run("hand out keys in", fallback: CoreDataErrorCode.persistentStoreSave) {
            try isSavedLater && keepsOthersOut ? body() : transaction(body)
        }
    }

    /// Writes a change set in one transaction: deletions, updates, insertions, pairs of join tables, order keys, history.
    ///
    /// - Parameters:
    ///   - changes: what to write.
    ///   - metadata: the store's metadata, when they are to be written, too.
    ///   - others: what else is to succeed before the transaction ends.
    /// - Returns: the values that the store computed itself, such as derived attributes.
    /// - Throws: `SaveRefusal` for conflicts, an `NSError` for everything else, and what `others` throws.
    func save(
        _ changes: ChangeSet, metadata: [String: Any]? = nil, with others: () throws -> Void = {}
    ) throws -> SaveResult {
        let files = ExternalFiles(external, journal: journal)
        do {
            let result = try run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
                try write(changes, metadata: metadata, files: files, others)
            }
            finish(files)
            return result
        } catch {
            undo(files)
            throw error
        }
    }
}

/// Neighbours of one entity in a list: many new objects mostly are of few entities.
private struct EntityRun {
    let entity: EntityLayout
    var count: Int

    static func runs(of entities: [EntityLayout]) -> [EntityRun] {
        var runs: [EntityRun] = []
        var last: ObjectIdentifier?
        // By index: going through the entities would count references.
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

extension OpenStore {
    /// The keys of an entity and of all that share its table.
    package func keys(of entity: EntityLayout) throws -> KeyCounter {
        let mapping = try access(entity.root).mapping
        return KeyCounter(connection, number: Int64(mapping.number), table: mapping.table)
    }

    /// Writes a change set; when unique values get in each other's way on the way to a state without conflict, in a
    /// second attempt that clears them first.
    fileprivate func write(
        _ changes: ChangeSet, metadata: [String: Any]?, files: ExternalFiles, _ others: () throws -> Void
    ) throws -> SaveResult {
        do {
            return try attempt(changes, metadata: metadata, files: files, others, clearsUniqueValues: false)
        } catch let error as SQLiteError where error.isUniqueViolation {
            let violations = try ConstraintCheck(self).violations(in: changes)
            guard violations.isEmpty else { throw SaveRefusal.constraints(violations) }
            files.rollback()
            // A row that is to give a value up keeps it where it is not as it was read.
            let conflicts = try conflicts(of: changes)
            guard conflicts.isEmpty else { throw SaveRefusal.optimisticLocking(conflicts) }
            return try attempt(changes, metadata: metadata, files: files, others, clearsUniqueValues: true)
        }
    }

    /// The rows to change or delete that have another version than they should.
    private func conflicts(of changes: ChangeSet) throws -> [(objectID: NSManagedObjectID, current: Row?)] {
        let expected =
            changes.deleted.map { ($0.objectID, $0.version) } + changes.updated.map { ($0.objectID, $0.version) }
        return try expected.compactMap { identifier, version in
            let current = try row(for: identifier)
            return current?.version == version ? nil : (identifier, current)
        }
    }

    private func attempt(
        _ changes: ChangeSet, metadata: [String: Any]?, files: ExternalFiles, _ others: () throws -> Void,
        clearsUniqueValues: Bool
    ) throws -> SaveResult {
        derived.removeAll()
        let run = SaveRun(self, files: files)
        try begin()
        do {
            if clearsUniqueValues { try run.clearUniqueValues(of: changes.updated) }
            let tombstones = try history?.tombstones(of: changes.deleted) ?? [:]
            for deletion in changes.deleted { try run.delete(deletion) }
            for change in changes.updated { try run.update(change) }
            if !run.conflicts.isEmpty { throw OptimisticConflict() }
            try run.insert(changes.inserted)
            try run.writeToManys(changes)
            try history?.record(changes, tombstones: tombstones)
            if let metadata { try file.write(metadata) }
            try others()
            files.willCommit()
            try connection.commit()
        } catch {
            try? connection.rollback()
            guard error is OptimisticConflict else { throw error }
            throw SaveRefusal.optimisticLocking(try run.conflicts.map { ($0, try row(for: $0)) })
        }
        return hasDerivedAttributes ? computedValues() : SaveResult()
    }

    /// What the triggers of derived attributes changed, the last value of each.
    private func computedValues() -> SaveResult {
        var result = SaveResult()
        var positions: [ComputedValueKey: Int] = [:]
        for change in derived.changes {
            guard let mapping = schema.mapping(number: change.number),
                let slot = mapping.layout.slotIndex(forName: change.property), let column = mapping.columns[slot]
            else { continue }
            let value = StoredValue(change.value, storage: column.storage)
            let key = ComputedValueKey(number: change.number, key: change.key, slot: slot)
            if let position = positions[key] {
                result.computed[position].value = value
            } else {
                positions[key] = result.computed.count
                let identifier = NSManagedObjectID(layout: mapping.layout, store: identity, key: change.key)
                result.computed.append((identifier, slot, value))
            }
        }
        return result
    }
}

/// Leaves a transaction whose rows somebody else has changed.
private struct OptimisticConflict: Error {}

private struct ComputedValueKey: Hashable {
    let number: Int
    let key: Int64
    let slot: Int
}

extension StoredValue {
    /// A value that SQL computed for a column.
    init(_ value: SQLValue, storage: ColumnStorage) {
        switch (value, storage) {
        case (.integer(let number), .date): self = .date(Double(number))
        case (.double(let number), .date): self = .date(number)
        case (.integer(let number), .double), (.integer(let number), .float): self = .double(Double(number))
        case (.double(let number), .integer): self = .integer(Int64(exactly: number.rounded()) ?? 0)
        case (.integer(let number), .decimal): self = .object(NSDecimalNumber(value: number))
        case (.double(let number), .decimal): self = .object(NSDecimalNumber(string: "\(number)"))
        case (.text(let text), .url): self = URL(string: text).map { .object($0 as NSURL) } ?? .null
        case (.integer(let number), _): self = .integer(number)
        case (.double(let number), _): self = .double(number)
        case (.text(let text), _): self = .string(text)
        case (.blob(let data), .uuid) where data.count == 16:
            self = .uuid(data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
        case (.blob(let data), _): self = .data(data)
        case (.null, _): self = .null
        }
    }
}
