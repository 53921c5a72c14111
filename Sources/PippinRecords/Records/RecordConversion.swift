import CoreData
import Pippin

/// What a save fills from models: a model on a cycle finds its record instead of filling it endlessly, and one that
/// many lead to is filled once.
enum RecordConversion {
    private struct Key: Hashable {
        let context: ObjectIdentifier
        let entity: String
        let uid: RecordKey

        init<Record: DataRecord>(_ type: Record.Type, _ uid: Record.UidType, _ context: NSManagedObjectContext) {
            (self.context, entity, self.uid) = (ObjectIdentifier(context), Record.entityName, uid.recordKey)
        }
    }

    private struct Save {
        /// The records that are being filled.
        var open: [Key: NSManagedObject] = [:]
        /// Records within others that have been filled, with the values that they were filled from last.
        var filled: [Key: (record: NSManagedObject, model: Any)] = [:]
        /// All records that models have led to.
        var reached: Set<NSManagedObject> = []
        var depth = 0
        /// Shared with the saves within this one.
        var refills = Locked(Refills())
        /// Tasks that a conversion has started may go on after the save.
        var isOver = false
    }

    /// What counts for the limit of models that occur again and again.
    private struct Refills {
        var keys: Set<Key> = []
        var count = 0
    }

    @TaskLocal private static var current: Locked<Save>?

    /// The record of a model that an outer call is filling, or that was filled from the same value.
    static func record<Record: RecordFromModel>(
        of model: Record.ModelType, _ type: Record.Type, in context: NSManagedObjectContext
    ) -> Record? {
        current?.withLock { save in
            let key = Key(Record.self, model.id, context)
            if let record = save.open[key] {
                save.reached.insert(record)
                return record as? Record
            }
            guard let filled = save.filled[key], let record = filled.record as? Record,
                record.managedObjectContext === context, !record.isDeleted,
                let former = filled.model as? Record.ModelType, isSame(former, model)
            else { return nil }
            return record
        }
    }

    /// Notes that a conversion has used a record, which then is not deleted for want of a model.
    static func note(_ record: NSManagedObject) { current?.withLock { _ = $0.reached.insert(record) } }

    /// Fills records from their models: the properties of all of them, then their relations.
    ///
    /// - Parameters:
    ///   - pairs: the records and their models, each record once.
    ///   - context: the records' context.
    /// - Throws: what the conversions throw, and ``PersistenceError/Code/unwritable`` for too many models in models.
    static func fill<Record: RecordFromModel>(
        _ pairs: [(record: Record, model: Record.ModelType)], in context: NSManagedObjectContext
    ) throws {
        if let save = running { try fill(pairs, in: context, save) } else { try save(pairs, in: context) }
    }

    /// Fills records for a save of their own, as ``fill(_:in:)`` does. A save within another one knows what that one
    /// is filling, and counts for it.
    ///
    /// - Returns: all records that the models of this save have led to.
    @discardableResult
    static func save<Record: RecordFromModel>(
        _ pairs: [(record: Record, model: Record.ModelType)], in context: NSManagedObjectContext
    ) throws -> Set<NSManagedObject> {
        let outer = running
        let save = Locked(
            outer?.withLock { Save(open: $0.open, depth: $0.depth, refills: $0.refills) } ?? Save())
        defer { save.withLock { $0 = Save(isOver: true) } }
        try $current.withValue(save) { try fill(pairs, in: context, save) }
        let (reached, filled) = save.withLock { ($0.reached, $0.filled) }
        outer?.withLock { outer in
            outer.reached.formUnion(reached)
            outer.filled.merge(filled) { $1 }
        }
        return reached
    }

    /// The records of a context that are being filled.
    static func open(in context: NSManagedObjectContext) -> [NSManagedObject] {
        running?.withLock { $0.open.values.filter { $0.managedObjectContext === context } } ?? []
    }

    private static var running: Locked<Save>? { current.flatMap { $0.withLock(\.isOver) ? nil : $0 } }

    private static func fill<Record: RecordFromModel>(
        _ pairs: [(record: Record, model: Record.ModelType)], in context: NSManagedObjectContext, _ save: Locked<Save>
    ) throws {
        let keys = pairs.map { Key(Record.self, $0.model.id, context) }
        let (opened, isOutermost) = try save.withLock { save in
            guard save.depth < RecordLimits.depth else { throw excess(pairs, RecordLimits.depthReason) }
            let count = save.refills.withLock { refills in
                refills.count += keys.count { refills.keys.contains($0) }
                return refills.count
            }
            guard count <= RecordLimits.refills else { throw excess(pairs, RecordLimits.refillsReason) }
            save.depth += 1
            save.reached.formUnion(pairs.map(\.record))
            let opened = keys.indices.filter { save.open[keys[$0]] == nil }
            for place in opened { save.open[keys[place]] = pairs[place].record }
            return (opened, save.depth == 1)
        }
        defer {
            save.withLock { save in
                save.depth -= 1
                for place in opened { save.open[keys[place]] = nil }
            }
        }
        for convert in [Record.fromModel, Record.relationsFromModel] {
            for pair in pairs {
                if isOutermost { save.withLock { save in save.refills.withLock { $0.count = 0 } } }
                try convert(pair.record)(pair.model)
            }
        }
        guard !isOutermost else { return }
        save.withLock { save in
            for (key, pair) in zip(keys, pairs) { save.filled[key] = pair }
            save.refills.withLock { $0.keys.formUnion(keys) }
        }
    }

