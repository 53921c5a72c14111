import Foundation
import SQLiteConnection
import StoreReading
import TestSupport
import Testing

@Suite("The format of SQLite's files")
struct FormatTests {
    @Test("rows are read as SQLite reads them, as of each commit of the log", arguments: [512, 4096, 65536])
    func commits(pageSize: Int) throws {
        var settings = WrittenStore.Settings()
        settings.pageSize = pageSize
        let store = try WrittenStore(settings)
        var random = SplitMix(state: 7)
        var keys: [Int64] = []
        for number in 0..<30 {
            try store.commit {
                let length = Int.random(in: 0...3 * pageSize / 2, using: &random)
                keys.append(
                    try store.insert(
                        "ZBOOK",
                        WrittenStore.book("Title \(number)", cover: Array(repeating: UInt8(number), count: length))))
                if number % 3 == 2, let key = keys.randomElement(using: &random) { try store.delete("ZBOOK", key) }
            }
            if number == 20 { try store.checkpoint("TRUNCATE") }
        }
        let (bytes, logBytes) = try store.bytes()
        let log = try #require(logBytes.flatMap { WriteAheadLog(FileBytes($0)) })
        #expect(log.commits.count == 9)
        #expect(log.frames.allSatisfy { $0.state == .committed })
        for commit in 0...log.commits.count {
            let pages = try #require(DatabasePages(FileBytes(bytes), log, commit: commit))
            let table = try #require(TableShape.all(in: pages).first { $0.name == "ZBOOK" })
            var rows: [String] = []
            pages.forEachRow(of: table.root) { key, record, _ in
                rows.append(([.integer(key)] + record.values.dropFirst()).map(text).joined(separator: "|"))
                #expect(pages.row(key, in: table.root) == record)
            }
            let size = try #require(log.size(throughCommit: commit))
            #expect(try rows == asSQLiteReads(bytes, logBytes, size: size))
        }
    }

    /// What SQLite reads if the log ends after a number of bytes.
    private func asSQLiteReads(_ bytes: [UInt8], _ log: [UInt8]?, size: Int) throws -> [String] {
        try inTestFolder { folder in
            let file = folder.appendingPathComponent("copy.sqlite")
            try Data(bytes).write(to: file)
            try Data((log ?? []).prefix(size)).write(to: URL(fileURLWithPath: file.path + "-wal"))
            return try plainSQL("SELECT * FROM ZBOOK ORDER BY Z_PK", in: Connection(path: file.path, mode: .readWrite))
        }
    }

    private func text(_ value: RecordValue?) -> String {
        switch value {
        case .null, nil: ""
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .blob(let bytes):
            String(repeating: bytes.first.map { String(format: "%02X", $0) } ?? "", count: bytes.count)
        }
    }

    @Test("numbers of variable length are read up to nine bytes, and not beyond the end")
    func varints() {
        #expect([UInt8]([0x7F]).varint(at: 0, before: 1)?.value == 127)
        #expect([UInt8]([0x81, 0x00]).varint(at: 0, before: 2)?.value == 128)
        #expect([UInt8](repeating: 0xFF, count: 9).varint(at: 0, before: 9)?.value == -1)
        #expect([UInt8]([0x81]).varint(at: 0, before: 1) == nil)
        #expect([UInt8]([0x01]).varint(at: 1, before: 1) == nil)
    }

    @Test("declarations of tables are read with their types, keys and quoted names")
    func declarations() {
        func columns(_ sql: String) -> [String]? {
            TableShape.columns(of: sql)?.map { "\($0.name):\($0.type)\($0.isKey ? "*" : "")" }
        }
        #expect(
            columns("CREATE TABLE ZBOOK ( Z_PK INTEGER PRIMARY KEY, ZTITLE VARCHAR, ZPRICE DECIMAL(10, 2) DEFAULT 1 )")
                == ["Z_PK:INTEGER*", "ZTITLE:VARCHAR", "ZPRICE:DECIMAL"])
        #expect(
            columns("CREATE TABLE \"Z a\"(\"the, key\" INTEGER, b /* , */ , PRIMARY KEY(\"the, key\"), UNIQUE(b))")
                == ["the, key:INTEGER*", "b:"])
        #expect(columns("CREATE TABLE T (A, B, PRIMARY KEY (A, B))") == ["A:", "B:"])
        #expect(columns("CREATE TABLE T (A INT, B INT AS (A + 1), C INT AS (A) STORED)") == ["A:INT", "C:INT"])
        #expect(columns("CREATE TABLE T (A PRIMARY KEY) WITHOUT ROWID") == nil)
        #expect(columns("CREATE VIRTUAL TABLE T USING fts5(a)") == nil)
        #expect(columns("CREATE TABLE T (A") == nil)
    }

    @Test("frames after the last commit are not read as the database, and are found")
    func uncommittedFrames() throws {
        let store = try WrittenStore()
        try store.commit { try store.insert("ZBOOK", WrittenStore.book("Emma")) }
        try store.commit { try store.insert("ZBOOK", WrittenStore.book("Persuasion")) }
        let (file, log) = try store.bytes()
        var bytes = try #require(log)
        let whole = try #require(WriteAheadLog(FileBytes(bytes)))
        // Without the mark that ends the second transaction.
        let last = whole.offset(ofFrame: whole.frames.count - 1)
        bytes.replaceSubrange(last + 4..<last + 8, with: [0, 0, 0, 0])
        let cut = try #require(WriteAheadLog(FileBytes(bytes)))
        #expect(cut.commits.count == whole.commits.count - 1)
        #expect(cut.frames.last?.state == .broken)
        let recovery = try #require(Recovery(FileBytes(file), cut, refine: WrittenStore.refine))
        var titles: [String?] = []
        try recovery.run { titles.append($0.values[6]?.string(.utf8)) }
        #expect(titles.contains("Persuasion"))
    }
}
