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

    override var isDoneAtOnce: Bool { true }

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
        let updated = try context.inRoot { root in
            let result = try root.execute(request) as? NSBatchUpdateResult
            return result?.result as? [NSManagedObjectID] ?? []
        }
        manager.notifyContexts(ofUpdated: updated)
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

    override var isDoneAtOnce: Bool { true }

    /// Runs the statement.
    ///
    /// - Parameter context: the context whose store is changed.
    /// - Returns: the number of records.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `DELETE FROM Z<ENTITY> WHERE <predicate>`
    open override func performWork(in context: NSManagedObjectContext) throws -> Int {
        let selection = RecordSelection(predicate: predicate)
        let deleted = try context.inRoot { try Record.deleteBatch(selection, in: $0) }
        manager.notifyContexts(ofDeleted: deleted)
        return deleted.count
    }
}

extension NSManagedObjectContext {
    /// Runs work on the queue of the topmost context, whose requests go to the store.
    fileprivate func inRoot<Result>(_ work: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
        var root = self
        while let parent = root.parent { root = parent }
        return try root.performAndWait { try work(root) }
    }
}
