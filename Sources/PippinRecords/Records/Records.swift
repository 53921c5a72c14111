import CoreData
import Pippin

// Finding the records of a type in a context, on whose queue this runs.
extension DataRecord {
    /// A request for records of this type. It throws if the context's model does not have them.
    static func request(
        _ selection: RecordSelection, in context: NSManagedObjectContext
    ) throws -> NSFetchRequest<any NSFetchRequestResult> {
        let entity = try checkedEntity(in: context)
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entityName)
        request.entity = entity
        request.predicate = selection.predicate
        request.sortDescriptors = selection.sortDescriptors
        if let limit = selection.limit { request.fetchLimit = limit }
        request.fetchOffset = selection.offset
        request.returnsDistinctResults = selection.isDistinct
        request.relationshipKeyPathsForPrefetching = selection.prefetched.isEmpty ? nil : selection.prefetched
        return request
    }

    /// The selected records, with their values.
    static func records(_ selection: RecordSelection, in context: NSManagedObjectContext) throws -> [Self] {
        let request = try request(selection, in: context)
        // Core Data would take a limit of 0 for no limit.
        if let limit = selection.limit, limit <= 0 { return [] }
        request.returnsObjectsAsFaults = false
        return try context.fetch(request).map(checked)
    }

    /// The records with these identifiers, fetched in portions that fit a statement.
    static func records(uids: some Sequence<UidType>, in context: NSManagedObjectContext) throws -> [Self] {
        // Each once.
        let distinct = Dictionary(uids.map { ($0.recordKey, $0) }, uniquingKeysWith: { first, _ in first }).values
        return try Array(distinct).portions().flatMap { try records(.uids($0, key: uidKey), in: context) }
    }

    /// A new record in the context, with its identifier.
    static func insert(uid: UidType, in context: NSManagedObjectContext) throws -> Self {
        _ = try checkedEntity(in: context)
        let inserted = NSEntityDescription.insertNewObject(forEntityName: entityName, into: context)
        let record: Self
        do { record = try checked(inserted) } catch {
            context.delete(inserted)
            throw error
        }
        record.setValue(uid.attributeValue, forKey: uidKey)
        return record
    }

    /// The records by their identifiers. If two have the same one, the first is used.
    static func byIdentifier(_ records: [Self]) -> [RecordKey: Self] {
        let pairs = records.compactMap { record in record.identifier.map { ($0.recordKey, record) } }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    /// The entity's name. It throws if the context's model does not have the entity.
    static func checkedEntityName(in context: NSManagedObjectContext) throws -> String {
        try checkedEntity(in: context).name ?? entityName
    }

    private static func checkedEntity(in context: NSManagedObjectContext) throws -> NSEntityDescription {
        let entities = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
        guard let entity = entities[entityName] else {
            throw PersistenceError.unknownEntity(entityName, known: Array(entities.keys))
        }
        guard entity.attributesByName[uidKey] != nil else {
            throw PersistenceError.unknownUidKey(
                uidKey, entity: entityName, known: Array(entity.attributesByName.keys))
        }
        return entity
    }
}

// On the context's queue. Nothing is saved.
extension DataRecord {
    /// The record with that identifier, inserted if there is none, and changed.
    ///
    /// - Parameters:
    ///   - uid: the identifier.
    ///   - context: the context to search and to insert into.
    ///   - change: gives the record its values.
    /// - Returns: the record; the context's next save writes it.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `change` throws.
    /// - SQL: `SELECT … WHERE <uidKey> = ? LIMIT 1`
    @discardableResult
    public static func insertOrUpdate(
        uid: UidType, in context: NSManagedObjectContext, _ change: (Self) throws -> Void
    ) throws -> Self {
        try insertOrUpdate([uid], by: { $0 }, in: context) { record, _ in try change(record) }[0]
    }

    /// Finds the records of intermediate values, such as data from a server, in one query, inserts the missing ones,
    /// and changes all of them.
    ///
    /// ```swift
    /// try PersonRecord.insertOrUpdate(rows, by: { $0[0] }, in: context) { person, row in person.name = row[1] }
    /// ```
    ///
    /// - Parameters:
    ///   - values: the values.
    ///   - uid: returns a value's identifier.
    ///   - context: the context to search and to insert into.
    ///   - change: sets a record's values. If two values have one identifier, it is called for the later one last.
    /// - Returns: the records, in the values' order.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `change` throws.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`
    @discardableResult
    public static func insertOrUpdate<Value>(
        _ values: [Value], by uid: (Value) -> UidType, in context: NSManagedObjectContext,
        _ change: (Self, Value) throws -> Void
    ) throws -> [Self] {
        let uids = values.map(uid)
        var byUid = byIdentifier(try records(uids: uids, in: context))
        return try zip(uids, values).map { uid, value in
            let record = try byUid[uid.recordKey] ?? insert(uid: uid, in: context)
            byUid[uid.recordKey] = record
            RecordConversion.note(record)
            try change(record, value)
            return record
        }
    }
}
