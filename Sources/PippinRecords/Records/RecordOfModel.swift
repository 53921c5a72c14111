import CoreData
import Pippin

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
        let latest = Dictionary(zip(models.map(\.id), models.indices), uniquingKeysWith: { _, later in later })
        // Records that an outer call is filling are left alone.
        var byUid: [UidType: Self] = [:]
        let others = models.indices.filter { latest[models[$0].id] == $0 }.filter { place in
            byUid[models[place].id] = RecordConversion.record(of: models[place], Self.self, in: context)
            return byUid[models[place].id] == nil
        }
        byUid.merge(byIdentifier(try records(uids: others.map { models[$0].id }, in: context))) { known, _ in known }
        let pairs = try others.map { place in
            let model = models[place]
            let record = try byUid[model.id] ?? insert(uid: model.id, in: context)
            byUid[model.id] = record
            return (record: record, model: model)
        }
        if !pairs.isEmpty { try RecordConversion.fill(pairs, in: context) }
        return models.compactMap { byUid[$0.id] }
    }

    private static func required(_ context: NSManagedObjectContext?) throws -> NSManagedObjectContext {
        guard let context else { throw PersistenceError.noContext(entity: entityName) }
        return context
    }
}
