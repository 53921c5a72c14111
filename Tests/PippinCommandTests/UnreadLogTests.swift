import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Stores whose files are cut off or damaged")
struct UnreadLogTests {
    private let folder: TestFolder
    private let store: URL
    private let log: URL
    /// The bytes of the write-ahead log, which has one transaction.
    private let whole: Data
    private let frameSize: Int

    init() throws {
        let small = try SmallStore()
        folder = small.folder
        store = folder.file("copied.sqlite")
        log = folder.file("copied.sqlite-wal")
        let connection = try Connection(path: small.path, mode: .readWrite)
        frameSize = 24 + Int(try #require(try connection.integer("PRAGMA page_size")))
        try connection.execute(
            "BEGIN; UPDATE ZBOOK SET ZPAGES = 7; UPDATE ZAUTHOR SET ZNAME = 'Mary Shelley'; COMMIT")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: small.path + suffix, toPath: store.path + suffix)
        }
        withExtendedLifetime(connection) {}
        whole = try Data(contentsOf: log)
    }

    private var frames: Int { (whole.count - 32) / frameSize }

    @Test("A log that is read to its end is not news, nor are the remains of a transaction that was rolled back")
    func wholeLog() throws {
        #expect(CommandRun("check", store.path).output == "copied.sqlite: nothing is wrong\n")
        try (whole + whole.dropFirst(32).prefix(frameSize)).write(to: log)
        #expect(CommandRun("check", store.path).output == "copied.sqlite: nothing is wrong\n")
        #expect(!CommandRun("info", store.path).output.contains("not read"))
    }

    @Test("A log that ends in the midst of a transaction is told by check and info, with the pages that are not read")
    func cutOffLog() throws {
        #expect(frames > 1)
        try whole.dropLast(100).write(to: log)
        let text = "is damaged, or ends in the midst of a transaction: changes of \(frames) pages are not read"
        let run = CommandRun("check", store.path)
        #expect(run.status == 3)
        #expect(run.output.contains(text), "\(run.output)")
        #expect(CommandRun("info", store.path).output.contains(text))
        try execute("DELETE FROM Z_MODELCACHE", in: folder.store)
        try FileManager.default.removeItem(at: store)
        try execute("PRAGMA wal_checkpoint(TRUNCATE)", in: folder.store)
        try FileManager.default.copyItem(at: folder.store, to: store)
        #expect(CommandRun("info", store.path).output.contains(text), "without a model, too")
    }

    @Test(
        "A store beside the log of another database is not said to be cut off or none, but to be readable without it",
        arguments: ["", "PRAGMA wal_checkpoint(TRUNCATE); UPDATE a SET b = 2"])
    func foreignLog(later: String) throws {
        let other = folder.file("other.sqlite")
        let connection = try Connection(path: other.path, mode: .create)
        try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE a (b); INSERT INTO a VALUES (1); \(later)")
        try Data(contentsOf: URL(fileURLWithPath: other.path + "-wal")).write(to: log)
        withExtendedLifetime(connection) {}
        let run = CommandRun("info", store.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("without its write-ahead log “\(log.path)” it is readable"), "\(run.errors)")
        #expect(!run.errors.contains("cut off"))
        #expect(CommandRun("check", store.path).status != 0)
        try FileManager.default.removeItem(at: log)
        #expect(CommandRun("check", store.path).output == "copied.sqlite: nothing is wrong\n")
    }

    @Test("A log is not read from a damaged page on, or at all if its header is damaged")
    func damagedLog() throws {
        var bytes = whole
        bytes[32 + 24 + 100] ^= 0xFF
        try bytes.write(to: log)
        #expect(CommandRun("check", store.path).output.contains("changes of \(frames) pages are not read"))
        bytes = whole
        bytes[13] ^= 0xFF
        try bytes.write(to: log)
        #expect(CommandRun("check", store.path).output.contains("the header of its write-ahead log is damaged"))
    }

    @Test("A write-ahead log leads to its store, and a store that is empty to its log")
    func logWithoutStore() throws {
        #expect(
            CommandRun("info", log.path).errors
                == "pippin: “\(log.path)” is the write-ahead log of “\(store.path)”; name that file\n")
        try Data().write(to: store)
        let run = CommandRun("info", store.path)
        #expect(run.errors.hasPrefix("pippin: “\(store.path)” is empty; a store expected. Its write-ahead log"))
    }

    @Test("A file that is cut off is said to be, with the number of missing bytes and not with the path of a copy")
    func cutOffFile() throws {
        try FileManager.default.removeItem(at: log)
        let bytes = try Data(contentsOf: store)
        try bytes.prefix(12_000).write(to: store)
        let text = "\(bytes.count - 12_000) bytes are missing at its end"
        #expect(CommandRun("info", store.path).errors.hasPrefix("pippin: “\(store.path)” is cut off: \(text). "))
        let check = CommandRun("check", store.path)
        #expect(check.status == 3)
        #expect(check.output.contains(text) && !check.output.contains("pippin-copy"), "\(check.output)")
    }

    @Test("A log is not said to be another store's where the damage is in the file itself: its changes are shown")
    func ownLog() throws {
        let page = "SELECT rootpage FROM sqlite_master WHERE name = 'Z_PRIMARYKEY'"
        let root = try #require(try plainNumbers(page, in: folder.store).first)
        var bytes = try Data(contentsOf: store)
        bytes[(root - 1) * (frameSize - 24)] = 0xFF
        try bytes.write(to: store)
        let info = CommandRun("info", store.path)
        #expect(info.status == 0, "\(info.errors)")
        #expect(info.output.contains("of the table “Z_PRIMARYKEY”, the rows cannot be read"), "\(info.output)")
        #expect(CommandRun("query", store.path, "Author").output.contains("Mary Shelley"))
    }
}
