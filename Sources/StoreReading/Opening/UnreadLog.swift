import CoreData
import Foundation
import ModelFiles
import SQLiteConnection
import StoreEngine
import Synchronization

/// The part of a write-ahead log that SQLite leaves out without a word when it reads a store: whatever follows the last
/// frame that ends a transaction.
enum UnreadLog {
    /// What is not read, as a sentence without its final period; nil if everything is, as far as the log says.
    ///
    /// While another program has the store open, it may be in the midst of a transaction; and while this process has,
    /// looking for that would release SQLite's locks. Then nothing is said.
    ///
    /// - Parameter store: the store beside which the log is.
    /// - Returns: the sentence.
    static func text(of store: URL) -> String? {
        guard LogFiles.kind(of: store) == nil, !PrivateCopy.isLocked(store.path + "-shm"),
            let file = FileBytes(path: store.path + "-wal"), file.count >= WriteAheadLog.headerSize
        else { return nil }
        guard let log = WriteAheadLog(file), log.hasValidHeader else {
            return "the header of its write-ahead log is damaged: no change in it is read"
        }
        let unread = frames(of: log)
        guard unread > 0 else { return nil }
        return "its write-ahead log is damaged, or ends in the midst of a transaction: changes of "
            + "\(TextTools.count(unread, "page")) are not read"
    }

    /// How many frames follow the last one that ends a transaction. Those of an earlier round of the log are not
    /// missed. Those that do not continue the sums are left from a transaction that was rolled back, and have been
    /// overwritten in part, unless one of them ends a transaction. Pure.
    private static func frames(of log: WriteAheadLog) -> Int {
        let rest = log.frames[(log.commits.last?.frames.upperBound ?? 0)...].filter { $0.round == 0 }
        let cut = log.cutFrame.map { [$0] } ?? []
        let isLoss = (rest + cut).contains { $0.state == .uncommitted || $0.databaseSize != 0 }
        return isLoss ? rest.count + cut.count : 0
    }
}

/// The commits of a store's log, by their numbers.
enum LogCommits {
    /// Checks that a log has a commit.
    ///
    /// - Parameters:
    ///   - commit: its number, from 1; 0 stands for the file without its log.
    ///   - log: the log; nil for none.
    ///   - store: the store, which the error names.
    /// - Throws: `CommandError` that says which commits there are.
    static func check(_ commit: Int, _ log: WriteAheadLog?, _ store: URL) throws {
        let count = log?.commits.count ?? 0
        guard commit != 0, !(1...max(1, count)).contains(commit) || count == 0 else { return }
        throw CommandError(
            "the write-ahead log of “\(store.path)” has \(TextTools.count(count, "commit")); --at-commit takes 0, for the "
                + "file without its log" + (count > 0 ? ", or a number up to \(count)" : ""))
    }
}

/// The files `-wal` and `-shm`, which SQLite creates beside a database with a write-ahead log when it is read. A
/// read-only connection does not remove them; if there were none before, this does, when the process closes its last
/// store on that file.
package final class LogFiles: Sendable {
    private struct Use {
        var count = 0
        /// Whether the files existed before.
        let wereThere: Bool
        let kind: StoreKind
    }

    private static let uses = Mutex<[String: Use]>([:])
    private let path: String
    private let hasLeft = Atomic<Bool>(false)

    /// Registers a use of the file. Call this before anything reads it.
    ///
    /// - Throws: `CommandError` for a file that is not a store.
    package init(of url: URL) throws {
        path = Self.path(of: url)
        try Self.uses.withLock { uses in
            let known = try uses[path] ?? Use(wereThere: Self.areThere(path), kind: StoreKind(lookingAt: url))
            uses[path] = Use(count: known.count + 1, wereThere: known.wereThere, kind: known.kind)
        }
    }

    /// The kind of a file that the process has open. Only SQLite may open and close such a file once more: otherwise
    /// the system would release all locks of the process on it, and another program that closes the store would remove
    /// its log.
    static func kind(of url: URL) -> StoreKind? { uses.withLock { $0[path(of: url)]?.kind } }

    private static func path(of url: URL) -> String { url.standardizedFileURL.path }

    private static func areThere(_ path: String) -> Bool {
        ["-wal", "-shm"].contains { FileManager.default.fileExists(atPath: path + $0) }
    }

    /// Ends the use of the file. Call this when nothing reads it any more.
    package func leave() {
        guard !hasLeft.exchange(true, ordering: .relaxed) else { return }
        Self.uses.withLock { uses in
            guard var use = uses[path] else { return }
            use.count -= 1
            uses[path] = use.count > 0 ? use : nil
            // Locked, so that no thread begins to read meanwhile.
            if use.count == 0, !use.wereThere { Self.remove(path) }
        }
    }

    /// Removes the files: the last connection that may write does so when it is closed, unless another process has the
    /// database open. A log with content belongs to another program, and stays.
    private static func remove(_ path: String) {
        var facts = stat()
        guard stat(path + "-wal", &facts) == 0, facts.st_size == 0, access(path, W_OK) == 0,
            let connection = try? Connection(path: path, mode: .readWrite, busyTimeout: 0)
        else { return }
        // SQLite notices the log only when it has read something.
        _ = try? connection.integer("PRAGMA schema_version")
    }

    deinit { leave() }

    /// Waits up to a second until the process has no store open.
    package static func waitUntilLeft() {
        for _ in 0..<100 where !(uses.withLock { $0.isEmpty }) { usleep(10_000) }
    }
}

