import CoreData
import Pippin

// Fetching models off the calling thread.
extension PersistenceManager {
    /// The model of the record with that identifier, if there is one.
    ///
    /// ```swift
    /// let person = try await manager.fetchModel(entity: PersonRecord.self, uid: "42")
    /// ```
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - uid: the identifier.
    ///   - context: the context to read; without one, a new one.
    /// - Returns: the model; nil if there is no such record.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `toModel` throws.
    /// - SQL: `SELECT … WHERE <uidKey> = ? LIMIT 1`
    public func fetchModel<Record: RecordToModel>(
        entity: Record.Type, uid: Record.UidType, context: NSManagedObjectContext? = nil
    ) async throws -> Record.ModelType? where Record.ModelType: Sendable {
        try await reading(in: context) { context in
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
    ///   - context: the context to read; without one, a new one.
    /// - Returns: the models; identifiers without a record are skipped.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `toModel` throws.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`
    public func fetchModels<Record: RecordToModel>(
        entity: Record.Type, uids: [Record.UidType], context: NSManagedObjectContext? = nil
    ) async throws -> [Record.ModelType] where Record.ModelType: Sendable {
        try await reading(in: context) { try ModelConversion().models(of: Record.records(inOrderOf: uids, in: $0)) }
    }

    /// The models of the records that a predicate selects, or of all records.
    ///
    /// ```swift
    /// let reviews = try await manager.fetchModels(
    ///     entity: ReviewRecord.self, predicate: NSPredicate(format: "bookId == %@", book.uid),
    ///     sortDescriptors: [NSSortDescriptor(key: "createdAt", ascending: true)])
    /// ```
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - predicate: the condition, with the attributes' names; nil for all records.
    ///   - sortDescriptors: the order.
    ///   - limit: the largest number of models.
    ///   - context: the context to read; without one, a new one.
    /// - Returns: the models, in order.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `toModel` throws.
    /// - SQL: `SELECT … WHERE <predicate> ORDER BY <sortDescriptors> LIMIT <limit>`
    public func fetchModels<Record: RecordToModel>(
        entity: Record.Type, predicate: NSPredicate? = nil, sortDescriptors: [NSSortDescriptor]? = nil,
        limit: Int? = nil, context: NSManagedObjectContext? = nil
    ) async throws -> [Record.ModelType] where Record.ModelType: Sendable {
        let selection = RecordSelection(predicate: predicate, sortDescriptors: sortDescriptors, limit: limit)
        return try await reading(in: context) { try ModelConversion().models(of: Record.records(selection, in: $0)) }
    }
}

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

extension Filter {
    /// A filter from a predicate of Core Data's.
    ///
    /// - Parameter predicate: the predicate, with the properties' names.
    /// - Returns: the filter.
    public static func predicate(_ predicate: NSPredicate) -> Filter { Filter(predicate: predicate) }
}

// Records belong to a context and its thread or queue, so there is no `async` form, which would return them elsewhere.
extension PersistenceManager {
    /// The record with that identifier, if there is one.
    ///
    /// ```swift
    /// let record = try manager.fetchRecord(entity: PersonRecord.self, uid: "42")
    /// ```
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - uid: the identifier.
    ///   - context: the record's context; without one, the current thread's context.
    /// - Returns: the record; nil if there is none.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uidKey> = ? LIMIT 1`
    public func fetchRecord<Record: DataRecord>(
        entity: Record.Type, uid: Record.UidType, context: NSManagedObjectContext? = nil
    ) throws -> Record? {
        try reading(in: context) { context in
            var selection = RecordSelection.uid(uid, key: Record.uidKey)
            selection.limit = 1
            return try Record.records(selection, in: context).first
        }
    }

    /// The records with these identifiers, in the identifiers' order.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - uids: the identifiers.
    ///   - context: the records' context; without one, the current thread's context.
    /// - Returns: the records; identifiers without a record are skipped.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`
    public func fetchRecords<Record: DataRecord>(
        entity: Record.Type, uids: [Record.UidType], context: NSManagedObjectContext? = nil
    ) throws -> [Record] {
        try reading(in: context) { try Record.records(inOrderOf: uids, in: $0) }
    }

    /// The records that a predicate selects, or all records.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - predicate: the condition, with the attributes' names; nil for all records.
    ///   - sortDescriptors: the order.
    ///   - limit: the largest number of records.
    ///   - context: the records' context; without one, the current thread's context.
    /// - Returns: the records, in order.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <predicate> ORDER BY <sortDescriptors> LIMIT <limit>`
    public func fetchRecords<Record: DataRecord>(
        entity: Record.Type, predicate: NSPredicate? = nil, sortDescriptors: [NSSortDescriptor]? = nil,
        limit: Int? = nil, context: NSManagedObjectContext? = nil
    ) throws -> [Record] {
        let selection = RecordSelection(predicate: predicate, sortDescriptors: sortDescriptors, limit: limit)
        return try reading(in: context) { try Record.records(selection, in: $0) }
    }
}

extension DataRecord {
    /// The records with these identifiers, in the identifiers' order.
    static func records(inOrderOf uids: [UidType], in context: NSManagedObjectContext) throws -> [Self] {
        let byUid = byIdentifier(try records(uids: uids, in: context))
        var seen: Set<RecordKey> = []
        return uids.map(\.recordKey).compactMap { seen.insert($0).inserted ? byUid[$0] : nil }
    }
}
