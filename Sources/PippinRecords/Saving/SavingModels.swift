import CoreData
import Pippin

extension PersistenceManager {
    /// Saves models: each into the record with its identifier, or into a new one.
    ///
    /// ```swift
    /// try await manager.save(entity: PersonRecord.self, models: people, shouldOverwrite: true)
    /// ```
    ///
    /// All models are saved, or none. Without a context, no other save of this manager intervenes between looking
    /// records up and saving them. Two saves in contexts of yours may both find no record, and insert two with one
    /// identifier, unless the entity has a uniqueness constraint.
    ///
    /// Records without a model are deleted last. One that a model leads to stays; one that has a model and would go
    /// with another by a delete rule is an error.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - models: the models. If two have the same identifier, the later wins.
    ///   - shouldOverwrite: true if the models are complete, such as a whole list from a server: records without a
    ///     model among them are deleted. False to leave other records alone, as for one page of a longer list.
    ///     Duplicate records with the identifier of another are deleted in either case.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `fromModel` throws.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`, then `INSERT`, `UPDATE` and `DELETE` in one transaction
    public func save<Record: RecordFromModel>(
        entity: Record.Type, models: [Record.ModelType], shouldOverwrite: Bool, context: NSManagedObjectContext? = nil
    ) async throws where Record.ModelType: Sendable {
        try await writing(in: context) { try Record.save(models, shouldOverwrite: shouldOverwrite, in: $0) }
    }

    /// Saves models, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - models: the models. If two have the same identifier, the later wins.
    ///   - shouldOverwrite: true to delete records without a model among these, false to leave them alone.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `fromModel` throws.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`, then `INSERT`, `UPDATE` and `DELETE` in one transaction
    public func save<Record: RecordFromModel>(
        entity: Record.Type, models: [Record.ModelType], shouldOverwrite: Bool, context: NSManagedObjectContext? = nil
    ) throws {
        try writing(in: context) { try Record.save(models, shouldOverwrite: shouldOverwrite, in: $0) }
    }

    /// Saves one model, into the record with its identifier or into a new one.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - model: the model.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `fromModel` throws.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?)`, then `INSERT` or `UPDATE`
    public func save<Record: RecordFromModel>(
        entity: Record.Type, model: Record.ModelType, context: NSManagedObjectContext? = nil
    ) async throws where Record.ModelType: Sendable {
        try await save(entity: entity, models: [model], shouldOverwrite: false, context: context)
    }

    /// Saves one model, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - entity: the record type.
    ///   - model: the model.
    ///   - context: the context to work in. Its other changes are saved too. Without one, a new worker context.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `fromModel` throws.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?)`, then `INSERT` or `UPDATE`
    public func save<Record: RecordFromModel>(
        entity: Record.Type, model: Record.ModelType, context: NSManagedObjectContext? = nil
    ) throws {
        try save(entity: entity, models: [model], shouldOverwrite: false, context: context)
    }
}

extension RecordFromModel {
    /// Computes the plan of the save and carries it out, on the context's queue.
    fileprivate static func save(
        _ models: [ModelType], shouldOverwrite: Bool, in context: NSManagedObjectContext
    ) throws {
        let uids = models.map(\.id)
        let found = try shouldOverwrite ? records(.all, in: context) : records(uids: uids, in: context)
        let plan = RecordSavePlan(
            models: uids.map(\.recordKey), records: found.map { $0.identifier?.recordKey },
            shouldOverwrite: shouldOverwrite)
        let updated = plan.updates.map { (record: found[$0.record], model: models[$0.model]) }
        let inserted = try plan.inserts.map { (record: try insert(uid: uids[$0], in: context), model: models[$0]) }
        let reached = try RecordConversion.save(updated + inserted, in: context)
        try delete(plan.deletions.map { found[$0] }.filter { !reached.contains($0) }, keeping: reached, in: context)
    }

    /// Deletes records that no model has led to. Filling the others has moved out of them what stays.
    private static func delete(
        _ records: [Self], keeping reached: Set<NSManagedObject>, in context: NSManagedObjectContext
    ) throws {
        guard !records.isEmpty else { return }
        let open = RecordConversion.open(in: context)
        if let record = records.first(where: { open.contains($0) }) {
            throw PersistenceError.unwritable(
                entity: entityName, uid: record.identifierText, key: nil,
                reason: "a save within the one that fills this record would delete it, since it has no model of it.")
        }
        let kept = reached.union(open).filter { !$0.isGone }
        for record in records { context.delete(record) }
        context.processPendingChanges()
        guard let lost = kept.first(where: \.isGone) else { return }
        throw PersistenceError.unwritable(
            entity: lost.entity.name ?? "", uid: (lost as? any DataRecord)?.identifierText ?? "", key: nil,
            reason:
                "a record that has no model among the saved ones is deleted, and this one with it by a delete rule. "
                + "Let relationsFromModel(_:) set the relationship between them.")
    }
}

extension NSManagedObject {
    fileprivate var isGone: Bool { isDeleted || managedObjectContext == nil }
}

/// What a save of models does to existing records, computed from identifiers alone.
struct RecordSavePlan: Equatable {
    /// A record that takes a model's values, both by index.
    struct Update: Equatable {
        let record: Int
        let model: Int
    }

    /// The records that stay, with the models whose values they take.
    private(set) var updates: [Update] = []
    /// The models, by index, that get a new record.
    private(set) var inserts: [Int] = []
    /// The records, by index, that are deleted.
    private(set) var deletions: [Int] = []

    /// - Parameters:
    ///   - models: the models' identifiers. If two models have the same one, the later wins.
    ///   - records: the identifiers of the existing records, nil for a record without one. If two have the same one,
    ///     the later record is deleted.
    ///   - shouldOverwrite: whether records without a model among these are deleted.
    init<Uid: Hashable>(models: [Uid], records: [Uid?], shouldOverwrite: Bool) {
        let modelByUid = Dictionary(models.enumerated().map { ($1, $0) }, uniquingKeysWith: { _, later in later })
        var found: Set<Uid> = []
        for (record, uid) in records.enumerated() {
            let isDuplicate = uid.map { !found.insert($0).inserted } ?? false
            if let uid, let model = modelByUid[uid], !isDuplicate {
                updates.append(Update(record: record, model: model))
            } else if isDuplicate || shouldOverwrite {
                deletions.append(record)
            }
        }
        inserts = models.indices.filter { modelByUid[models[$0]] == $0 && !found.contains(models[$0]) }
    }
}
