import CoreData
import Pippin

extension RecordFromModel {
    /// The record of a model: found by its identifier or inserted, and filled from the model.
    ///
    /// For use on the context's queue, as within ``RecordFromModel/fromModel(_:)``. Nothing is saved.
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
        if let record = RecordConversion.record(Self.self, model.id, in: context) { return record }
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
        let underWay = models.map { RecordConversion.record(Self.self, $0.id, in: context) }
        // Records that an outer call is filling are left alone.
        let others = zip(models, underWay).compactMap { $1 == nil ? $0 : nil }
        var byUid = byIdentifier(try records(uids: others.map(\.id), in: context))
        let pairs = try others.map { model in
            let record = try byUid[model.id] ?? insert(uid: model.id, in: context)
            byUid[model.id] = record
            return (record: record, model: model)
        }
        try RecordConversion.fill(pairs, in: context)
        return zip(models, underWay).compactMap { $1 ?? byUid[$0.id] }
    }

    private static func required(_ context: NSManagedObjectContext?) throws -> NSManagedObjectContext {
        guard let context else { throw PersistenceError.noContext(entity: entityName) }
        return context
    }
}
