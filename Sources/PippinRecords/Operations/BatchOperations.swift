import CoreData
import Pippin

/// Sets properties of many records in one statement, without loading them. The manager's lasting contexts merge the
/// changes.
///
/// ```swift
/// let retiring = BatchUpdateOperation(
///     manager: manager, entity: PersonRecord.self, predicate: NSPredicate(format: "age > 66"), values: ["works": false])
/// ```
///
/// The result is the number of records. Validation is not run.
open class BatchUpdateOperation<Record: DataRecord>: DataOperation<Int>, @unchecked Sendable {
    // @unchecked Sendable: like its superclass; the predicate and the values do not change.
    private let predicate: NSPredicate?
    private let values: [AnyHashable: Any]

    /// An update.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - entity: the record type.
    ///   - predicate: the condition on the records; nil for all.
    ///   - values: the new values by property, or expressions.
    public init(manager: PersistenceManager, entity: Record.Type, predicate: NSPredicate? = nil, values: [String: Any])
    {
        self.predicate = predicate
        self.values = values
        super.init(manager: manager)
    }

    /// Runs the statement.
    ///
    /// - Parameter context: the context whose store is changed.
    /// - Returns: the number of records.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `UPDATE Z<ENTITY> SET <property> = ?, … WHERE <predicate>`
    open override func performWork(in context: NSManagedObjectContext) throws -> Int {
        let request = NSBatchUpdateRequest(entityName: try Record.checkedEntityName(in: context))
        request.predicate = predicate
        request.propertiesToUpdate = values
        request.resultType = .updatedObjectIDsResultType
        let result = try context.rootContext.execute(request) as? NSBatchUpdateResult
        let updated = result?.result as? [NSManagedObjectID] ?? []
        manager.tellContexts(ofUpdated: updated)
        return updated.count
    }
}

/// Deletes many records in one statement, without loading them. The manager's lasting contexts merge the deletions.
///
/// ```swift
/// let forgetting = BatchDeleteOperation(manager: manager, entity: LogRecord.self, predicate: NSPredicate(format: "date < %@", day))
/// ```
///
/// The result is the number of records.
open class BatchDeleteOperation<Record: DataRecord>: DataOperation<Int>, @unchecked Sendable {
    // @unchecked Sendable: like its superclass; the predicate does not change.
    private let predicate: NSPredicate?

    /// A deletion.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - entity: the record type.
    ///   - predicate: the condition on the records; nil for all.
    public init(manager: PersistenceManager, entity: Record.Type, predicate: NSPredicate? = nil) {
        self.predicate = predicate
        super.init(manager: manager)
    }

    /// Runs the statement.
    ///
    /// - Parameter context: the context whose store is changed.
    /// - Returns: the number of records.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `DELETE FROM Z<ENTITY> WHERE <predicate>`
    open override func performWork(in context: NSManagedObjectContext) throws -> Int {
        let deleted = try Record.deleteBatch(RecordSelection(predicate: predicate), in: context.rootContext)
        manager.tellContexts(ofDeleted: deleted)
        return deleted.count
    }
}

extension NSManagedObjectContext {
    /// The topmost context, whose requests go to the store.
    fileprivate var rootContext: NSManagedObjectContext {
        var context = self
        while let parent = context.parent { context = parent }
        return context
    }
}
