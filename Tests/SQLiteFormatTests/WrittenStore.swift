import Foundation
import SQLiteConnection
import StoreReading
import TestSupport

/// A database with tables as Core Data makes them, and every version of every row that was ever committed.
final class WrittenStore {
    struct Version: Hashable {
        let table: String
        let key: Int64
        let values: [RecordValue]
    }

    struct Settings: CustomStringConvertible {
        var pageSize = 4096
        var isSecure = false
        /// 0 for none, 1 for full, 2 for incremental.
        var autoVacuum = 0
        var hasLog = true
        /// How long the longest texts are.
        var longest = 200

        var description: String {
            "pages of \(pageSize), secure_delete \(isSecure), auto_vacuum \(autoVacuum), "
                + "\(hasLog ? "WAL" : "journal"), up to \(longest) bytes"
        }
    }

    let folder: TestFolder
    let file: URL
    let connection: Connection
    /// All versions that were committed, also those that are there.
    private(set) var committed: Set<Version> = []
    /// All versions that were written, also those that were changed again in the same transaction.
    private(set) var written: Set<Version> = []
    /// Those that are there.
    private(set) var live: [String: [Int64: Version]] = [:]
    private var nextKey: Int64 = 1

    init(_ settings: Settings = Settings()) throws {
        folder = try TestFolder()
        file = folder.file("store.sqlite")
        connection = try Connection(path: file.path, mode: .create)
        try connection.execute(
            """
            PRAGMA page_size = \(settings.pageSize);
            PRAGMA auto_vacuum = \(settings.autoVacuum);
            PRAGMA secure_delete = \(settings.isSecure ? "ON" : "OFF");
            PRAGMA journal_mode = \(settings.hasLog ? "WAL" : "DELETE");
            PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE ZBOOK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPAGES INTEGER,
                ZPRICE FLOAT, ZDATE TIMESTAMP, ZTITLE VARCHAR, ZCOVER BLOB );
            CREATE TABLE ZAUTHOR ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
            CREATE INDEX ZBOOK_ZTITLE_INDEX ON ZBOOK (ZTITLE);
            """)
    }

    /// The entity numbers that each table has.
    static let entities: [String: Set<Int64>] = ["ZBOOK": [1, 3], "ZAUTHOR": [2]]

    /// The restrictions that a reader of Core Data's stores knows.
    static func refine(_ shape: TableShape) -> TableShape {
        var shape = shape
        for index in shape.columns.indices {
            switch shape.columns[index].name {
            case "Z_ENT": shape.columns[index].choices = entities[shape.name]
            case "Z_OPT": shape.columns[index].integers = 1...Int64(Int32.max)
            default: break
            }
        }
        return shape
    }

    // MARK: Writing

    func commit(_ body: () throws -> Void) throws {
        try connection.execute("BEGIN IMMEDIATE")
        try body()
        try connection.execute("COMMIT")
        for table in live.values { committed.formUnion(table.values) }
    }

    @discardableResult
    func insert(_ table: String, _ values: [RecordValue]) throws -> Int64 {
        let key = nextKey
        nextKey += 1
        try write(table, key, values)
        return key
    }

    func write(_ table: String, _ key: Int64, _ values: [RecordValue]) throws {
        let marks = Array(repeating: "?", count: values.count + 1).joined(separator: ", ")
        let statement = try connection.prepare("INSERT OR REPLACE INTO \(table) VALUES (\(marks))")
        try statement.bind(key, at: 1)
        for (index, value) in values.enumerated() {
            let place = Int32(index + 2)
            switch value {
            case .null: try statement.bindNull(at: place)
            case .integer(let number): try statement.bind(number, at: place)
            case .real(let number): try statement.bind(number, at: place)
            case .text(let bytes): try statement.bind(String(decoding: bytes, as: UTF8.self), at: place)
            case .blob(let bytes): try statement.bind(Data(bytes), at: place)
            }
        }
        _ = try statement.step()
        let version = Version(table: table, key: key, values: [.null] + values)
        live[table, default: [:]][key] = version
        written.insert(version)
    }

    func delete(_ table: String, _ key: Int64) throws {
        try connection.execute("DELETE FROM \(table) WHERE Z_PK = \(key)")
        live[table]?[key] = nil
    }

    func checkpoint(_ kind: String = "PASSIVE") throws { try connection.execute("PRAGMA wal_checkpoint(\(kind))") }

    // MARK: Reading

    /// The bytes of the files as they are now.
    func bytes() throws -> (file: [UInt8], log: [UInt8]?) {
        (
            Array(try Data(contentsOf: file)),
            try? Array(Data(contentsOf: URL(fileURLWithPath: file.path + "-wal")))
        )
    }

    struct Found {
        let row: RecoveredRow
        let table: String
        /// The version that it is; nil where the number or a value is lost.
        let version: Version?
    }

    /// What is found in the files as they are now.
    func recover(commit: Int? = nil) throws -> [Found] {
        let (file, log) = try bytes()
        let source = FileBytes(file)
        guard
            let recovery = Recovery(
                source, log.flatMap { WriteAheadLog(FileBytes($0)) }, commit: commit, refine: Self.refine)
        else { return [] }
        var found: [Found] = []
        try recovery.run { row in
            let table = recovery.shapes[row.table].name
            let values = row.values.compactMap { $0 }
            let version = row.key.flatMap { key in
                values.count == row.values.count ? Version(table: table, key: key, values: values) : nil
            }
            found.append(Found(row: row, table: table, version: version))
        }
        return found
    }

    /// The versions that were committed and are not there any more.
    var gone: Set<Version> { committed.subtracting(live.values.flatMap(\.values)) }
}

extension WrittenStore {
    /// The values of a book.
    static func book(_ title: String, pages: Int64 = 100, opt: Int64 = 1, cover: [UInt8] = []) -> [RecordValue] {
        [
            .integer(1), .integer(opt), .integer(pages), .real(19.5), .real(700_000_000.25), .text(Array(title.utf8)),
            cover.isEmpty ? .null : .blob(cover),
        ]
    }
}
