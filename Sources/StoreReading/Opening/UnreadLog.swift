import Foundation
import SQLiteConnection
import Synchronization

/// The part of a write-ahead log that SQLite leaves out without a word when it reads a store: whatever follows the last
/// frame that ends a transaction (https://www.sqlite.org/walformat.html).
struct UnreadLog {
    private let file: FileHandle
    private let pageSize: Int
    private let salts: ArraySlice<UInt8>
    private let isBigEndian: Bool
    private var sums: (UInt32, UInt32) = (0, 0)

    private static let headerSize = 32
    private static let frameSize = 24

    /// What is not read, as a sentence without its final period; nil if everything is, as far as the log says.
    ///
    /// While another program has the store open, it may be in the midst of a transaction; and while this process has,
    /// looking for that would release SQLite's locks. Then nothing is said.
    ///
    /// - Parameter store: the store beside which the log is.
    /// - Returns: the sentence.
    static func text(of store: URL) -> String? {
        guard LogFiles.kind(of: store) == nil, !PrivateCopy.isLocked(store.path + "-shm"),
            let file = FileHandle(forReadingAtPath: store.path + "-wal")
        else { return nil }
        defer { try? file.close() }
        guard let header = bytes(file, headerSize), header.count == headerSize else { return nil }
        guard var log = UnreadLog(file, header) else {
            return "the header of its write-ahead log is damaged: no change in it is read"
        }
        let unread = log.unreadFrames()
        guard unread > 0 else { return nil }
        return "its write-ahead log is damaged, or ends in the midst of a transaction: changes of "
            + "\(TextTools.count(unread, "page")) are not read"
    }

    private init?(_ file: FileHandle, _ header: [UInt8]) {
        let magic = Self.number(header[0..<4])
        guard magic == 0x377f_0682 || magic == 0x377f_0683 else { return nil }
        self.file = file
        (isBigEndian, pageSize, salts) = (magic & 1 == 1, Int(Self.number(header[8..<12])), header[16..<24])
        guard (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1 else { return nil }
        add(header[0..<24])
        guard sums == (Self.number(header[24..<28]), Self.number(header[28..<32])) else { return nil }
    }

    /// How many frames follow the last one that ends a transaction. Frames with other salts are of an earlier round of
    /// the log. Those that do not continue the sums are left from a transaction that was rolled back, and have been
    /// overwritten in part, unless one of them ends a transaction.
    private mutating func unreadFrames() -> Int {
        var (unread, isWhole, isLoss) = (0, true, false)
        while let frame = Self.bytes(file, Self.frameSize + pageSize), frame.count >= 16, frame[8..<16] == salts {
            let endsTransaction = Self.number(frame[4..<8]) != 0
            if isWhole, frame.count == Self.frameSize + pageSize {
                add(frame[0..<8])
                add(frame[Self.frameSize...])
                isWhole = sums == (Self.number(frame[16..<20]), Self.number(frame[20..<24]))
                if isWhole, endsTransaction {
                    (unread, isLoss) = (0, false)
                    continue
                }
            }
            unread += 1
            isLoss = isLoss || isWhole || endsTransaction
        }
        return isLoss ? unread : 0
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        var (first, second) = sums
        bytes.withUnsafeBytes { words in
            for place in stride(from: 0, to: words.count - 7, by: 8) {
                first &+= word(words, place) &+ second
                second &+= word(words, place + 4) &+ first
            }
        }
        sums = (first, second)
    }

    private func word(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt32 {
        let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    private static func bytes(_ file: FileHandle, _ count: Int) -> [UInt8]? {
        (try? file.read(upToCount: count)).map { [UInt8]($0) }
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