    /// Whether two values are copies of one. The earlier is kept, so that what it refers to has not changed.
    private static func isSame<Model>(_ one: Model, _ other: Model) -> Bool {
        withUnsafeBytes(of: one) { one in withUnsafeBytes(of: other) { one.elementsEqual($0) } }
    }

    private static func excess<Record: RecordFromModel>(
        _ pairs: [(record: Record, model: Record.ModelType)], _ reason: String
    ) -> PersistenceError {
        .unwritable(
            entity: Record.entityName, uid: pairs.first.map { "\($0.model.id)" } ?? "", key: nil,
            reason: reason + " Save what they lead to by itself first, and let them find its records.")
    }
}

extension RecordFromModel {
    /// The record of a model: found by its identifier or inserted, and filled from the model.
    ///
    /// For use on the context's queue, as within ``RecordFromModel/fromModel(_:)``. Nothing is saved. A record that has
    /// been filled from the same value within the present save is not filled again. An object of a class is the same
    /// value, also if it has changed since: what such a change is to save must be done before the first use.
    ///
    /// ```swift
    /// author = try book.author.map { try AuthorRecord.record(from: $0, in: managedObjectContext) }
    /// ```
    ///
    /// - Parameters:
    ///   - model: the model.
    ///   - context: the context to search and to insert into; usually a record's own `managedObjectContext`.
    /// - Returns: the record, which the context's next save writes.
    /// - Throws: ``PersistenceError`` if there is no context or the model does not fit, and what `fromModel` throws.
    /// - SQL: `SELECT … WHERE <uidKey> = ? LIMIT 1`
    public static func record(from model: ModelType, in context: NSManagedObjectContext?) throws -> Self {
        let context = try required(context)
        if let record = RecordConversion.record(of: model, Self.self, in: context) { return record }
        var selection = RecordSelection.uid(model.id, key: uidKey)
        selection.limit = 1
        let record = try records(selection, in: context).first ?? insert(uid: model.id, in: context)
        try RecordConversion.fill([(record, model)], in: context)
        return record
    }

    /// The records of models, in their order: found by their identifiers or inserted, and filled from the models.
    ///
    /// For use on the context's queue. Nothing is saved.
    ///
    /// ```swift
    /// books = NSSet(array: try BookRecord.records(from: store.books, in: managedObjectContext))
    /// ```
    ///
    /// - Parameters:
    ///   - models: the models. If two have the same identifier, the later one's values are used.
    ///   - context: the context to search and to insert into.
    /// - Returns: the records, which the context's next save writes.
    /// - Throws: what ``record(from:in:)`` throws.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`
    public static func records(from models: [ModelType], in context: NSManagedObjectContext?) throws -> [Self] {
        let context = try required(context)
        let keys = models.map(\.id.recordKey)
        let latest = Dictionary(zip(keys, models.indices), uniquingKeysWith: { _, later in later })
        // Records that an outer call is filling are left alone.
        var byKey: [RecordKey: Self] = [:]
        let others = models.indices.filter { latest[keys[$0]] == $0 }.filter { place in
            byKey[keys[place]] = RecordConversion.record(of: models[place], Self.self, in: context)
            return byKey[keys[place]] == nil
        }
        byKey.merge(byIdentifier(try records(uids: others.map { models[$0].id }, in: context))) { known, _ in known }
        let pairs = try others.map { place in
            let model = models[place]
            let record = try byKey[keys[place]] ?? insert(uid: model.id, in: context)
            byKey[keys[place]] = record
            return (record: record, model: model)
        }
        if !pairs.isEmpty { try RecordConversion.fill(pairs, in: context) }
        return keys.compactMap { byKey[$0] }
    }

    private static func required(_ context: NSManagedObjectContext?) throws -> NSManagedObjectContext {
        guard let context else { throw PersistenceError.noContext(entity: entityName) }
        return context
    }
}

extension RecordSelection {
    /// The record with an identifier.
    static func uid(_ uid: some UniqueIdentifier, key: String) -> RecordSelection {
        .key(uid.attributeValue, named: key)
    }

    /// The records with one of some identifiers.
    static func uids(_ uids: some Sequence<some UniqueIdentifier>, key: String) -> RecordSelection {
        .keys(uids.map(\.attributeValue), named: key)
    }
}

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
