import Foundation
import Testing

@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("The history as SQL")
struct HistorySQLTests {
    private let names: Set = [
        "ZTIMESTAMP", "ZAUTHOR", "ZAUTHORTS", "ZBUNDLEID", "ZBUNDLEIDTS", "ZCONTEXTNAME", "ZCONTEXTNAMETS",
        "ZPROCESSID",
        "ZPROCESSIDTS",
    ]

    @Test("Transactions after a number have their names from the table of names, or else from the row")
    func transactions() throws {
        let sql = HistorySQL.transactions(after: .transaction(7), columns: names)
        #expect(
            sql.sqlite.text == """
                SELECT t.Z_PK, t.ZTIMESTAMP, \
                IFNULL((SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = t.ZAUTHORTS), t.ZAUTHOR), \
                IFNULL((SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = t.ZBUNDLEIDTS), t.ZBUNDLEID), \
                IFNULL((SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = t.ZCONTEXTNAMETS), t.ZCONTEXTNAME), \
                IFNULL((SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = t.ZPROCESSIDTS), t.ZPROCESSID) \
                FROM ATRANSACTION t WHERE t.Z_PK > ? ORDER BY t.Z_PK
                """)
        #expect(try sql.sqlite.values() == [.integer(7)])
    }

    @Test("The history of an older system has the names in the row alone, and perhaps not all")
    func older() {
        let sql = HistorySQL.transactions(after: nil, columns: ["ZTIMESTAMP", "ZAUTHOR", "ZPROCESSID"])
        #expect(
            sql.sqlite.text
                == "SELECT t.Z_PK, t.ZTIMESTAMP, t.ZAUTHOR, NULL, NULL, t.ZPROCESSID FROM ATRANSACTION t ORDER BY t.Z_PK"
        )
    }

    @Test("Changes after a date come with what deleted objects left behind")
    func changes() throws {
        let sql = HistorySQL.changes(after: .date(2.5), tombstones: 2)
        #expect(
            sql.sqlite.text == """
                SELECT c.Z_PK, c.ZTRANSACTIONID, c.ZCHANGETYPE, c.ZENTITY, c.ZENTITYPK, c.ZCOLUMNS, c.ZTOMBSTONE0, \
                c.ZTOMBSTONE1 FROM ACHANGE c JOIN ATRANSACTION t ON t.Z_PK = c.ZTRANSACTIONID WHERE t.ZTIMESTAMP > ? \
                ORDER BY c.ZTRANSACTIONID, c.Z_PK
                """)
        #expect(try sql.sqlite.values() == [.double(2.5)])
    }

    @Test("Of a long history a portion is read")
    func portion() throws {
        let transactions = HistorySQL.transactions(after: .transaction(7), limit: 50, columns: ["ZTIMESTAMP"])
        #expect(transactions.sqlite.text.hasSuffix(" WHERE t.Z_PK > ? ORDER BY t.Z_PK LIMIT ?"))
        #expect(try transactions.sqlite.values() == [.integer(7), .integer(50)])
        let changes = HistorySQL.changes(after: .transaction(7), through: 57, tombstones: 0)
        #expect(
            changes.sqlite.text.hasSuffix(
                " WHERE t.Z_PK > ? AND c.ZTRANSACTIONID <= ? ORDER BY c.ZTRANSACTIONID, c.Z_PK"))
        #expect(try changes.sqlite.values() == [.integer(7), .integer(57)])
        #expect(
            HistorySQL.changes(after: nil, through: 9, tombstones: 0).sqlite.text
                .contains(" WHERE c.ZTRANSACTIONID <= ? ORDER BY "))
    }

    @Test("A deletion takes the changes before their transactions")
    func deletion() throws {
        #expect(
            HistorySQL.deletion(before: .transaction(9)).map(\.sqlite.text) == [
                "DELETE FROM ACHANGE WHERE ZTRANSACTIONID IN (SELECT Z_PK FROM ATRANSACTION WHERE Z_PK < ?)",
                "DELETE FROM ATRANSACTION WHERE Z_PK < ?",
            ])
        #expect(
            HistorySQL.deletion(before: .date(1)).map(\.other) == [
                "DELETE FROM ACHANGE WHERE ZTRANSACTIONID IN (SELECT id FROM ATRANSACTION WHERE [ztimestamp] < $1)",
                "DELETE FROM ATRANSACTION WHERE [ztimestamp] < $1",
            ])
        #expect(
            HistorySQL.deletion(before: nil).map(\.sqlite.text) == [
                "DELETE FROM ACHANGE WHERE ZTRANSACTIONID IN (SELECT Z_PK FROM ATRANSACTION)",
                "DELETE FROM ATRANSACTION",
            ])
    }

    @Test("What is oldest, and how much there is")
    func counts() {
        #expect(HistorySQL.oldest.sqlite.text == "SELECT MIN(Z_PK) FROM ATRANSACTION")
        #expect(HistorySQL.transactionCount.sqlite.text == "SELECT COUNT(*) FROM ATRANSACTION")
        #expect(HistorySQL.changeCount.sqlite.text == "SELECT COUNT(*) FROM ACHANGE")
    }

    @Test("A transaction, a change and a name are one row each")
    func rows() {
        #expect(
            HistoryRowSQL.insertTransaction.sqlite.text == """
                INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS, ZTIMESTAMP) \
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """)
        #expect(
            HistoryRowSQL.insertChange(tombstones: 1).sqlite.text == """
                INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS, ZTOMBSTONE0) \
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """)
        #expect(
            HistoryRowSQL.insertName.sqlite.text
                == "INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (?, ?, ?)")
        #expect(HistoryRowSQL.selectName.sqlite.text == "SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?")
    }

    @Test("The changes of a batch are written by one statement an entity")
    func batch() throws {
        let mapping = try shop().mapping("Product")
        let keys = KeyTableSQL("temp.KEYS")
        let sql = HistoryRowSQL.insertChanges(of: mapping, keeping: ["ZNAME"], where: keys.selects)
        #expect(
            sql.sqlite.text == """
                INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS, ZTOMBSTONE0) \
                SELECT ? + ROW_NUMBER() OVER (ORDER BY t.Z_PK), ?, ?, t.Z_ENT, t.Z_PK, ?, ?, t.ZNAME FROM ZPRODUCT t \
                WHERE t.Z_ENT = ? AND t.Z_PK IN (SELECT Z_PK FROM temp.KEYS)
                """)
        #expect(
            sql.other == """
                INSERT INTO ACHANGE (id, kind, [zchangetype], [zentity], [zentitypk], [ztransactionid], [zcolumns], \
                [ztombstone0]) SELECT $1 + ROW_NUMBER() OVER (ORDER BY t.id), $2, $3, t.kind, t.id, $4, $5, t.[zname] \
                FROM [zproduct] t WHERE t.kind = $6 AND t.id IN (SELECT id FROM temp.KEYS)
                """)
    }
}
