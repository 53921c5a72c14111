import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

extension OpenDatabase {
    /// Writes a change set in one transaction: deletions, updates, insertions, pairs of join tables, places, history.
    ///
    /// - Parameters:
    ///   - changes: what to write.
    ///   - metadata: the store's metadata, if they are to be written, too.
    ///   - others: work that must also succeed before the transaction ends; nil for none.
    /// - Returns: the values that the store computed itself, such as derived attributes.
    /// - Throws: `SaveRefusal` for conflicts, an `NSError` for everything else, and the errors of `others`.
    func save(
        _ changes: ChangeSet, metadata: [String: Any]? = nil, with others: (() throws -> Void)? = nil
    ) throws -> SaveResult {
        try run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
            var isLeft = false
            var repetition = SaveRepetition()
            var losses = Losses(place.failover)
            while true {
                let clears = repetition.clearsUniqueValues
                if repetition.attempt > 1 {
                    NSPostgreSQLMetricsReceiver.record(.saveRepeated(attempt: repetition.attempt))
                }
                do {
                    guard let others else {
                        return try attempt(changes, metadata, clearsUniqueValues: clears, nil)
                    }
                    return try attempt(changes, metadata, clearsUniqueValues: clears) {
                        // Other stores are written to once, however often this one is retried.
                        guard !isLeft else { return }
                        isLeft = true
                        try others()
                    }
                } catch let error as SaveUndone {
                    repetition.startOver()
                    _ = try losses.wait(after: error)
                } catch let error as PostgresError where givesUpSearching(after: error) {
                    repetition.startOver()
                } catch let error as PostgresError {
                    let failure = SaveRepetition.Failure(error, isServerLost: isServerLost(error))
                    let isDecided = isLeft || longTransaction != nil
                    switch repetition.next(failure, isDecided: isDecided, isBound: isBoundToConnection) {
                    case .check: try refuse(changes)
                    case .insert:
                        guard copiesRows else { throw error }
                        copiesRows = false
                    case .reconnect: try reconnect(after: error, since: losses.wait(after: error))
                    // No conflict: a trigger or a policy keeps a row from being written, or a trigger divides by zero.
                    case .fail where failure == .changedRow && error.context == nil:
                        throw PostgresStoreError.notWritten(error, place)
                    case .fail: throw error
                    }
                }
            }
        }
    }

    /// Throws the reason why a change set cannot be written, if there is one.
    private func refuse(_ changes: ChangeSet) throws {
        try snapshot {
            let conflicts = try conflicts(of: changes)
            if !conflicts.isEmpty { throw SaveRefusal.optimisticLocking(conflicts) }
            let violations = try ConstraintCheck(self).violations(in: changes)
            if !violations.isEmpty { throw SaveRefusal.constraints(violations) }
        }
    }

    /// The rows to change or delete whose version is not the expected one, and those to insert again that others have
    /// inserted again meanwhile.
    private func conflicts(of changes: ChangeSet) throws -> [(objectID: NSManagedObjectID, current: Row?)] {
        let expected =
            changes.deleted.map { ($0.objectID, $0.version) } + changes.updated.map { ($0.objectID, $0.version) }
        let again = changes.inserted.lazy.filter { $0.version > 0 }.map(\.objectID)
        let current = try currentRows(expected.map(\.0) + again)
        return expected.compactMap { identifier, version in
            let row = current[identifier]
            return row?.version == version ? nil : (identifier, row)
        } + again.compactMap { identifier in current[identifier].map { (identifier, $0) } }
    }

    private func attempt(
        _ changes: ChangeSet, _ metadata: [String: Any]?, clearsUniqueValues: Bool, _ others: (() throws -> Void)?
    ) throws -> SaveResult {
        var result = SaveResult()
        // A server that is gone meanwhile has certainly not saved anything.
        connection.noticeEnd()
        try reconnectIfNeeded()
        var run = SaveRun(changes, self, commits: others == nil && metadata == nil && commitsAtOnce)
        do {
            result.computed = try write(changes, metadata, &run, clearsUniqueValues: clearsUniqueValues)
            try others?()
        } catch {
            // The first error is the one to report.
            try? undo()
            if let error = error as? PostgresError { try explain(error) }
            throw error
        }
        if !run.isCommitted { try commit() }
        result.computed += roundedDates(changes)
        return result
    }

    /// Writes everything, in a transaction that stays open unless the run ends it.
    private func write(
        _ changes: ChangeSet, _ metadata: [String: Any]?, _ run: inout SaveRun, clearsUniqueValues: Bool
    ) throws -> [(objectID: NSManagedObjectID, slot: Int, value: StoredValue)] {
        let begin = try beginning()
        let isPreview = wasLockedBeforePreview != nil
        let looksFirst = !derivations.isEmpty || !isPreview && keepsRows(before: changes)
        if looksFirst { _ = try connection.pipeline(begin) }
        var derived = DerivedUpdate(changes, self)
        try derived.prepare()
        let last =
            try searchRequests(of: changes)
            + requests(changes.notes)
            + (isPreview
                ? []
                : history(
                    of: changes, tombstones: tombstones(of: changes.deleted.map(\.objectID)),
                    former: formerValues(of: changes)) + [notification()])
        let searched = relatedSearches(of: changes)
        let isReadAgain = !derivations.isEmpty || !searched.isEmpty
        try run.write(
            first: looksFirst ? [] : begin, last: isReadAgain ? nil : last, clearsUniqueValues: clearsUniqueValues)
        guard isReadAgain else {
            if let metadata { try MetadataWriting.write(metadata, place, connection) }
            return []
        }
        let computed = derivations.isEmpty ? [] : try derived.finish()
        if !searched.isEmpty { try finishSearches(searched) }
        if let metadata { try MetadataWriting.write(metadata, place, connection) }
        try run.finish(last)
        return computed
    }

    private func undo() throws {
        guard longTransaction != nil else { return try connection.rollback() }
        try connection.execute("ROLLBACK TO SAVEPOINT pippin_save; RELEASE SAVEPOINT pippin_save")
    }

    private func commit() throws {
        guard longTransaction == nil else { return try connection.execute("RELEASE SAVEPOINT pippin_save") }
        try commitSave()
    }

    /// The dates that the database keeps only to the microsecond.
    private func roundedDates(_ changes: ChangeSet) -> [(objectID: NSManagedObjectID, slot: Int, value: StoredValue)] {
        guard hasDates else { return [] }
        var rounded: [(objectID: NSManagedObjectID, slot: Int, value: StoredValue)] = []
        var latest: (layout: EntityLayout, slots: [Int])?
        for list in [changes.inserted, changes.updated] {
            for position in list.indices {
                let layout = list[position].objectID.layout
                if latest?.layout !== layout { latest = (layout, Self.dateSlots(layout)) }
                for slot in latest?.slots ?? [] {
                    guard case .date(let seconds) = list[position].values[slot] else { continue }
                    let stored = Timestamp.rounded(seconds)
                    if stored != seconds { rounded.append((list[position].objectID, slot, .date(stored))) }
                }
            }
        }
        return rounded
    }

    private static func dateSlots(_ layout: EntityLayout) -> [Int] {
        layout.slots.indices.filter {
            layout.attributeTypes[$0] == .dateAttributeType && !layout.slots[$0].isTransient
        }
    }
}