extension URL {
    /// The file that a store's path names, behind its symbolic links: SQLite's log, and the large values, are beside
    /// that file.
    package init(store path: String) { self = URL(fileURLWithPath: path).resolvingSymlinksInPath() }

    /// Makes an empty file for the copy of a store, for those only who may read the store.
    ///
    /// - Returns: whether it was made; false if there is one already.
    package func makeFile(like store: URL) throws -> Bool { try StorePermissions(of: store).makeDatabase(self) }
}

/// The kinds of store files. A file's first bytes show its kind; its name does not.
package enum StoreKind: Equatable {
    case sqlite
    case xml
    case binary

    /// The kind as Core Data names it.
    package var type: String {
        switch self {
        case .sqlite: NSSQLiteStoreType
        case .xml: NSXMLStoreType
        case .binary: NSBinaryStoreType
        }
    }

    /// Recognizes a store by its first bytes. `nil` for a file that is not a store.
    ///
    /// - Parameter start: the first bytes of a file.
    package init?(start: Data) {
        if start.starts(with: Data("SQLite format 3\0".utf8)) {
            self = .sqlite
        } else if start.starts(with: Data("bplist00".utf8)) || CoreDataBinaryFile.isOne(start) {
            self = .binary
        } else {
            guard XMLStoreReader.reads(fileThatBegins: start) else { return nil }
            self = .xml
        }
    }

    /// Looks whether a file is a store, a database of SQLite's or the write-ahead log of one, which no output replaces.
    /// A property list of any other kind is not: models and archives are written as these.
    ///
    /// - Parameter path: the file's path.
    /// - Returns: whether it is.
    package static func isStore(at path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path), let start = try? file.read(upToCount: 2048) else {
            return false
        }
        // The first four bytes of a log, in either order of the bytes of its checksums.
        if [[0x37, 0x7F, 0x06, 0x82], [0x37, 0x7F, 0x06, 0x83]].contains(Array(start.prefix(4))) { return true }
        return switch StoreKind(start: start) {
        case .sqlite: true
        case .binary: CoreDataBinaryFile.isOne(start)
        case .xml: start.range(of: Data("database".utf8)) != nil
        case nil: false
        }
    }

    /// Examines a file, or returns the known kind of one that the process has open.
    ///
    /// - Throws: `CommandError` if it is missing, cannot be read, or is not a store.
    package init(of url: URL) throws { self = try LogFiles.kind(of: url) ?? StoreKind(lookingAt: url) }

    /// Looks at a file.
    ///
    /// - Throws: `CommandError` if it is missing, cannot be read, or is not a store.
    init(lookingAt url: URL) throws {
        let path = url.path
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw CommandError("“\(path)”: there is no such file")
        }
        if isDirectory.boolValue, let error = Self.modelError(url) { throw error }
        guard !isDirectory.boolValue else { throw CommandError("“\(path)” is a folder; a store expected") }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CommandError("“\(path)” is not a regular file; a store expected")
        }
        guard let file = FileHandle(forReadingAtPath: path) else { throw CommandError("“\(path)” cannot be read") }
        defer { try? file.close() }
        let start = (try? file.read(upToCount: 2048)) ?? Data()
        guard !start.isEmpty else {
            throw CommandError("“\(path)” is empty; a store expected\(Self.log(beside: path))")
        }
        if let store = Self.store(ofLog: path, start) {
            throw CommandError("“\(path)” is the write-ahead log of “\(store)”; name that file")
        }
        let found = StoreKind(start: start)
        // The files of Xcode 3, and compiled models, are archives as binary stores are.
        if found == nil || found == .binary, let error = Self.modelError(url) { throw error }
        guard let kind = found else {
            throw CommandError(
                "“\(path)” is not a store: it begins neither with “SQLite format 3”, nor as an XML or binary store does"
            )
        }
        self = kind
    }

    /// What to add where a store is empty that has a log: its content is not lost.
    private static func log(beside path: String) -> String {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
        guard let size = (attributes?[.size] as? NSNumber)?.int64Value, size > 0 else { return "" }
        return ". Its write-ahead log “\(path)-wal” has \(TextTools.size(size))"
    }

    /// The path of the store whose write-ahead log a file is; nil if it is none.
    private static func store(ofLog path: String, _ start: Data) -> String? {
        let isLog = [0x82, 0x83].contains { start.starts(with: [0x37, 0x7F, 0x06, $0]) }
        guard isLog, path.hasSuffix("-wal") else { return nil }
        return String(path.dropLast("-wal".count))
    }

    /// What to say of a file or folder that is a model, or part of one, or a mapping model.
    private static func modelError(_ url: URL) -> CommandError? {
        if ["cdm", "xcmappingmodel"].contains(url.pathExtension) {
            return CommandError(
                "“\(url.path)” is a mapping model, and neither a store nor a model; pippin migrate takes it with "
                    + "--mapping")
        }
        guard let model = ModelPackage.model(around: url) else { return nil }
        let isWhole = model.path == url.standardizedFileURL.path
        return CommandError(
            "“\(url.path)” is \(isWhole ? "a model" : "part of the model “\(model.lastPathComponent)”"), and no store; "
                + "pippin model describe “\(model.path)” shows it, and the other commands take it with --model")
    }
}
