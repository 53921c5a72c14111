import Foundation
import SQLGeneration
import SQLiteConnection

/// A store's file as it is, read without a model and without asking whether it is whole: for tools that look at damaged stores.
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

    // MARK: What the file says of itself

    /// The UUID and the bytes of the metadata, each nil for NULL.
    ///
    /// - Returns: nil for a store without such a row.
    package func metadata() throws -> (uuid: String?, list: Data?)? {
        let statement = try connection.prepare(StoreTablesSQL.metadata)
        guard try statement.step() else { return nil }
        return (statement.optionalString(at: 0), statement.isNull(at: 1) ? nil : statement.data(at: 1))
    }

    /// Takes the metadata out, so that a store whose metadata are damaged can be opened.
    package func blankMetadata() throws {
        let text = try metadata() == nil ? StoreTablesSQL.insertMetadata : StoreTablesSQL.updateMetadata
        // What is not bound is NULL.
        try connection.run(text)
    }

    /// The store's copy of its model, as it is stored; nil for none.
    package func modelCache() throws -> Data? {
        guard tables.contains("Z_MODELCACHE") else { return nil }
        let statement = try connection.prepare(StoreTablesSQL.modelCache)
        guard try statement.step() else { return nil }
        let data = statement.data(at: 0)
        return data.isEmpty ? nil : data
    }

    /// How many changes and transactions the persistent history has; nil without a history.
    package func historyCounts() throws -> (changes: Int64, transactions: Int64)? {
        guard tables.isSuperset(of: ["ACHANGE", "ATRANSACTION"]) else { return nil }
        return (
            try connection.integer(HistorySQL.changeCount) ?? 0,
            try connection.integer(HistorySQL.transactionCount) ?? 0
        )
    }

    /// An entity as the store numbers it.
    package struct Entity {
        package let number: Int
        package let name: String
        /// The superentity's number, 0 for none.
        package let parent: Int
    }

    /// The entities, those of the history left out, by name.
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

    /// The names of a table's columns, in order.
    package func columns(of table: String) throws -> [String] { try connection.columnNames(ofTable: table) }

    /// How many rows there are.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - number: the number of the entity whose rows are wanted; nil for all rows.
    /// - Returns: the count.
    /// - Throws: SQLite's errors.
    package func count(in table: String, ofEntity number: Int?) throws -> Int {
        Int(try connection.integer(RawRowSQL.count(in: table, ofEntity: number)) ?? 0)
    }

    /// Hands out the values of all rows, in the order of the columns.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - number: the number of the entity whose rows are wanted; nil for all rows.
    ///   - body: gets one row after the other.
    /// - Throws: SQLite's errors, and what `body` throws.
    package func forEachRow(
        in table: String, ofEntity number: Int?, _ body: ([SQLValue]) throws -> Void
    ) throws {
        let columns = try columns(of: table)
        let statement = try connection.prepare(
            RawRowSQL.rows(in: table, ofEntity: number, isOrdered: columns.contains("Z_PK")))
        while try statement.step() { try body(columns.indices.map { statement.value(at: Int32($0)) }) }
    }
}
