import CPippinSQLite
import PredicateFormat

/// A table of SQLite's FTS5 in memory, filled as an index would be.
final class FullTextTable {
    struct Failure: Error { let message: String }

    private var database: OpaquePointer?

    init(fields: Int) throws {
        try check(sqlite3_open(":memory:", &database))
        let columns = (0..<fields).map { "f\($0)" }.joined(separator: ", ")
        let sql = "CREATE VIRTUAL TABLE t USING fts5(\(columns), tokenize = '\(SearchTokenizer.fts5Tokenizer)')"
        try check(sqlite3_exec(database, sql, nil, nil, nil))
        try check(sqlite3_exec(database, "CREATE VIRTUAL TABLE words USING fts5vocab('t', 'instance')", nil, nil, nil))
    }

    deinit { sqlite3_close(database) }

    private func check(_ code: Int32) throws {
        guard code != SQLITE_OK, code != SQLITE_ROW, code != SQLITE_DONE else { return }
        throw Failure(message: String(cString: sqlite3_errmsg(database)))
    }

    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// Runs a statement with texts, and returns its rows' first two columns.
    @discardableResult
    private func run(_ sql: String, _ texts: [String]) throws -> [(Int64, Double)] {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(database, sql, -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        for (index, text) in texts.enumerated() {
            var text = text
            try check(
                text.withUTF8 { utf8 in
                    utf8.withMemoryRebound(to: CChar.self) {
                        sqlite3_bind_text(statement, Int32(index + 1), $0.baseAddress, Int32($0.count), Self.transient)
                    }
                })
        }
        var rows: [(Int64, Double)] = []
        while true {
            let code = sqlite3_step(statement)
            try check(code)
            if code == SQLITE_DONE { return rows }
            rows.append((sqlite3_column_int64(statement, 0), sqlite3_column_double(statement, 1)))
        }
    }

    func insert(_ fields: [String], _ tokenizer: SearchTokenizer) throws {
        let places = fields.map { _ in "?" }.joined(separator: ", ")
        try run("INSERT INTO t VALUES (\(places))", fields.map(tokenizer.fts5Content))
    }

    /// The numbers of the documents that a query finds, from 0 on, with their ranks.
    func find(_ query: SearchQuery, weights: [Double] = []) throws -> [Int: Double] {
        guard let expression = query.fts5Expression else { return [:] }
        let list = (["t"] + weights.map { "\($0)" }).joined(separator: ", ")
        let rows = try run("SELECT rowid, bm25(\(list)) FROM t WHERE t MATCH ?", [expression])
        return Dictionary(uniqueKeysWithValues: rows.map { (Int($0.0) - 1, $0.1) })
    }

    /// The words that SQLite's tokenizer found in the first field of the last document, in their order.
    func words() throws -> [String] {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(database, "SELECT term FROM words ORDER BY doc, \"offset\"", -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        var words: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            words.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "")
        }
        return words
    }
}
