import CoreData
import Pippin

extension PersistenceManager {
    /// The models of the records that wait to be uploaded, without those that wait to be deleted.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - context: the context to read; without one, a new worker context.
    /// - Returns: the models, in no particular order.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `toModel` throws.
    /// - SQL: `SELECT … WHERE (<isUploaded> = 0 OR <isUploaded> IS NULL) AND (<wasDeleted> = 0 OR <wasDeleted> IS
    ///   NULL)`
    public func fetchModelsToUpload<Record: SyncRecord & RecordToModel>(
        entity: Record.Type, context: NSManagedObjectContext? = nil
    ) async throws -> [Record.ModelType] where Record.ModelType: Sendable {
        let selection = RecordSelection(predicate: Record.waitsForUpload)
        return try await reading(in: context) { try ModelConversion().models(of: Record.records(selection, in: $0)) }
    }

    /// The identifiers of the records that wait to be deleted.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - context: the context to read; without one, a new worker context.
    /// - Returns: the identifiers, in no particular order.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <wasDeleted> = 1`
    public func fetchUidsToDelete<Record: SyncRecord>(
        entity: Record.Type, context: NSManagedObjectContext? = nil
    ) async throws -> [Record.UidType] {
        let selection = RecordSelection(predicate: Record.waitsForDeletion)
        return try await reading(in: context) { try Record.records(selection, in: $0).compactMap(\.identifier) }
    }

    /// Marks records as uploaded: the server has them in their present state.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - uids: the identifiers. Those without a record are skipped.
    ///   - context: the context to work in; it is saved. Without one, a new worker context.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`, then `UPDATE … SET <isUploaded> = 1 WHERE Z_PK = ?` each
    public func markAsUploaded<Record: SyncRecord>(
        entity: Record.Type, uids: [Record.UidType], context: NSManagedObjectContext? = nil
    ) async throws { try await set(true, Record.isUploadedKey, entity, uids, context) }

    /// Marks records as uploaded that are still as they were uploaded. One that was changed meanwhile waits for its
    /// next upload.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - models: the models that were uploaded. Their arrays must be in an order that each conversion gives them.
    ///   - context: the context to work in; it is saved. Without one, a new worker context.
    /// - Returns: how many records were marked.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `toModel` throws.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`, then `UPDATE … SET <isUploaded> = 1 WHERE Z_PK = ?` each
    @discardableResult
    public func markAsUploaded<Record: SyncRecord & RecordToModel>(
        entity: Record.Type, models: [Record.ModelType], context: NSManagedObjectContext? = nil
    ) async throws -> Int where Record.ModelType: Sendable & Equatable {
        try await writing(in: context) { context in
            let uploaded = Dictionary(models.map { ($0.id, $0) }, uniquingKeysWith: { _, later in later })
            let conversion = ModelConversion()
            let same = try Record.records(uids: uploaded.keys, in: context).filter { record in
                guard let model = try conversion.model(of: record) else { return false }
                return model == uploaded[model.id]
            }
            for record in same { record.setValue(true, forKey: Record.isUploadedKey) }
            return same.count
        }
    }

    /// Marks records as changed here, so that they wait to be uploaded again.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - uids: the identifiers. Those without a record are skipped.
    ///   - context: the context to work in; it is saved. Without one, a new worker context.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`, then `UPDATE … SET <isUploaded> = 0 WHERE Z_PK = ?` each
    public func markForUpload<Record: SyncRecord>(
        entity: Record.Type, uids: [Record.UidType], context: NSManagedObjectContext? = nil
    ) async throws { try await set(false, Record.isUploadedKey, entity, uids, context) }

    /// Marks records for deletion; they are deleted once the server has been told.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - uids: the identifiers. Those without a record are skipped.
    ///   - context: the context to work in; it is saved. Without one, a new worker context.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`, then `UPDATE … SET <wasDeleted> = 1 WHERE Z_PK = ?` each
    public func markForDeletion<Record: SyncRecord>(
        entity: Record.Type, uids: [Record.UidType], context: NSManagedObjectContext? = nil
    ) async throws { try await set(true, Record.wasDeletedKey, entity, uids, context) }

    /// Deletes records now that the server has been told. Records that are not marked for deletion stay.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - uids: the identifiers.
    ///   - context: the context to work in; it is saved. Without one, a new worker context.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`, then `DELETE … WHERE Z_PK = ?` each
    @discardableResult
    public func markAsDeleted<Record: SyncRecord>(
        entity: Record.Type, uids: [Record.UidType], context: NSManagedObjectContext? = nil
    ) async throws -> Int {
        try await writing(in: context) { context in
            let waiting = try Record.records(uids: uids, in: context).filter {
                $0.value(forKey: Record.wasDeletedKey) as? Bool ?? false
            }
            for record in waiting { context.delete(record) }
            return waiting.count
        }
    }

    private func set<Record: SyncRecord>(
        _ value: Bool, _ key: String, _ entity: Record.Type, _ uids: [Record.UidType],
        _ context: NSManagedObjectContext?
    ) async throws {
        try await writing(in: context) { context in
            for record in try Record.records(uids: uids, in: context) { record.setValue(value, forKey: key) }
        }
    }
}

extension SyncRecord {
    fileprivate static var waitsForUpload: NSPredicate {
        NSPredicate(
            format: "(%K == NO OR %K == nil) AND (%K == NO OR %K == nil)",
            argumentArray: [isUploadedKey, isUploadedKey, wasDeletedKey, wasDeletedKey])
    }

    fileprivate static var waitsForDeletion: NSPredicate {
        NSPredicate(format: "%K == YES", argumentArray: [wasDeletedKey])
    }
}

/// A record that is synchronized with a server: changes are made here first and uploaded later; a deletion is carried
/// out here only once the server has been told.
///
/// ```swift
/// extension NoteRecord: SyncRecord {}     // the entity has Boolean attributes isUploaded and wasDeleted
///
/// for note in try await manager.fetchModelsToUpload(entity: NoteRecord.self) {
///     try await server.put(note)
///     try await manager.markAsUploaded(entity: NoteRecord.self, models: [note])   // not if it was changed meanwhile
/// }
/// ```
///
/// Two Boolean attributes hold its state. A new record in which both are unset waits to be uploaded.
public protocol SyncRecord: DataRecord {
    /// The attribute that says whether the server has the record in its present state. By default, `"isUploaded"`.
    static var isUploadedKey: String { get }

    /// The attribute that says whether the record is to be deleted once the server has been told. By default,
    /// `"wasDeleted"`.
    static var wasDeletedKey: String { get }
}

extension SyncRecord {
    /// `"isUploaded"`.
    public static var isUploadedKey: String { "isUploaded" }

    /// `"wasDeleted"`.
    public static var wasDeletedKey: String { "wasDeleted" }
}
