import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Creates the tables of the persistent history.
enum HistoryTables {
    /// Creates the tables in a store without them, and missing columns for tombstones.
    ///
    /// - Parameters:
    ///   - file: the store's file, in a transaction.
    ///   - schema: the store's tables.
    ///   - hasTables: whether the store has the tables already.
    ///   - keepsValues: whether what rows were before is to be kept.
    /// - Returns: whether what rows were before is kept.
    /// - Throws: SQLite's errors.
    static func prepare(in file: StoreFile, schema: SQLSchema, hasTables: Bool, keepsValues: Bool) throws -> Bool {
        try file.run("make the history of", fallback: CoreDataErrorCode.persistentStoreOpen) {
            if hasTables {
                try complete(in: file.connection)
            } else {
                try file.connection.transaction { try create(in: file.connection) }
            }
            try addTombstones(in: file.connection, schema)
            if keepsValues { try file.connection.execute(FormerValueSQL.create) }
            return try file.connection.tableNames().contains(FormerValueSQL.table)
        }
    }

    private static func create(in connection: Connection) throws {
        let known = try connection.tableNames()
        // Another process may have been faster.
        guard !known.contains("ATRANSACTION") else { return }
        for statement in StoreTables.history { try connection.execute(statement) }
        try number(StoreTables.historyEntities, in: connection)
    }

    /// Adds what the history of an older system lacks: the table of names, and the columns that refer to it.
    private static func complete(in connection: Connection) throws {
        func missing() throws -> [String] {
            let tables = try connection.tableNames()
            var statements: [String] = []
            if !tables.contains("ATRANSACTIONSTRING") {
                statements += StoreTables.historyNames
            }
            for (table, columns) in StoreTables.laterHistoryColumns {
                let known = Set(try connection.columnNames(ofTable: table))
                statements += columns.filter { !known.contains($0.name) }.map {
                    "ALTER TABLE \(table) ADD COLUMN \($0.name) \($0.declaredType)"
                }
            }
            return statements
        }
        guard try !missing().isEmpty else { return }
        try connection.transaction {
            // Checked again inside the transaction: another process may have added them.
            for statement in try missing() { try connection.execute(statement) }
            try number(StoreTables.historyEntities, in: connection)
        }
    }

    /// Numbers the history's entities, if they have no numbers.
    private static func number(_ entities: [(number: Int, name: String)], in connection: Connection) throws {
        for entity in entities {
            let insert = try connection.statement(
                RowSQL.insertEntity(unlessThere: true).sqlite.text)
            try insert.bind(Int64(entity.number), at: 1)
            try insert.bind(entity.name, at: 2)
            try insert.bind(Int64(0), at: 3)
            try insert.bind(Int64(0), at: 4)
            try insert.run()
        }
    }

    /// `ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE0 BLOB`, as many as an entity has attributes that a deletion
    /// preserves.
    private static func addTombstones(in connection: Connection, _ schema: SQLSchema) throws {
        let wanted =
            schema.mappings.compactMap { $0.map { HistoryProperties($0.layout).preservedSlots.count } }.max() ?? 0
        guard wanted > 0 else { return }
        func missing() throws -> [String] {
            let known = Set(try connection.columnNames(ofTable: "ACHANGE"))
            return (0..<wanted).map { "ZTOMBSTONE\($0)" }.filter { !known.contains($0) }
        }
        guard try !missing().isEmpty else { return }
        try connection.transaction {
            // Checked again inside the transaction: another process may have added them.
            for column in try missing() { try connection.execute("ALTER TABLE ACHANGE ADD COLUMN \(column) BLOB") }
        }
    }
}
