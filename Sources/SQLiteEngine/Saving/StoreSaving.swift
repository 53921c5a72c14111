import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// Writes a change set in one transaction: deletions, updates, insertions, pairs of join tables, order keys,
    /// history.
    ///
    /// - Parameters:
    ///   - changes: the changes to write.
    ///   - metadata: the store's metadata, if they are to be written, too.
    ///   - others: further work that must succeed before the transaction ends.
    /// - Returns: the values that the store computed itself, such as derived attributes.
    /// - Throws: `SaveRefusal` for conflicts, `KeysTaken` if others took promised keys, an `NSError` for everything
    ///   else, and the errors of `others`.
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

extension OpenStore {
    /// Writes a change set. If unique values only collide temporarily, on the way to a state without conflict, a second
    /// attempt clears them first.
    fileprivate func write(
        _ changes: ChangeSet, metadata: [String: Any]?, files: ExternalFiles, _ others: () throws -> Void
    ) throws -> SaveResult {
        do {
            return try attempt(changes, metadata: metadata, files: files, others, clearsUniqueValues: false)
        } catch let error as SQLiteError where error.isDuplicate {
            // Objects whose rows others have changed or deleted come first: the values that they seem to share are
            // former ones, and clearing a value must not hide the change.
            let conflicts = try conflicts(of: changes)
            guard conflicts.isEmpty else { throw SaveRefusal.optimisticLocking(conflicts) }
            let violations = try ConstraintCheck(self).violations(in: changes)
            guard violations.isEmpty else { throw SaveRefusal.constraints(violations) }
            files.rollback()
            return try attempt(changes, metadata: metadata, files: files, others, clearsUniqueValues: true)
        }
    }

    /// The rows to change or delete whose version is not the expected one, and those to insert again that others have
    /// inserted again meanwhile.
    private func conflicts(of changes: ChangeSet) throws -> [(objectID: NSManagedObjectID, current: Row?)] {
        let expected =
            changes.deleted.map { ($0.objectID, $0.version) } + changes.updated.map { ($0.objectID, $0.version) }
        let again = changes.inserted.lazy.filter { $0.version > 0 }.map(\.objectID)
        return try expected.compactMap { identifier, version in
            let current = try row(for: identifier)
            return current?.version == version ? nil : (identifier, current)
        } + again.compactMap { identifier in try row(for: identifier).map { (identifier, $0) } }
    }

    private func attempt(
        _ changes: ChangeSet, metadata: [String: Any]?, files: ExternalFiles, _ others: () throws -> Void,
        clearsUniqueValues: Bool
    ) throws -> SaveResult {
        derived.removeAll()
        let history = wasLockedBeforePreview == nil ? self.history : nil
        let run = SaveRun(self, files: files)
        var aggregates: LaterAggregates?
        defer { aggregates?.end() }
        try begin()
        do {
            aggregates = try LaterAggregates(self, of: changes)
            try keep(changes.promises)
            try run.addMissingVersions(changes)
            if clearsUniqueValues { try run.clearUniqueValues(of: changes.updated) }
            let tombstones = try history?.tombstones(of: changes.deleted) ?? [:]
            let former = try history.map { _ in try formerValues(of: changes) } ?? [:]
            for deletion in changes.deleted { try run.delete(deletion) }
            try run.update(changes.updated)
            if !run.conflicts.isEmpty { throw OptimisticConflict() }
            try run.insert(changes.inserted)
            try run.writeToManys(changes)
            try aggregates?.compute()
            try history?.record(changes, tombstones: tombstones, former: former)
            if let metadata { try file.write(metadata) }
            if !changes.notes.isEmpty { try write(changes.notes) }
            try others()
            files.willCommit()
            try connection.commit()
        } catch {
            try? connection.rollback()
            guard error is OptimisticConflict else { throw error }
            throw SaveRefusal.optimisticLocking(try run.conflicts.map { ($0, try row(for: $0)) })
        }
        return derived.changes.isEmpty ? SaveResult() : computedValues()
    }

    private func write(_ notes: [String: Data?]) throws {
        for (name, note) in notes.sorted(by: { $0.key < $1.key }) {
            let statement = try connection.statement(note == nil ? NoteSQL.delete : NoteSQL.insert)
            try statement.bind(name, at: 1)
            if let note { try statement.bind(note, at: 2) }
            try statement.run()
        }
    }

    /// The changes that triggers made and reported, with the last value of each.
    private func computedValues() -> SaveResult {
        var result = SaveResult()
        var positions: [ComputedValueKey: Int] = [:]
        for change in derived.changes {
            guard let mapping = schema.mapping(number: change.number),
                let slot = change.namesColumn
                    ? mapping.columns.firstIndex(where: { $0?.name == change.name })
                    : mapping.layout.slotIndex(forName: change.name),
                mapping.layout.slots[slot].attribute != nil, let column = mapping.columns[slot]
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

/// Aborts a transaction if others have changed its rows.
private struct OptimisticConflict: Error {}

private struct ComputedValueKey: Hashable {
    let number: Int
    let key: Int64
    let slot: Int
}
