import Foundation
import SQLiteConnection
import SQLiteEngine

/// A copy of a store's database in a private folder, which is removed with this object. Its external data stay where
/// they are.
///
/// SQLite writes beside a database with a write-ahead log even to read it. The copy includes the log, so changes that
/// are only there are seen too, and the store itself stays untouched.
package final class PrivateCopy {
    /// The copy.
    package private(set) var url: URL
    /// What the copy lacks of a damaged store, in sentences without their final periods.
    package private(set) var losses: [String] = []
    private let folder: TemporaryFolder

    /// Copies a store.
    ///
    /// - Parameters:
    ///   - original: the store.
    ///   - commit: the commit of its log as of which it is wanted, from 1; 0 for the file without its log; nil for the
    ///     last one.
    /// - Throws: `CommandError` if the file is missing, no store, or cannot be read or copied, and for a commit that
    ///   there is not.
    package init(of original: URL, commit: Int? = nil) throws {
        let kind = try StoreKind(of: original)
        folder = try TemporaryFolder()
        url = folder.url.appendingPathComponent(original.lastPathComponent)
        try copy(original)
        if let commit {
            guard kind == .sqlite else {
                throw CommandError("“\(original.path)” is not an SQLite store; only these have a log with commits")
            }
            try cutLog(after: commit, original)
        }
        // What an interrupted program has written is taken back here, as those who only read cannot do it.
        guard StoreFile.hasContent(url, "-journal") else { return }
        _ = try? Connection(path: url.path, mode: .readWrite).integer("PRAGMA schema_version")
    }

    /// Whether an interrupted program has left what only a copy can take back: see decision 32.
    static func hasJournal(_ store: URL) -> Bool { StoreFile.hasContent(store, "-journal") }

    /// Puts what can be read of a damaged database in its place.
    ///
    /// - Throws: SQLite's error for one of which nothing can be read; the copy stays as it is then.
    func salvage() throws {
        let readable = folder.url.appendingPathComponent("readable", isDirectory: true)
        guard mkdir(readable.path, 0o700) == 0 else { return }
        let salvaged = readable.appendingPathComponent(url.lastPathComponent)
        let descriptor = open(salvaged.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        close(descriptor)
        let connection = try Connection(path: salvaged.path, mode: .readWrite)
        try StoreFunctions.register(on: connection, derived: DerivedValues())
        losses = try RowSalvage(of: url, into: connection).losses
        url = salvaged
    }

    /// Makes a table that every reader of a store needs where it is missing.
    ///
    /// - Returns: the name of the table; nil where none was made.
    /// - Throws: SQLite's errors.
    func completeTables() throws -> String? {
        guard try StoreKind(of: url) == .sqlite,
            let table = try RawStoreFile(url, mode: .readWrite).completeTables()
        else { return nil }
        losses.append("there is no table \(table)")
        return table
    }

    /// Cuts the log off after a commit.
    private func cutLog(after commit: Int, _ original: URL) throws {
        let path = url.path + "-wal"
        let log = FileBytes(path: path).flatMap { WriteAheadLog($0) }
        try LogCommits.check(commit, log, original)
        guard commit > 0, let size = log?.size(throughCommit: commit) else {
            unlink(path)
            return
        }
        guard truncate(path, off_t(size)) == 0 else {
            throw CommandError("“\(path)” cannot be cut off: \(String(cString: strerror(errno)))")
        }
    }

    /// Copies the database and its log or journal. Starts over if another process writes meanwhile.
    private func copy(_ original: URL) throws {
        for _ in 0..<20 {
            let before = Self.fingerprint(of: original)
            for suffix in ["", "-wal", "-journal"] {
                let source = original.path + suffix
                let destination = url.path + suffix
                unlink(destination)
                guard suffix.isEmpty || FileManager.default.fileExists(atPath: source) else { continue }
                try Self.copy(source, to: destination)
            }
            if before == Self.fingerprint(of: original) { return }
            Thread.sleep(forTimeInterval: 0.05)
        }
        throw CommandError("“\(original.path)” is being written without a pause; try again later")
    }

    /// Copies a file into one that only this user can read from the start.
    private static func copy(_ source: String, to destination: String) throws {
        func failure() -> CommandError {
            let (reason, isFull) = (String(cString: strerror(errno)), errno == ENOSPC || errno == EDQUOT)
            let folder = FileManager.default.temporaryDirectory.path
            return CommandError(
                isFull
                    ? "“\(source)” cannot be copied into the temporary folder “\(folder)”: \(reason). TMPDIR names another one"
                    : "“\(source)” cannot be copied: \(reason)")
        }
        let from = open(source, O_RDONLY | O_CLOEXEC)
        guard from >= 0 else { throw failure() }
        defer { close(from) }
        let to = open(destination, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard to >= 0 else { throw failure() }
        defer { close(to) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(from, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure() }
            if count == 0 { return }
            var done = 0
            while done < count {
                let written = buffer.withUnsafeBytes { write(to, $0.baseAddress?.advanced(by: done), count - done) }
                if written < 0, errno == EINTR { continue }
                guard written >= 0 else { throw failure() }
                done += written
            }
        }
    }

    /// The sizes and times of the files, which change when a program writes.
    static func fingerprint(of original: URL) -> [String] {
        ["", "-wal", "-journal"].map { suffix in
            let attributes = try? FileManager.default.attributesOfItem(atPath: original.path + suffix)
            let time = (attributes?[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate
            return "\(attributes?[.size] ?? "none") \(time ?? 0)"
        }
    }
}

extension PrivateCopy {
    /// A copy of a store to read in its place, where reading the store itself would change the files beside it: SQLite
    /// makes or renews `-shm` for a log that nobody uses, and cannot do so in a folder that is read-only; and it takes
    /// back what an interrupted program has written, by its journal.
    ///
    /// While another program has the store open, that program keeps these files, and SQLite sees what it saves in a
    /// state that is complete: then, and without a log, the store is read as it is.
    ///
    /// Call this before anything in the process opens the store. The result is nil for a store to be read as it is.
    ///
    /// - Parameter original: the store.
    /// - Throws: `CommandError` if the file is missing, no store, or cannot be read or copied.
    package convenience init?(leavingLogOf original: URL) throws {
        let (log, shared) = (original.path + "-wal", original.path + "-shm")
        let hasLog = [log, shared].contains { FileManager.default.fileExists(atPath: $0) }
        guard try StoreKind(of: original) == .sqlite,
            hasLog ? !Self.isLocked(shared) : StoreFile.hasContent(original, "-journal")
        else { return nil }
        try self.init(of: original)
    }

    /// Whether another process has the database of a `-shm` file open: each connection locks one of its bytes, of which
    /// SQLite uses nine from byte 120 on (https://www.sqlite.org/walformat.html).
    static func isLocked(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var lock = flock()
        (lock.l_type, lock.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
        (lock.l_start, lock.l_len) = (120, 9)
        // What the system cannot tell is taken for a lock: reading in place is always right.
        return fcntl(file, F_GETLK, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
    }
}

extension FileFacts {
    /// Reads a copy. If pages are damaged that every reader of a store needs, it is replaced by what can be read of it
    /// first: the pages of the objects may be intact. A table that every reader needs, and that is missing, is made.
    ///
    /// - Parameters:
    ///   - copy: the copy.
    ///   - original: the store.
    ///   - isDamaged: whether damage was found in other pages, so that the copy is replaced in any case.
    ///   - readsDamaged: whether what can be read takes the place of a copy with damaged pages.
    /// - Throws: the same errors as `init(copy:original:)`.
    package init(
        salvaging copy: PrivateCopy, original: URL, isDamaged: Bool = false, readsDamaged: Bool = true
    ) throws {
        let isSalvaged =
            try readsDamaged && StoreKind(of: original) == .sqlite && (isDamaged || copy.hasDamagedBookkeeping)
            && ForeignLog.text(original).isEmpty && (isDamaged || SQLiteHeader(of: copy.url)?.missingBytes == nil)
        // If nothing can be read, the error is that of the file as it is.
        if isSalvaged { try? copy.salvage() }
        let wasSalvaged = !copy.losses.isEmpty
        let missing = try? copy.completeTables()
        try self.init(copy: copy.url, original: original)
        guard missingMetadata != nil else { return }
        if missing == "Z_METADATA" {
            missingMetadata = "there is no table Z_METADATA"
        } else if wasSalvaged {
            missingMetadata = "they are on a damaged page"
        }
    }
}

extension PrivateCopy {
    /// What the copy lacks of a damaged store, and what to do, as a sentence without its final period; nil for an
    /// intact one.
    var damage: String? {
        losses.isEmpty
            ? nil
            : "the file is damaged, and what can be read is shown: \(losses.joined(separator: "; ")). \(StoreRepair.advice)"
    }

    /// Whether the metadata, the numbers of the entities or the copy of the model are on damaged pages.
    fileprivate var hasDamagedBookkeeping: Bool {
        do {
            let file = try RawStoreFile(url, mode: .readWrite)
            guard file.tables.isSuperset(of: ["Z_METADATA", "Z_PRIMARYKEY"]) else { return false }
            _ = try (file.metadata(), file.entities(), file.modelCopies())
            return false
        } catch { return (error as? SQLiteError)?.isCorrupt ?? false }
    }
}
