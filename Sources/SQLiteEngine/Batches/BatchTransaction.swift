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
                        "Cannot \(work) \(file.url.storeName): there would be two objects with the same unique "
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
        try connection.run(fragment, binding)
        return connection.changes
    }

    /// The mappings of the entities whose rows a plan is about.
    func mappings(of rows: FetchPlan) -> [EntityMapping] { rows.entities.compactMap { schema.mapping(of: $0) } }
}

/// A temporary table of the keys that a batch request is about.
struct KeyTable {
    /// The statements about it.
    let sql: KeyTableSQL
    private let connection: Connection

    /// Makes the table, empty.
    ///
    /// - Parameters:
    ///   - purpose: tells tables of one request apart.
    ///   - connection: the connection that alone sees the table.
    /// - Throws: SQLite's errors.
    init(_ purpose: String, on connection: Connection) throws {
        let name = "PippinKeys_\(purpose)"
        sql = KeyTableSQL("temp.\(name: name)")
        self.connection = connection
        try connection.execute(
            "CREATE TEMP TABLE IF NOT EXISTS \(quoted(name)) "
                + "(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_CASCADED INTEGER)")
        try connection.run(sql.clear)
    }

    /// Puts keys in.
    func insert(_ identifiers: [NSManagedObjectID]) throws {
        let insert = try connection.prepare(sql.insert)
        for identifier in identifiers {
            try insert.bind(identifier.key, at: 1)
            try insert.run()
        }
    }
}
