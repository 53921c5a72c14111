import Foundation
import SQLiteConnection
import StoreReading
import TestSupport
import Testing

@Suite("Rollback journals")
struct RollbackJournalTests {
    /// The files of a store of 40 books, of which a transaction deletes the first ten, changes the next ten, and adds
    /// others.
    private func files(_ mode: String, pageSize: Int = 1024, isCommitted: Bool) throws -> (
        file: [UInt8], journal: [UInt8]
    ) {
        let folder = try TestFolder()
        let url = folder.url.appendingPathComponent("store.sqlite")
        let connection = try Connection(path: url.path, mode: .create)
        try connection.execute(
            """
            PRAGMA page_size = \(pageSize); PRAGMA journal_mode = \(mode); PRAGMA secure_delete = ON;
            CREATE TABLE ZBOOK (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR, ZPAGES INTEGER);
            """)
        for number in 1...40 {
            try connection.execute(
                "INSERT INTO ZBOOK VALUES (\(number), 1, 1, '\(title(number))', \(number * 10))")
        }
        try connection.execute(
            """
            PRAGMA cache_size = 4; BEGIN IMMEDIATE; DELETE FROM ZBOOK WHERE Z_PK <= 10;
            UPDATE ZBOOK SET ZPAGES = 7, Z_OPT = 2 WHERE Z_PK <= 20;
            WITH RECURSIVE numbers(n) AS (SELECT 41 UNION ALL SELECT n + 1 FROM numbers WHERE n < 400)
            INSERT INTO ZBOOK SELECT n, 1, 1, printf('New %d %s', n, hex(zeroblob(40))), n FROM numbers;
            """)
        if isCommitted { try connection.execute("COMMIT") }
        return try withExtendedLifetime((connection, folder)) {
            (
                [UInt8](try Data(contentsOf: url)),
                [UInt8](try Data(contentsOf: URL(fileURLWithPath: url.path + "-journal")))
            )
        }
    }

    private func title(_ number: Int) -> String { "Book \(number) " + String(repeating: "x", count: number % 7 * 9) }

    private struct Found: Hashable {
        let key: Int64
        let pages: Int64
        let origin: String
    }

    private func recover(_ file: [UInt8], _ journal: [UInt8]) throws -> (live: [Int64], found: Set<Found>) {
        let recovery = try #require(
            Recovery(FileBytes(file), nil, journal: FileBytes(journal), refine: refine))
        var (live, found): ([Int64], Set<Found>) = ([], [])
        let shape = try #require(recovery.shapes.first { $0.name == "ZBOOK" })
        recovery.live.forEachRow(of: shape.root) { key, _, _ in live.append(key) }
        try recovery.run { row in
            guard let key = row.key, row.values.count > 4, case .integer(let pages)? = row.values[4] else { return }
            let origin =
                switch row.origin {
                case .journal: "journal"
                case .interrupted: "interrupted"
                default: "other"
                }
            found.insert(Found(key: key, pages: pages, origin: origin))
        }
        return (live, found)
    }

    private func refine(_ shape: TableShape) -> TableShape {
        var shape = shape
        for index in shape.columns.indices where shape.columns[index].name == "Z_ENT" {
            shape.columns[index].choices = [1]
        }
        return shape
    }

    @Test("pages of an interrupted transaction are put back, and what it wrote is found", arguments: [512, 1024, 4096])
    func interrupted(pageSize: Int) throws {
        let (file, journal) = try files("DELETE", pageSize: pageSize, isCommitted: false)
        let (live, found) = try recover(file, journal)
        #expect(live == Array(1...40))
        // All that reached the file: changed and new books, and none of those that are there.
        #expect(!found.isEmpty)
        #expect(found.allSatisfy { $0.origin == "interrupted" && ($0.pages == 7 || $0.key > 40) }, "\(found)")
    }

    @Test("a journal that is left has the versions before the last transaction", arguments: [512, 1024, 4096])
    func left(pageSize: Int) throws {
        let (file, journal) = try files("PERSIST", pageSize: pageSize, isCommitted: true)
        #expect(journal.prefix(28).allSatisfy { $0 == 0 })
        let (live, found) = try recover(file, journal)
        #expect(live == Array(11...400))
        let expected = Set((1...20).map { Found(key: Int64($0), pages: Int64($0 * 10), origin: "journal") })
        #expect(found == expected, "\(found.symmetricDifference(expected))")
    }

    @Test("damaged journals end without a crash, and without memory for pages that there are not")
    func mutants() throws {
        let (file, journal) = try files("DELETE", isCommitted: false)
        var random = SplitMix(state: 8)
        for _ in 0..<100 {
            var bytes = journal
            for _ in 0..<6 {
                let end = Bool.random(using: &random) ? 28 : bytes.count
                bytes[Int.random(in: 0..<end, using: &random)] = .random(in: 0...255, using: &random)
            }
            if let recovery = Recovery(FileBytes(file), nil, journal: FileBytes(bytes), refine: refine) {
                #expect(recovery.live.count < 10_000)
                try recovery.run { _ in }
            }
        }
    }
}
