import Foundation
import Pippin
import StoreSession
import SyncPlanning
import Synchronization

/// A store of a sync, on either side: its rows as the planner has them, and the notes that it keeps of the sync beside
/// them.
struct SyncStore: Sendable {
    let manager: PersistenceManager
    let mapping: SyncMapping
    /// The same with the rules of conflicts.
    let schema: SyncSchema
    /// A number that differs from that of a model with other properties.
    let version: Int
    private let batches = BatchMemory()
    var session: StoreSession { manager.session }

    /// - Parameters:
    ///   - manager: the store.
    ///   - isScoped: whether only the rows of some scopes are kept in step; nil for as the schema says.
    /// - Throws: ``SyncError``, and what opening the store throws.
    init(_ manager: PersistenceManager, isScoped: Bool?) throws {
        self.manager = manager
        try manager.openIfNeeded()
        mapping = try SyncMapping(manager.session.modelLayout)
        let schema = try SyncRules.schema(of: mapping)
        self.schema = isScoped ?? true ? schema : schema.withoutScopes
        version = SyncRules.version(of: schema.properties)
        if isScoped == true, !schema.isScoped { throw SyncError.noScopes(manager.name) }
        try session.withLock { try noting().makeNotes() }
    }

    /// The properties by which rows are compared: references and lists of a device that has the rows of some scopes may
    /// lead to others, which it does not have.
    func comparable(_ known: KnownProperties) -> KnownProperties {
        guard schema.isScoped else { return known }
        return KnownProperties(known.kinds.mapValues { $0.filter { $0.value == .value } })
    }

    var name: String { session.onlyStore?.url?.lastPathComponent ?? manager.name }

    /// The only store, and its history.
    func parts() throws -> (store: SessionStore, history: any HistoryEngine) {
        guard let store = session.onlyStore else { throw SyncError.noHistory(name, "it is not one store") }
        guard let history = store.engine.history else { throw SyncError.noHistory(name, "it keeps no history") }
        return (store, history)
    }

    func reading() throws -> RowReading { RowReading(mapping, session, try parts().store) }

    /// Runs work that nobody else saves during: no thread of this program, and no other program.
    func exclusively<Result>(_ work: (OptimisticTransaction) throws -> Result) throws -> Result {
        try manager.openIfNeeded()
        return try manager.writes.sync {
            try session.withLock {
                let transaction = OptimisticTransaction(session)
                defer { transaction.end() }
                try transaction.lockOutWriters()
                return try manager.writes.entering { try work(transaction) }
            }
        }
    }

    /// Runs work whose saves are one transaction of the store, however many rows they have: few are in memory at a
    /// time. Others can read until it ends, and not save.
    func inOneTransaction<Result>(_ work: () throws -> Result) throws -> Result {
        try manager.openIfNeeded()
        return try manager.writes.sync {
            try session.withLock {
                let store = try parts().store
                guard let long = store.engine.longTransactions else {
                    throw SyncError.noHistory(name, "it cannot take many saves in one transaction")
                }
                try long.beginLongTransaction(makesIndexesLater: false)
                let result: Result
                do { result = try manager.writes.entering(work) } catch {
                    // The first error is the one to report.
                    try? long.endLongTransaction(commits: false)
                    throw error
                }
                try long.endLongTransaction(commits: true)
                session.announceChange(of: store)
                return result
            }
        }
    }

    // MARK: Notes

    func noting() throws -> any NotingEngine {
        guard let noting = try parts().store.engine.noting else {
            throw SyncError.noHistory(name, "it has no place for what a sync must remember")
        }
        return noting
    }

    /// What the store has noted under a name; nil for nothing.
    func noted<Content: Decodable>(_ type: Content.Type, _ name: String) throws -> Content? {
        guard let data = try noting().note(name) else { return nil }
        return try decode(type, data)
    }

    /// The batch that the store has noted; nil for none.
    func notedBatch() throws -> PushRequest? {
        guard let data = try noting().note(SyncNote.batch) else { return nil }
        if let known = batches.latest.withLock({ $0 }), known.data == data { return known.request }
        let request = try decode(PushRequest.self, data)
        batches.latest.withLock { $0 = (data, request) }
        return request
    }

    /// What the store has noted under all names that begin with a text, in their order.
    func allNoted<Content: Decodable>(_ type: Content.Type, beginningWith prefix: String) throws -> [Content] {
        try noting().notes(beginningWith: prefix, after: nil, limit: .max).map { try decode(type, $0.data) }
    }

    private func decode<Content: Decodable>(_ type: Content.Type, _ data: Data) throws -> Content {
        do { return try JSONDecoder().decode(type, from: data) } catch { throw SyncError.damaged(name, error) }
    }

