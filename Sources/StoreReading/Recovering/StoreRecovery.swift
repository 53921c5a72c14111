import CoreData
import Foundation
import SQLGeneration
import SQLiteEngine
import StoreEngine

/// What a store's files have, beside its objects: earlier versions, deleted objects, and gaps where objects were.
///
/// The files are read where they are, byte by byte and without SQLite, once the model is known.
package final class StoreRecovery {
    /// Where an object comes from.
    package enum Origin {
        case live
        case found(RecoveredRow)
        /// A deletion in the persistent history, with what it preserved.
        case history(HistoryChangeRow, HistoryTransactionRow)
    }

    package let original: URL
    package let uuid: String
    /// What is not known, as sentences without their final periods.
    package private(set) var warnings: [String] = []
    package let log: WriteAheadLog?
    package let recovery: Recovery
    package let decoder: RowDecoder
    private let state: [String]
    private let deletions: [(HistoryChangeRow, HistoryTransactionRow)]
    /// The tables that have nothing of the objects: what the store says of itself.
    private static let bookkeeping: Set<String> = [
        "Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", "sqlite_sequence", "sqlite_stat1", "sqlite_stat4",
    ]

    /// - Parameters:
    ///   - path: the store's path.
    ///   - modelPath: the model's path; nil for the store's own copy.
    ///   - commit: the commit of the log as of which the store is read, from 1; 0 for the file without its log; nil for
    ///     the last one.
    /// - Throws: `CommandError` for a file that is not an SQLite database, and a commit that there is not.
    package init(at path: String, modelPath: String?, commit: Int? = nil) throws {
        original = URL(store: path)
        guard try StoreKind(of: original) == .sqlite else {
            throw CommandError("“\(original.path)” is not an SQLite store; only these keep what was deleted")
        }
        let facts = ModelFacts(at: path, original, modelPath)
        warnings = facts.warnings
        state = PrivateCopy.fingerprint(of: original)
        guard let file = FileBytes(path: original.path) else { throw CommandError("“\(original.path)” cannot be read") }
        log = FileBytes(path: original.path + "-wal").flatMap { WriteAheadLog($0) }
        if let commit { try LogCommits.check(commit, log, original) }
        let journal = FileBytes(path: original.path + "-journal")
        let pages = log == nil ? DatabasePages(path: original.path) : DatabasePages(file, log)
        let decoder = RowDecoder(
            facts.schema, uuid: facts.uuid, store: original, encoding: pages?.header.encoding ?? .utf8,
            counters: pages.map { KeyGaps.counters(in: $0) } ?? [:])
        guard let recovery = Recovery(file, log, journal: journal, commit: commit, refine: decoder.refine) else {
            throw CommandError(
                "“\(original.path)” has no header of a database that could be read; the first 100 bytes say how large its "
                    + "pages are")
        }
        (self.recovery, self.decoder, uuid) = (recovery, decoder, facts.uuid)
        deletions = commit == nil ? facts.deletions : []
    }

    /// Hands out all objects: those of the store first, by table and number, then what was found besides.
    ///
    /// - Parameters:
    ///   - includesLive: whether those that the store has are wanted.
    ///   - progress: told which part of the search is done, from 0 to 1.
    ///   - body: takes each object.
    /// - Throws: the errors of `progress` and `body`.
    package func forEachObject(
        includesLive: Bool, progress: (Double) throws -> Void = { _ in }, _ body: (FoundObject, Origin) throws -> Void
    ) throws {
        if includesLive {
            for shape in recovery.shapes where shape.root > 0 && !Self.bookkeeping.contains(shape.name) {
                let unread = try recovery.live.forEachRow(of: shape.root) { key, record, _ in
                    let missing = max(0, shape.columns.count - record.values.count)
                    let values = record.values + Array(repeating: .null, count: missing)
                    try body(decoder.object(key: key, values, of: shape), .live)
                }
                if unread > 0 {
                    warnings.append("\(TextTools.count(unread, "row")) of \(shape.name) cannot be read")
                }
            }
        }
        for (change, transaction) in deletions { try body(Self.object(of: change), .history(change, transaction)) }
        try recovery.run(progress: progress) { row in
            let shape = recovery.shapes[row.table]
            guard !Self.bookkeeping.contains(shape.name) else { return }
            try body(decoder.object(key: row.key, row.values, of: shape), .found(row))
        }
    }

    /// The gaps among the numbers of the objects that the store has.
    package var keyGaps: [KeyGaps] { KeyGaps.all(in: recovery.live) }

    /// Checks that nothing has written to the files since they were opened.
    ///
    /// - Throws: `CommandError` if something has: pages of two states were read then.
    package func checkFiles() throws {
        guard state != PrivateCopy.fingerprint(of: original) else { return }
        throw CommandError(
            "“\(original.path)” was written while it was read; what was found may be of two states. Read a copy of the "
                + "file and its log, made while no program writes")
    }

    /// What a deletion says of its object.
    private static func object(of change: HistoryChangeRow) -> FoundObject {
        FoundObject(
            entityName: change.objectID.layout.name, table: "", key: change.objectID.key, version: nil,
            uri: change.objectID.uriText, fields: HistoryText.preserved(by: change))
    }
}

/// What a store says of its model and its history, read by SQLite before the files are read byte by byte.
private struct ModelFacts {
    var schema: SQLSchema?
    var uuid = ""
    var warnings: [String] = []
    var deletions: [(HistoryChangeRow, HistoryTransactionRow)] = []

    /// How many deletions of a history are read.
    private static let mostDeletions = 100_000

    init(at path: String, _ original: URL, _ modelPath: String?) {
        var opening = DirectStore.Opening(path: path, modelPath: modelPath)
        opening.salvages = true
        // Where a program was interrupted, only a copy can be opened.
        opening.readsCopy = PrivateCopy.hasJournal(original)
        do {
            let store = try DirectStore(opening)
            defer { store.close() }
            uuid = store.store.metadata[NSStoreUUIDKey] as? String ?? ""
            if let gap = store.modelGap { warnings.append("\(gap) (--model names a model)") }
            guard let file = store.file else { return }
            schema = try ReadingConnection.schema(of: store, file)
            deletions = (try? Self.deletions(in: store)) ?? []
        } catch {
            warnings.append(
                "\(TextTools.withoutPeriod((error as? CommandError)?.message ?? error.localizedDescription)); "
                    + "rows are shown under the names of their columns")
        }
    }

    private static func deletions(in store: DirectStore) throws -> [(HistoryChangeRow, HistoryTransactionRow)] {
        try store.asking { engine in
            guard let history = engine.history else { return [] }
            let changes = try history.historyChanges(after: nil).filter { $0.kind == .delete }.prefix(mostDeletions)
            let transactions = try history.historyTransactions(numbered: Set(changes.map(\.transaction)))
            let byNumber = Dictionary(transactions.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
            return changes.compactMap { change in byNumber[change.transaction].map { (change, $0) } }
        }
    }
}
