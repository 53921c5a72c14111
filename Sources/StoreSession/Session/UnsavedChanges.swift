import CoreDataModel
import Dispatch
import Foundation
import StoreEngine

/// The changes of a block to the only store, which are saved when it ends: one change set, composed of those that the
/// block has made so far.
///
/// The block's questions see them in a preview: a transaction of the store in which they are written, and which is
/// undone. It is begun by the first question, and ends when anybody else uses the session, when it was not used for 50
/// ms, and with the block; the next question begins another one. A block that asks nothing after its changes has none.
package final class UnsavedChanges: @unchecked Sendable {
    // @unchecked Sendable: a block uses it on one thread at a time; what a preview needs is used under the lock.
    private let session: StoreSession
    private let store: SessionStore
    fileprivate let transaction: OptimisticTransaction
    private var changes = ComposedChanges()
    /// The changes that the preview does not have yet; under the lock.
    fileprivate var later: [ChangeSet] = []
    /// The keys that were promised for new rows, by root entity.
    private var keys: [ObjectIdentifier: KeyPromise] = [:]
    /// Keys that the store has given out and no row has yet, by root entity.
    private var spareKeys: [ObjectIdentifier: Int64] = [:]

    /// No changes yet.
    ///
    /// - Parameters:
    ///   - session: the session of the only store.
    ///   - store: the store.
    ///   - transaction: the transaction of the block.
    package init(_ session: StoreSession, _ store: SessionStore, _ transaction: OptimisticTransaction) {
        (self.session, self.store, self.transaction) = (session, store, transaction)
    }

    /// Whether nothing has changed.
    package var isEmpty: Bool { changes.isEmpty }

    /// Whether a preview with these changes is open, which a question would use.
    package var isShown: Bool { session.withState { session.preview?.changes === self } }

    // MARK: Changing

    /// Adds changes that come after those so far.
    ///
    /// - Parameter set: the changes, which were made for the rows as the preview has them, or concern other rows than
    ///   the changes so far do.
    package func add(_ set: ChangeSet) {
        changes.add(set)
        session.withState { if session.preview?.changes === self { later.append(set) } }
    }

    /// IDs for new rows, and the promises that their change set must have.
    ///
    /// - Parameter entities: one entity for each row.
    /// - Returns: an ID for each of the entities, in order.
    /// - Throws: an `NSError` for a store that cannot be written.
    package func makeIdentifiers(for entities: [EntityLayout]) throws -> PromisedIdentifiers {
        guard !entities.isEmpty else { return PromisedIdentifiers([]) }
        if entities.count == 1, let spare = spareKeys.removeValue(forKey: ObjectIdentifier(entities[0].root)) {
            return PromisedIdentifiers([NSManagedObjectID(layout: entities[0], store: store.identity, key: spare)])
        }
        if keys.isEmpty {
            let made = try session.makeIdentifiers(for: entities, in: store, countsKeys: false, transaction)
            for promise in made.promises { keys[ObjectIdentifier(promise.root)] = promise }
            return made
        }
        let new = entities.filter { keys[ObjectIdentifier($0.root)] == nil }
        let made = try session.makeIdentifiers(for: new, in: store, countsKeys: false, transaction)
        var promises = made.promises
        for promise in promises { keys[ObjectIdentifier(promise.root)] = promise }
        var rest = made.identifiers[...]
        let others = Set(new.map { ObjectIdentifier($0.root) })
        var identifiers: [NSManagedObjectID] = []
        for entity in entities {
            let root = ObjectIdentifier(entity.root)
            guard !others.contains(root), let known = keys[root] else {
                if let identifier = rest.popFirst() { identifiers.append(identifier) }
                continue
            }
            let next = KeyPromise(root: entity.root, before: known.last, last: known.last + 1)
            keys[root] = next
            identifiers.append(NSManagedObjectID(layout: entity, store: store.identity, key: next.last))
            if let place = promises.firstIndex(where: { $0.root === entity.root }) {
                promises[place] = KeyPromise(root: entity.root, before: promises[place].before, last: next.last)
            } else {
                promises.append(next)
            }
        }
        return PromisedIdentifiers(identifiers, promises)
    }

    /// The key that the next new row of an entity would get.
    ///
    /// - Parameter entity: the row's entity.
    /// - Returns: the key, and whether others are kept from taking it; nil for a store that gives out none.
    /// - Throws: an `NSError` for a store that cannot be written.
    package func nextKey(of entity: EntityLayout) throws -> (key: Int64, isReserved: Bool)? {
        let root = ObjectIdentifier(entity.root)
        if let key = keys[root]?.last { return (key + 1, false) }
        if let spare = spareKeys[root] { return (spare, true) }
        let made = try session.makeIdentifiers(for: [entity], in: store, countsKeys: false, transaction)
        guard let key = made.identifiers.first?.key else { return nil }
        // A store that promises nothing has given the key away.
        if made.promises.isEmpty { spareKeys[root] = key }
        return (key, made.promises.isEmpty)
    }

    // MARK: Questions

    /// Whether a row is new, changed or deleted.
    package func contains(_ identifier: NSManagedObjectID) -> Bool { changes.contains(identifier) }

    /// The change of a stored row that stays; nil for every other row.
    package func update(of identifier: NSManagedObjectID) -> RowChange? { changes.update(of: identifier) }

    /// Makes sure that a preview has the changes.
    ///
    /// - Throws: `SaveRefusal` for changes that cannot be saved as they are, the error of a broken transaction, and the
    ///   errors of the store.
    package func show() throws { try reading {} }

    /// Runs readings that see the changes.
    ///
    /// - Parameter body: the readings.
    /// - Returns: what the closure returns.
    /// - Throws: what `show()` throws, and the closure's errors.
    package func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try session.withState {
            if session.isReadingPreview { return try body() }
            if session.preview?.changes !== self {
                session.endPreview()
                try beginPreview()
            }
            session.isReadingPreview = true
            defer { session.isReadingPreview = false }
            do {
                try write()
                let result = try body()
                session.preview?.latestUse = .now()
                return result
            } catch {
                // The database may have ended the transaction with the error.
                session.endPreview()
                throw error
            }
        }
    }

    private func beginPreview() throws {
        guard let engine = store.engine.previews else {
            throw StoreError.unsupported("asking after unsaved changes", storeType: store.type, url: store.url)
        }
        try transaction.beginningPreview(of: store) { try engine.beginPreview() }
        later = changes.isEmpty ? [] : [changes.changeSet]
        session.preview = StoreSession.Preview(changes: self, engine: engine)
        session.endPreviewWhenIdle()
    }

    /// Writes what the preview does not have yet.
    private func write() throws {
        while !later.isEmpty {
            let sets = later
            later = []
            for set in sets {
                // Somebody in this program has taken keys meanwhile.
                do { _ = try store.engine.save(set) } catch is KeysTaken { throw transaction.breakOff() }
            }
        }
    }

    // MARK: Saving

    /// The changes, as they would be saved.
    package var changeSet: ChangeSet { changes.changeSet }

    /// Forgets the changes, so that others can be added in their place.
    package func removeAll() {
        session.withState { if session.preview?.changes === self { session.endPreview() } }
        (changes, keys) = (ComposedChanges(), [:])
    }

    /// Saves the changes, as one save.
    ///
    /// - Parameter check: throws for changes that break a rule.
    /// - Throws: `SaveRefusal` for conflicts, the errors of the closure, and those of the store; nothing is saved then.
    package func save(checking check: (ChangeSet) throws -> Void) throws {
        try leaveOutUnchanged()
        try check(changes.changeSet)
        changes.closeGaps()
        try session.saveRows(to: store, in: transaction) { countsKeys in
            if countsKeys {
                let new = changes.inserted.map(\.layout)
                changes.rename(
                    try session.makeIdentifiers(for: new, in: store, countsKeys: true, transaction).identifiers)
            }
            let set = changes.changeSet
            return set.isEmpty ? nil : set
        }
    }

    /// Leaves out what is as it was stored after all.
    private func leaveOutUnchanged() throws {
        let repeated = changes.repeatedUpdates.map(\.objectID)
        guard !repeated.isEmpty else { return }
        try transaction.reading {
            for row in try session.rows(for: repeated) {
                try changes.leaveOutUnchanged(row) { relationship in
                    try session.destinations(of: relationship, for: [row.objectID]).first ?? []
                }
            }
        }
    }
}

