import CoreData
import Pippin

// Fetching models, waiting for them on the current thread.
extension PersistenceManager {
    /// The model of the record with that identifier, if there is one.
    ///
    /// ```swift
    /// let person = try manager.fetchModel(entity: PersonRecord.self, uid: "42")
    /// ```
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - uid: the identifier.
    ///   - context: the context to read; without one, the current thread's context.
    /// - Returns: the model; nil if there is no such record.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `toModel` throws.
    /// - SQL: `SELECT … WHERE <uidKey> = ? LIMIT 1`
    public func fetchModel<Record: RecordToModel>(
        entity: Record.Type, uid: Record.UidType, context: NSManagedObjectContext? = nil
    ) throws -> Record.ModelType? {
        try reading(in: context) { context in
            var selection = RecordSelection.uid(uid, key: Record.uidKey)
            selection.limit = 1
            return try Record.records(selection, in: context).first.flatMap { try ModelConversion().model(of: $0) }
        }
    }

    /// The models of the records with these identifiers, in the identifiers' order.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - uids: the identifiers.
    ///   - context: the context to read; without one, the current thread's context.
    /// - Returns: the models; identifiers without a record are skipped.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `toModel` throws.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`
    public func fetchModels<Record: RecordToModel>(
        entity: Record.Type, uids: [Record.UidType], context: NSManagedObjectContext? = nil
    ) throws -> [Record.ModelType] {
        try reading(in: context) { try ModelConversion().models(of: Record.records(inOrderOf: uids, in: $0)) }
    }

    /// The models of the records that a predicate selects, or of all records.
    ///
    /// ```swift
    /// let reviews = try manager.fetchModels(
    ///     entity: ReviewRecord.self, predicate: NSPredicate(format: "bookId == %@", book.uid),
    ///     sortDescriptors: [NSSortDescriptor(key: "createdAt", ascending: true)])
    /// ```
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - predicate: the condition, with the attributes' names; nil for all records.
    ///   - sortDescriptors: the order.
    ///   - limit: the largest number of models.
    ///   - context: the context to read; without one, the current thread's context.
    /// - Returns: the models, in order.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `toModel` throws.
    /// - SQL: `SELECT … WHERE <predicate> ORDER BY <sortDescriptors> LIMIT <limit>`
    public func fetchModels<Record: RecordToModel>(
        entity: Record.Type, predicate: NSPredicate? = nil, sortDescriptors: [NSSortDescriptor]? = nil,
        limit: Int? = nil, context: NSManagedObjectContext? = nil
    ) throws -> [Record.ModelType] {
        let selection = RecordSelection(predicate: predicate, sortDescriptors: sortDescriptors, limit: limit)
        return try reading(in: context) { try ModelConversion().models(of: Record.records(selection, in: $0)) }
    }
}
