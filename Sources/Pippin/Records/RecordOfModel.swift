import CoreData

extension RecordFromModel {
    /// The record of a model: found by its identifier or else inserted, and filled from the model.
    ///
    /// For use on the context's queue, as within ``RecordFromModel/fromModel(_:)``. Nothing is saved.
    ///
    /// ```swift
    /// author = try book.author.map { try AuthorRecord.record(from: $0, in: managedObjectContext) }
    /// ```
    ///
    /// - Parameters:
    ///   - model: the model.
    ///   - context: where to look and to insert; usually a record's own `managedObjectContext`.
    /// - Throws: ``PersistenceError`` where there is no context or the model does not fit, and what `fromModel` throws.
    /// - SQL: `SELECT … WHERE <uidKey> = ? LIMIT 1`
    public static func record(from model: ModelType, in context: NSManagedObjectContext?) throws -> Self {
        let context = try required(context)
        var selection = RecordSelection.uid(model.uid, key: uidKey)
        selection.limit = 1
        let record = try records(selection, in: context).first ?? insert(uid: model.uid, in: context)
        try record.fromModel(model)
        return record
    }

    /// The records of models, in their order: found by their identifiers or else inserted, and filled from the models.
    ///
    /// For use on the context's queue. Nothing is saved.
    ///
    /// ```swift
    /// books = NSSet(array: try BookRecord.records(from: store.books, in: managedObjectContext))
    /// ```
    ///
    /// - Parameters:
    ///   - models: the models. Of two with the same identifier, the later one's values stay.
    ///   - context: where to look and to insert.
    /// - Throws: what ``record(from:in:)`` throws.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`
    public static func records(from models: [ModelType], in context: NSManagedObjectContext?) throws -> [Self] {
        let context = try required(context)
        let found = try records(uids: models.map(\.uid), in: context)
        var byUid = byIdentifier(found)
        return try models.map { model in
            let record = try byUid[model.uid] ?? insert(uid: model.uid, in: context)
            byUid[model.uid] = record
            try record.fromModel(model)
            return record
        }
    }

    private static func required(_ context: NSManagedObjectContext?) throws -> NSManagedObjectContext {
        guard let context else { throw PersistenceError.noContext(entity: entityName) }
        return context
    }
}