    /// Writes rows, and notes beside them, in one transaction.
    ///
    /// - Parameters:
    ///   - targets: what rows are to be; nil for those that are to be gone.
    ///   - contextName: the name of the context in the history; nil for a change of the program's own.
    ///   - author: the author in the history; nil for the store's own.
    ///   - transaction: the transaction, during which others cannot save; nil for the store's long one.
    ///   - notes: makes the notes: those to write, and nil for those to delete. Its argument is whether rows are
    ///     written, so that the history gets a transaction.
    /// - Throws: the errors of the store; nothing is written then.
    func write(
        _ targets: [RowID: PlannedRow?], contextName: String?, author: String? = nil,
        in transaction: OptimisticTransaction?, noting notes: (_ isWritten: Bool) throws -> [String: Data?]
    ) throws {
        let (store, _) = try parts()
        var isWritten = false
        try session.saveRows(to: store, in: transaction) { countsKeys in
            if targets.isEmpty { return nil }
            var writing = RowWriting(mapping, session, store, countsKeys: countsKeys, transaction)
            var changes = try writing.changes(to: targets)
            if changes.isEmpty { return nil }
            isWritten = true
            changes.notes = try notes(true)
            (changes.contextName, changes.author) = (contextName, author)
            return changes
        }
        if isWritten { return }
        var changes = ChangeSet()
        changes.notes = try notes(false)
        if !changes.notes.isEmpty { _ = try session.save([(store, changes)], in: transaction) }
    }
}

/// The batch that was read last: it is large, and needed several times before it is decided about.
private final class BatchMemory: Sendable {
    let latest = Mutex<(data: Data, request: PushRequest)?>(nil)
}

/// Why a store cannot be kept in step with another one.
public struct SyncError: Error, CustomStringConvertible, Sendable {
    /// What kind of error it is.
    public enum Code: Hashable, Sendable {
        /// The model has something that cannot be synced.
        case model
        /// A store keeps no history, or its history does not reach back far enough.
        case history
        /// The requests to the server fail.
        case offline
        /// What a store keeps of its sync cannot be read.
        case damaged
        /// The store is an older copy of itself: the server has had later changes of it.
        case olderCopy
        /// The server's address cannot be asked.
        case address
        /// The server does not know the user, or the program gives no token.
        case needsLogin
        /// The server refuses this user or device.
        case refused
        /// The server speaks another version of the wire.
        case version
        /// A saved transaction is larger than the server takes at once.
        case tooLarge
    }

    /// What kind of error it is.
    public let code: Code
    /// What is wrong, what was expected, and what to do.
    public let description: String
    /// For how many seconds the server wants to be left alone.
    var retryAfter = 0

    init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }

    static func noIdentifier(entity: String) -> SyncError {
        SyncError(
            .model,
            "The entity “\(entity)” cannot be synced: none of its attributes is unique by itself, and a text, a UUID or a whole "
                + "number. Give it such an identifier.")
    }

    static func sameIdentifiers(entity: String) -> SyncError {
        SyncError(
            .model,
            "The entity “\(entity)” cannot be synced: two of its properties have the same renaming identifier. Give one of them "
                + "another one.")
    }

    static func noSet(entity: String, property: String) -> SyncError {
        SyncError(
            .model,
            "The property “\(property)” of the entity “\(entity)” cannot be merged by .union: it is not a set of models. Give it "
                + "another rule.")
    }

    static func noScopes(_ store: String) -> SyncError {
        SyncError(
            .model,
            "The store “\(store)” cannot be synced by scopes: none of its entities has one. Give one its scope, "
                + "Schema(.scope(…)), or sync without scopes.")
    }

    static func noInverse(entity: String, relationship: String) -> SyncError {
        SyncError(
            .model,
            "The relationship “\(relationship)” of the entity “\(entity)” cannot be synced: it has no inverse. Give it one."
        )
    }

    static func isOwnInverse(entity: String, relationship: String) -> SyncError {
        SyncError(
            .model,
            "The relationship “\(relationship)” of the entity “\(entity)” cannot be synced: it is its own inverse. Use two "
                + "relationships.")
    }

    static func noHistory(_ store: String, _ reason: String) -> SyncError {
        SyncError(
            .history,
            "The store “\(store)” cannot be synced: \(reason). Open it with a history, .file(url, keepsHistory: .always)."
        )
    }

    static func historyIsTrimmed(_ store: String) -> SyncError {
        SyncError(
            .history,
            "Changes of the store “\(store)” that the server has not seen were deleted from its history. Keep the history for "
                + "longer than the store is offline, and call discard() to start over.")
    }

    static func damaged(_ store: String, _ reason: any Error) -> SyncError {
        SyncError(
            .damaged,
            "What the store “\(store)” keeps of its sync cannot be read: \(reason). Call discard() to start over.")
    }

    static let alwaysMoving = SyncError(
        .offline, "The rows could not be compared: the server's changed again each time. Try again when less is saved.")

    static func offline(_ reason: any Error) -> SyncError {
        (reason as? RemoteFailure)?.error ?? offline("\(reason)")
    }

    static func offline(_ reason: String) -> SyncError { SyncError(.offline, "The server does not answer: \(reason)") }

    static let olderCopy = SyncError(.olderCopy, olderCopyText)

    package static let olderCopyText =
        "The store is an older copy of itself: the server has had later changes of it. Call discard() to start over with what "
        + "the server has."
}
