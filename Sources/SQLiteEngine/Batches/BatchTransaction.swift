import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// Runs a batch request in one transaction, and its files with it.
    ///
    /// - Throws: `NSManagedObjectConstraintMergeError` where unique values get in each other's way; an `NSError` for
    ///   everything else. Nothing was changed then.
    func inBatch<Result>(_ work: String, _ body: (ExternalFiles) throws -> Result) throws -> Result {
        let files = ExternalFiles(external, journal: journal)
        derived.removeAll()
        defer { derived.removeAll() }
        do {
            let result = try run(work, fallback: CoreDataErrorCode.persistentStoreSave) {
                do {
                    return try transaction {
                        let result = try body(files)
                        files.willCommit()
                        return result
                    }
                } catch let error as SQLiteError where error.isUniqueViolation {
                    throw StoreError.make(
                        CoreDataErrorCode.managedObjectConstraintMerge,
                        "Cannot \(work) “\(file.url.lastPathComponent)”: there would be two objects with the same unique "
                            + "values (\(error.message)); nothing was changed.", url: file.url,
                        suggestion:
                            "For an insertion, set the context's mergePolicy to one that says which object wins.",
                        userInfo: [NSSQLiteErrorDomain: NSNumber(value: error.extendedCode)])
                }
            }
            finish(files)
            return result
        } catch {
            undo(files)
            throw error
        }
    }

    /// The rows of a batch request as SQL, and what is bound in it.
    func batchSQL(_ rows: FetchPlan) throws -> (sql: BatchSQL, binding: BindingContext) {
        let predicate = try rows.predicate.map { try preparedPredicate(of: $0) }
        let order = rows.limit > 0 || rows.offset > 0 ? try sortTerms(of: rows.sortDescriptors) : []
        let sql = try BatchSQL(
            schema: schema, plan: rows, predicate: predicate?.skeleton, arguments: predicate?.arguments ?? [],
            sortTerms: order)
        return (sql, BindingContext(arguments: predicate?.arguments ?? [], limit: rows.limit, offset: rows.offset))
    }

    /// Runs a statement that returns no rows.
    ///
    /// - Returns: how many rows it changed.
    @discardableResult
    func run(_ fragment: SQLFragment, _ binding: BindingContext = BindingContext()) throws -> Int {
        let statement = fragment.sqlite
        let prepared = try connection.prepare(statement.text)
        for (index, value) in try statement.values(binding).enumerated() {
            try prepared.bind(value, at: Int32(index + 1))
        }
        try prepared.run()
        return connection.changes
    }

    /// The mappings of the entities whose rows a plan is about.
    func mappings(of rows: FetchPlan) -> [EntityMapping] { rows.entities.compactMap { schema.mapping(of: $0) } }
}

/// A temporary table of the keys that a batch request is about.
struct KeyTable {
    /// The name in SQL, quoted.
    let name: String
    /// The same as a part of other statements.
    let fragment: SQLFragment
    private let connection: Connection

    /// Makes the table, empty.
    ///
    /// - Parameters:
    ///   - purpose: tells tables of one request apart.
    ///   - connection: the connection that alone sees the table.
    /// - Throws: SQLite's errors.
    init(_ purpose: String, on connection: Connection) throws {
        fragment = "temp.\(name: "PippinKeys_\(purpose)")"
        name = fragment.sqlite.text
        self.connection = connection
        try connection.execute(
            "CREATE TEMP TABLE IF NOT EXISTS \(quoted("PippinKeys_\(purpose)")) "
                + "(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_CASCADED INTEGER)")
        try connection.execute("DELETE FROM \(name)")
    }

    /// `INSERT INTO temp.… (Z_PK, Z_ENT) SELECT …`
    func fill(_ selection: SQLFragment) -> SQLFragment { "INSERT INTO \(fragment) (Z_PK, Z_ENT) \(selection)" }

    /// Puts keys in.
    func insert(_ identifiers: [NSManagedObjectID]) throws {
        let insert = try connection.prepare("INSERT OR IGNORE INTO \(name) (Z_PK) VALUES (?)")
        for identifier in identifiers {
            try insert.bind(identifier.key, at: 1)
            try insert.run()
        }
    }
}
