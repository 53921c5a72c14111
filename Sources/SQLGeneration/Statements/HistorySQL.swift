import StoreEngine

/// The statements that read and remove the persistent history. Pure.
package enum HistorySQL {
    private static let transaction = "t"

    /// The transactions after a place: `SELECT t.Z_PK, t.ZTIMESTAMP, … FROM ATRANSACTION t WHERE t.Z_PK > ? ORDER BY
    /// t.Z_PK`, with author, bundle, context and process.
    ///
    /// - Parameters:
    ///   - start: where to begin; nil for all.
    ///   - limit: how many at most; nil for all.
    ///   - columns: the columns that the table has. The history of an older system keeps the names only in the row.
    /// - Returns: the statement.
    package static func transactions(
        after start: HistoryPosition?, limit: Int? = nil, columns: Set<String>
    ) -> SQLFragment {
        let names = ["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"].map { name($0, columns) }
        let key: SQLFragment = "\(.key, of: transaction)"
        let rows: SQLFragment = "SELECT \(key), \(column("ZTIMESTAMP")), \(.list(names)) FROM ATRANSACTION t"
        let end: SQLFragment = limit.map { " LIMIT \(binding: .value(.integer(Int64($0))))" } ?? ""
        return "\(rows)\(restriction(" > ", start, alias: transaction)) ORDER BY \(key)\(end)"
    }

    /// `IFNULL((SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = t.ZAUTHORTS), t.ZAUTHOR)`
    private static func name(_ name: String, _ columns: Set<String>) -> SQLFragment {
        let plain = columns.contains(name) ? column(name) : "NULL"
        guard columns.contains(name + "TS") else { return plain }
        let shared: SQLFragment = "SELECT ZNAME FROM ATRANSACTIONSTRING WHERE \(.key) = \(column(name + "TS"))"
        return .call(.ifNull, .select(shared), plain)
    }

    private static func column(_ name: String) -> SQLFragment { "\(SQLColumn(name, of: transaction))" }

    /// The changes of the transactions after a place: `SELECT c.Z_PK, c.ZTRANSACTIONID, … FROM ACHANGE c JOIN
    /// ATRANSACTION t ON …`.
    ///
    /// - Parameters:
    ///   - start: where to begin; nil for all.
    ///   - last: the number of the last transaction; nil for all.
    ///   - keys: the keys of the changed objects; nil for all.
    ///   - tombstones: the number of tombstone columns.
    ///   - keepsValues: whether the store keeps what rows were before, which is then the last column.
    ///   - rows: the numbers before the first and of the last transaction that have changed the rows in question; nil
    ///     for all rows.
    /// - Returns: the statement.
    package static func changes(
        after start: HistoryPosition?, through last: Int64? = nil, ofKeys keys: Set<Int64>? = nil, tombstones: Int,
        keepsValues: Bool = false, ofRowsChangedIn rows: (after: Int64, through: Int64)? = nil
    ) -> SQLFragment {
        let names = ["ZTRANSACTIONID", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZCOLUMNS"]
        let named = (names + (0..<tombstones).map(tombstone)).map { "\(SQLColumn($0, of: "c"))" as SQLFragment }
        let (key, owner): (SQLFragment, SQLFragment) = ("\(.key, of: "c")", "\(SQLColumn("ZTRANSACTIONID", of: "c"))")
        let join: SQLFragment = "JOIN ATRANSACTION t ON \(.key, of: transaction) = \(owner)"
        let same: SQLFragment =
            rows.map { changed in
                let (first, last) = (
                    "\(binding: .value(.integer(changed.after)))" as SQLFragment,
                    "\(binding: .value(.integer(changed.through)))" as SQLFragment
                )
                let others: SQLFragment =
                    "SELECT ZENTITYPK FROM ACHANGE WHERE ZTRANSACTIONID > \(first) AND ZTRANSACTIONID <= \(last)"
                return " AND \(SQLColumn("ZENTITYPK", of: "c")) IN \(SQLFragment.select(others))"
            } ?? ""
        let kept: [SQLFragment] = keepsValues ? [FormerValueSQL.value(ofChange: key)] : []
        let selection: SQLFragment = "SELECT \(.list([key] + named + kept)) FROM ACHANGE c \(join)"
        let end: SQLFragment =
            last.map {
                "\(start == nil ? " WHERE " : " AND ")\(owner) <= \(binding: .value(.integer($0)))"
            } ?? ""
        let chosen: SQLFragment =
            keys.map { keys in
                let list = keys.sorted().map { "\(binding: .value(.integer($0)))" as SQLFragment }
                let isFirst = start == nil && last == nil
                return "\(isFirst ? " WHERE " : " AND ")\(SQLColumn("ZENTITYPK", of: "c")) IN (\(.list(list)))"
            } ?? ""
        let which: SQLFragment = "\(restriction(" > ", start, alias: transaction))\(end)\(chosen)\(same)"
        return "\(selection)\(which) ORDER BY \(owner), \(key)"
    }

    /// The column of one tombstone value: `ZTOMBSTONE0`.
    package static func tombstone(_ index: Int) -> String { "ZTOMBSTONE\(index)" }

    /// Removes the transactions before a place, after their changes: `DELETE FROM ATRANSACTION WHERE Z_PK < ?`.
    ///
    /// - Parameter end: where to end; nil for all.
    /// - Returns: the statements, in order.
    package static func deletion(before end: HistoryPosition?) -> [SQLFragment] {
        let condition = restriction(" < ", end)
        let transactions = SQLFragment.select("SELECT \(.key) FROM ATRANSACTION\(condition)")
        return [
            "DELETE FROM ACHANGE WHERE ZTRANSACTIONID IN \(transactions)", "DELETE FROM ATRANSACTION\(condition)",
        ]
    }

    private static func restriction(
        _ sign: SQLFragment, _ place: HistoryPosition?, alias: String? = nil
    ) -> SQLFragment {
        switch place {
        case nil: ""
        case .transaction(let number):
            " WHERE \(.key, of: alias)\(sign)\(binding: .value(.integer(number)))"
        case .date(let seconds):
            " WHERE \(SQLColumn("ZTIMESTAMP", of: alias))\(sign)\(binding: .value(.double(seconds)))"
        }
    }

    /// The number of the oldest transaction: `SELECT MIN(Z_PK) FROM ATRANSACTION`.
    package static let oldest: SQLFragment = "SELECT MIN(\(.key)) FROM ATRANSACTION"

    /// How many transactions there are: `SELECT COUNT(*) FROM ATRANSACTION`.
    package static let transactionCount: SQLFragment = "SELECT COUNT(*) FROM ATRANSACTION"
    /// How many changes there are: `SELECT COUNT(*) FROM ACHANGE`.
    package static let changeCount: SQLFragment = "SELECT COUNT(*) FROM ACHANGE"
}

/// The statements that write the persistent history. Pure; bound values have placeholders.
package enum HistoryRowSQL {
    private static let placeholder = SQLFragment(.placeholder)

    private static let changeColumns = ["ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"]

    /// One transaction: `INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS, …) VALUES (?, ?, ?, …)`.
    package static let insertTransaction = insert(
        into: "ATRANSACTION", ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS", "ZTIMESTAMP"])

    /// One change: `INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, …, ZTOMBSTONE0) VALUES (?, ?, ?, …, ?)`.
    ///
    /// - Parameter tombstones: how many tombstone values a deleted object leaves.
    /// - Returns: the statement.
    package static func insertChange(tombstones: Int) -> SQLFragment {
        insert(into: "ACHANGE", changeColumns + (0..<tombstones).map(HistorySQL.tombstone))
    }

    /// One name: `INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (?, ?, ?)`.
    package static let insertName = insert(into: "ATRANSACTIONSTRING", ["ZNAME"])

    private static func insert(into table: String, _ columns: [String]) -> SQLFragment {
        let columns = [SQLColumn(.key), SQLColumn(.entity)] + columns.map { SQLColumn($0) }
        return SQLFragment(.insert(SQLInsert(into: table, columns)))
    }

    /// The key of a name: `SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?`.
    package static let selectName: SQLFragment =
        "SELECT \(.key) FROM ATRANSACTIONSTRING WHERE ZNAME = \(placeholder)"

    /// The keys of an entity's rows that a condition selects: `SELECT t.Z_PK FROM ZCAR t WHERE t.Z_ENT = 3 AND …
    /// ORDER BY t.Z_PK`.
    ///
    /// - Parameters:
    ///   - mapping: the entity; rows of its subentities are not looked at.
    ///   - condition: the condition on rows of the entity's table `t`.
    /// - Returns: the statement.
    package static func changedKeys(of mapping: EntityMapping, where condition: SQLFragment) -> SQLFragment {
        let (key, entity): (SQLFragment, SQLFragment) = ("\(.key, of: "t")", "\(.entity, of: "t")")
        let number: SQLFragment = "\(binding: .value(.integer(Int64(mapping.number))))"
        return
            "SELECT \(key) FROM \(name: mapping.table) t WHERE \(entity) = \(number) AND \(condition) ORDER BY \(key)"
    }

    /// A change for each row of an entity that a condition selects: `INSERT INTO ACHANGE (…) SELECT ? + ROW_NUMBER()
    /// OVER (ORDER BY t.Z_PK), ?, ?, t.Z_ENT, t.Z_PK, ?, ? FROM ZCAR t WHERE t.Z_ENT = ? AND …`.
    ///
    /// - Parameters:
    ///   - mapping: the entity; rows of its subentities are not looked at.
    ///   - kept: the columns whose values a deletion keeps as tombstones.
    ///   - condition: the condition on rows of the entity's table `t`.
    /// - Returns: the statement. Its bindings are the last key, the number of the history's entity, the kind of the
    ///   change, the transaction, the mask of changed properties, and the entity's number.
    package static func insertChanges(
        of mapping: EntityMapping, keeping kept: [String], where condition: SQLFragment
    ) -> SQLFragment {
        let (key, entity): (SQLFragment, SQLFragment) = ("\(.key, of: "t")", "\(.entity, of: "t")")
        let names = changeColumns + kept.indices.map(HistorySQL.tombstone)
        let columns: [SQLFragment] = ["\(.key)", "\(.entity)"] + names.map { "\(name: $0)" }
        let number: SQLFragment = "\(placeholder) + ROW_NUMBER() OVER (ORDER BY \(key))"
        let values =
            [number, placeholder, placeholder, entity, key, placeholder, placeholder]
            + kept.map { "\(SQLColumn($0, of: "t"))" }
        let rows: SQLFragment = "SELECT \(.list(values)) FROM \(name: mapping.table) t"
        let selection: SQLFragment = "\(rows) WHERE \(entity) = \(placeholder) AND \(condition)"
        return "INSERT INTO ACHANGE (\(.list(columns))) \(selection)"
    }
}

/// The statements for what rows were before they were changed or deleted: a table of Pippin's own beside the history.
/// Pure; bound values have placeholders.
package enum FormerValueSQL {
    /// The table: a row for each change that has such values, with the change's key.
    package static let table = "PIPPIN_HISTORY"

    package static let create = "CREATE TABLE IF NOT EXISTS \(table) (Z_PK INTEGER PRIMARY KEY, ZFORMER BLOB NOT NULL)"

    package static let insert = "INSERT INTO \(table) (Z_PK, ZFORMER) VALUES (?, ?)"

    /// `(SELECT ZFORMER FROM PIPPIN_HISTORY WHERE Z_PK = c.Z_PK)`
    static func value(ofChange key: SQLFragment) -> SQLFragment {
        .select("SELECT ZFORMER FROM \(name: table) WHERE \(.key) = \(key)")
    }

    /// Deletes the values of changes that the history does not have any more, whoever deleted them: `DELETE FROM
    /// PIPPIN_HISTORY WHERE Z_PK NOT IN (SELECT Z_PK FROM ACHANGE)`.
    package static let deleteForgotten: SQLFragment =
        "DELETE FROM \(name: table) WHERE \(.key) NOT IN (SELECT \(.key) FROM ACHANGE)"
}

/// The statements for notes beside the rows: a table of Pippin's own. Pure; bound values have placeholders.
package enum NoteSQL {
    package static let table = "PIPPIN_NOTES"

    package static let create =
        "CREATE TABLE IF NOT EXISTS \(table) (ZNAME TEXT PRIMARY KEY NOT NULL, ZNOTE BLOB NOT NULL)"

    package static let exists = "SELECT 1 FROM sqlite_master WHERE name = '\(table)'"
    package static let insert = "INSERT OR REPLACE INTO \(table) (ZNAME, ZNOTE) VALUES (?, ?)"
    package static let delete = "DELETE FROM \(table) WHERE ZNAME = ?"
    package static let select = "SELECT ZNOTE FROM \(table) WHERE ZNAME = ?"
    /// From a name on, before another one.
    package static let range = "SELECT ZNAME, ZNOTE FROM \(table) WHERE ZNAME > ? AND ZNAME < ? ORDER BY ZNAME LIMIT ?"
    package static let count = "SELECT COUNT(*) FROM \(table) WHERE ZNAME > ? AND ZNAME < ?"

    /// How many transactions come after a number whose context's name does not begin with a text.
    package static let ownTransactions = """
        SELECT COUNT(*) FROM ATRANSACTION t LEFT JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZCONTEXTNAMETS \
        WHERE t.Z_PK > ?1 AND (s.ZNAME IS NULL OR substr(s.ZNAME, 1, length(?2)) <> ?2)
        """

    /// Copies all notes from one attached database to another.
    package static func copy(from source: String, to target: String) -> String {
        "INSERT OR REPLACE INTO \(target).\(table) (ZNAME, ZNOTE) SELECT ZNAME, ZNOTE FROM \(source).\(table)"
    }

    /// What comes after all names that begin with a text.
    package static func end(of prefix: String) -> String { prefix + "\u{10FFFF}" }
}