// Previews of unsaved changes.
extension StoreSession {
    /// A preview that is open.
    struct Preview {
        let changes: UnsavedChanges
        let engine: any PreviewingEngine
        var latestUse = DispatchTime.now()
    }

    /// How long a preview stays open without use. Other programs that save wait for so long at most, beyond the
    /// questions themselves.
    private static let longestIdleTime: DispatchTimeInterval = .milliseconds(50)
    private static let previewQueue = DispatchQueue(label: "StoreSession.previews")

    /// Ends the preview, if there is one. For use under the lock.
    func endPreview() {
        guard let ended = preview else { return }
        preview = nil
        ended.changes.noteEnd(isIntact: ended.engine.endPreview())
    }

    /// Ends the preview once it was not used for some time. For use under the lock.
    func endPreviewWhenIdle() {
        guard !isWatchingPreview, let preview else { return }
        isWatchingPreview = true
        watchPreview(until: preview.latestUse + Self.longestIdleTime)
    }

    private func watchPreview(until deadline: DispatchTime) {
        Self.previewQueue.asyncAfter(deadline: deadline) { [weak self] in
            guard let self else { return }
            guard lock.try() else { return watchPreview(until: .now() + .milliseconds(5)) }
            defer { lock.unlock() }
            let next = preview.map { $0.latestUse + Self.longestIdleTime }
            if let next, next > .now() { return watchPreview(until: next) }
            isWatchingPreview = false
            endPreview()
        }
    }
}

extension UnsavedChanges {
    /// Notes that the preview has ended. A block whose preview was lost with its connection runs again.
    fileprivate func noteEnd(isIntact: Bool) {
        later = []
        if !isIntact { _ = transaction.breakOff() }
    }
}
