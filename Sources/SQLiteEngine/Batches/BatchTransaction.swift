import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// Runs a batch request in one transaction, together with its files.
    ///
    /// - Throws: `NSManagedObjectConstraintMergeError` for conflicting unique values; an `NSError` for everything else.
    ///   Nothing is changed then.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    func inBatch<Result>(_ work: String, _ body: (ExternalFiles) throws -> Result) throws -> Result {
        let files = ExternalFiles(external, journal: journal)
        // The reports of triggers are for contexts, which are not notified of batches.
        derived.isIgnored = true
        defer { derived.isIgnored = false }
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

    /// The rows of a batch request as SQL, with the values to bind.
    func batchSQL(_ rows: FetchPlan) throws -> (sql: BatchSQL, binding: BindingContext) {
        let predicate = try rows.predicate.map { try preparedPredicate(of: $0) }
        let order = rows.limit > 0 || rows.offset > 0 ? try sortTerms(of: rows.sortDescriptors) : []
        let sql = try BatchSQL(
            schema: schema, plan: rows, predicate: predicate?.skeleton, arguments: predicate?.arguments ?? [],
            sortTerms: order)
        let binding = BindingContext(
            arguments: predicate?.arguments ?? [], limit: rows.limit, offset: rows.offset, store: identity)
        return (sql, binding)
    }

    /// Runs a statement that returns no rows.
    ///
    /// - Returns: how many rows it changed.
    @discardableResult
    func run(_ fragment: SQLFragment, _ binding: BindingContext = BindingContext()) throws -> Int {
        try connection.run(fragment, binding)
        return connection.changes
    }

    /// The mappings of the entities of a plan's rows.
    func mappings(of rows: FetchPlan) -> [EntityMapping] { rows.entities.compactMap { schema.mapping(of: $0) } }
}

/// A temporary table of the keys of a batch request.
struct KeyTable {
    /// The statements for it.
    let sql: KeyTableSQL
    private let connection: Connection

    /// Makes the empty table.
    ///
    /// - Parameters:
    ///   - purpose: distinguishes the tables of one request.
    ///   - connection: the connection, which alone sees the table.
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

    /// Inserts keys.
    func insert(_ identifiers: [NSManagedObjectID]) throws {
        let insert = try connection.prepare(sql.insert)
        for identifier in identifiers {
            try insert.bind(identifier.key, at: 1)
            try insert.run()
        }
    }
}
