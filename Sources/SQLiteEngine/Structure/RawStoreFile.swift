import Foundation
import SQLGeneration
import SQLiteConnection

/// A store's file, read without a model and without checking its integrity, for tools that inspect damaged stores.
///
/// All functions throw SQLite's errors.
package struct RawStoreFile {
    private let connection: Connection
    /// The names of the tables.
    package let tables: Set<String>

    package init(_ url: URL, mode: OpenMode) throws {
        connection = try Connection(path: url.path, mode: mode)
        tables = try connection.tableNames()
    }

    /// Opens a file in the way that its folder allows: a read-only folder has no room for the files of a log.
    package static func forReading(_ url: URL) throws -> RawStoreFile {
        do { return try RawStoreFile(url, mode: .readOnly) } catch let error as SQLiteError
            where (error.isCannotOpen || error.isReadOnly) && !StoreFile.hasContent(url, "-journal")
        {
            return try RawStoreFile(url, mode: .traceless)
        }
    }

    // MARK: What the file says of itself

    /// The UUID and the bytes of the metadata; each is nil for NULL.
    ///
    /// - Returns: nil for a store without such a row.
    package func metadata() throws -> (uuid: String?, list: Data?)? {
        let statement = try connection.prepare(StoreTablesSQL.metadata)
        guard try statement.step() else { return nil }
        guard !statement.isNull(at: 1) else { return (statement.optionalString(at: 0), nil) }
        // What takes one byte here takes a hundred when it is read; the hashes of 20,000 entities fit.
        let list = try statement.smallData(at: 1, "Z_METADATA.Z_PLIST", connection.path, most: 1_500_000)
        return (statement.optionalString(at: 0), list)
    }

    /// Removes the metadata, so that a store with damaged metadata can be opened.
    package func blankMetadata() throws {
        let text = try metadata() == nil ? StoreTablesSQL.insertMetadata : StoreTablesSQL.updateMetadata
        // Unbound parameters are NULL.
        try connection.run(text)
    }

    /// Makes one of the two tables that every store has, empty, where the file has only the other one.
    ///
    /// - Returns: the name of the table; nil where none was made.
    package func completeTables() throws -> String? {
        let missing = ["Z_METADATA", "Z_PRIMARYKEY"].filter { !tables.contains($0) }
        guard missing.count == 1, let table = missing.first,
            let statement = StoreTables.bookkeeping.first(where: { $0.hasPrefix("CREATE TABLE \(table) ") })
        else { return nil }
        try connection.execute(statement)
        return table
    }

    /// The store's copies of its model in their stored form, the last one first.
    package func modelCopies() throws -> [Data] { try connection.modelCopies(tables) }

    /// Whether there are tables of a persistent history.
    package var hasHistory: Bool { tables.isSuperset(of: ["ACHANGE", "ATRANSACTION"]) }

    /// The numbers of changes and transactions in the persistent history.
    package func historyCounts() throws -> (changes: Int64, transactions: Int64) {
        (
            try connection.integer(HistorySQL.changeCount) ?? 0,
            try connection.integer(HistorySQL.transactionCount) ?? 0
        )
    }

    /// How many transactions after a number have no context whose name begins with a text.
    package func transactions(after number: Int64, notNamed prefix: String) throws -> Int64 {
        let statement = try connection.prepare(NoteSQL.ownTransactions)
        try statement.bind(number, at: 1)
        try statement.bind(prefix, at: 2)
        return try statement.step() ? statement.integer(at: 0) : 0
    }

    /// What is noted beside the rows under a name; nil for nothing.
    package func note(_ name: String) throws -> Data? {
        guard try connection.tableNames().contains(NoteSQL.table) else { return nil }
        let statement = try connection.prepare(NoteSQL.select)
        try statement.bind(name, at: 1)
        return try statement.step() ? statement.data(at: 0) : nil
    }

    /// How many notes have names that begin with a text.
    package func noteCount(beginningWith prefix: String) throws -> Int {
        guard try connection.tableNames().contains(NoteSQL.table) else { return 0 }
        let statement = try connection.prepare(NoteSQL.count)
        try statement.bind(prefix, at: 1)
        try statement.bind(NoteSQL.end(of: prefix), at: 2)
        return try statement.step() ? Int(statement.integer(at: 0)) : 0
    }

    /// An entity with its number in the store.
    package struct Entity {
        package let number: Int
        package let name: String
        /// The superentity's number; 0 for none.
        package let parent: Int
    }

    /// The entities by name, without those of the history.
    package func entities() throws -> [Entity] {
        let statement = try connection.prepare(StoreTablesSQL.entities)
        var found: [Entity] = []
        while try statement.step() {
            found.append(
                Entity(
                    number: Int(statement.integer(at: 0)), name: statement.string(at: 1),
                    parent: Int(statement.integer(at: 2))))
        }
        return found
    }

    // MARK: Rows

    /// The columns of each table, in order.
    package func columnsByTable() throws -> [String: [TableDefinition.Column]] { try connection.columnsByTable() }

    /// The number of rows.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - number: the number of the entity whose rows are counted; nil for all rows.
    /// - Returns: the count.
    /// - Throws: SQLite's errors.
    package func count(in table: String, ofEntity number: Int?) throws -> Int {
        Int(try connection.integer(RawRowSQL.count(in: table, ofEntity: number)) ?? 0)
    }

    /// Hands out the values of all rows, in the order of the columns.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - number: the number of the entity whose rows are read; nil for all rows.
    ///   - body: receives one row after the other.
    /// - Throws: SQLite's errors, and the errors of `body`.
    package func forEachRow(
        in table: String, ofEntity number: Int?, _ body: ([SQLValue]) throws -> Void
    ) throws {
        let columns = try connection.columnNames(ofTable: table)
        let statement = try connection.prepare(
            RawRowSQL.rows(in: table, ofEntity: number, isOrdered: columns.contains("Z_PK")))
        while try statement.step() { try body(columns.indices.map { statement.value(at: Int32($0)) }) }
    }
}

extension Statement {
    /// A column of the current row as bytes, of what a store says of itself, which no real store has much of.
    ///
    /// - Parameters:
    ///   - index: the column.
    ///   - name: its name, for the error.
    ///   - path: the file.
    ///   - most: how many bytes there may be.
    /// - Returns: the bytes.
    /// - Throws: an error that names the column if it has more.
    func smallData(at index: Int32, _ name: String, _ path: String, most: Int = 16_000_000) throws -> Data {
        guard isNull(at: index) || byteCount(at: index) <= most else {
            throw SQLiteError(
                extendedCode: SQLiteError.tooLarge,
                message: "\(name) has \(byteCount(at: index)) bytes, of which \(most) may be read", path: path)
        }
        return data(at: index)
    }
}
