import CSQLite

extension Connection {
    /// The first column of a statement's first row as an integer; nil without a row, or for NULL.
    package func integer(_ sql: String) throws -> Int64? {
        let statement = try prepare(sql)
        guard try statement.step(), !statement.isNull(at: 0) else { return nil }
        return statement.integer(at: 0)
    }

    /// The first column of a statement's first row as a text; nil without a row, or for NULL.
    package func string(_ sql: String) throws -> String? {
        let statement = try prepare(sql)
        guard try statement.step(), !statement.isNull(at: 0) else { return nil }
        return statement.string(at: 0)
    }

    /// Whether the path no longer leads to the opened file: that was moved, removed, or replaced. Anything written then
    /// is lost with the connection.
    package var isMoved: Bool {
        var isMoved: Int32 = 0
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &isMoved)
        return code == SQLITE_OK && isMoved != 0
    }

    /// A number that changes when the connection sees that others have written to the file. It is asked without a
    /// statement, which would end the lock of a copying that has begun.
    package func dataVersion() throws -> UInt32 {
        var version: UInt32 = 0
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        guard code == SQLITE_OK else { throw database.error(code, sql: nil) }
        return version
    }

    /// The names of the tables in the file.
    package func tableNames() throws -> Set<String> {
        let statement = try prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
        var names = Set<String>()
        while try statement.step() { names.insert(statement.string(at: 0)) }
        return names
    }

    /// The names of a table's columns, in the table's order; empty if there is no such table.
    package func columnNames(ofTable table: String) throws -> [String] {
        let statement = try prepare("SELECT name FROM pragma_table_info(?)")
        try statement.bind(table, at: 1)
        var names: [String] = []
        while try statement.step() { names.append(statement.string(at: 0)) }
        return names
    }
}
