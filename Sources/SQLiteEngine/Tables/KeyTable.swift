import CoreDataModel
import SQLGeneration
import SQLiteConnection

/// A temporary table of keys: of a batch request, or of objects whose aggregates are computed later.
struct KeyTable {
    /// The statements for it.
    let sql: KeyTableSQL
    private let name: String
    private let connection: Connection

    /// Makes the empty table.
    ///
    /// - Parameters:
    ///   - purpose: distinguishes the tables of one transaction.
    ///   - connection: the connection, which alone sees the table.
    /// - Throws: SQLite's errors.
    init(_ purpose: String, on connection: Connection) throws {
        name = Self.name(purpose)
        sql = KeyTableSQL("temp.\(name: name)")
        self.connection = connection
        try connection.execute(
            "CREATE TEMP TABLE IF NOT EXISTS \(quoted(name)) "
                + "(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_CASCADED INTEGER)")
        try connection.run(sql.clear)
    }

    /// Makes the keys that delete rules add in a round be found without the others.
    func indexRounds() throws { try connection.run(KeyTableSQL.roundIndex(of: name)) }

    /// The name of the table for a purpose.
    static func name(_ purpose: String) -> String { "PippinKeys_\(purpose)" }

    /// Inserts keys.
    func insert(_ identifiers: [NSManagedObjectID]) throws {
        let insert = try connection.prepare(sql.insert)
        for identifier in identifiers {
            try insert.bind(identifier.key, at: 1)
            try insert.run()
        }
    }
}
