import CoreData
import Pippin

/// Saves models into records, batch by batch: models with stored identifiers are updated, the others inserted.
///
/// ```swift
/// let importing = ImportOperation(manager: manager, entity: PersonRecord.self, models: people)
/// queue.addOperation(importing)
/// ```
///
/// Properties are set first, then relations (``RecordFromModel/relationsFromModel(_:)``). Each batch is saved as a
/// whole; cancelling keeps the finished batches. The progress counts models.
open class ImportOperation<Record: RecordFromModel>: DataOperation<Changeset>, @unchecked Sendable
where Record.ModelType: Sendable {
    // @unchecked Sendable: like its superclass.
    private let models: @Sendable () throws -> [Record.ModelType]
    private let batchSize: Int

    /// An import of given models.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - entity: the record type.
    ///   - models: the models. If two in a batch have the same identifier, the later one's values are saved.
    ///   - batchSize: how many to save at a time.
    public convenience init(
        manager: PersistenceManager, entity: Record.Type, models: [Record.ModelType], batchSize: Int = 500
    ) { self.init(manager: manager, entity: entity, batchSize: batchSize) { models } }

    /// An import of one model.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - entity: the record type.
    ///   - model: the model.
    public convenience init(manager: PersistenceManager, entity: Record.Type, model: Record.ModelType) {
        self.init(manager: manager, entity: entity) { [model] }
    }

    /// An import of models that another operation provides, on which this one depends.
    ///
    /// ```swift
    /// let importing = ImportOperation(manager: manager, entity: PersonRecord.self) { try download.result?.get() ?? [] }
    /// importing.addDependency(download)
    /// ```
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - entity: the record type.
    ///   - batchSize: how many to save at a time.
    ///   - input: returns the models when the operation begins.
    public init(
        manager: PersistenceManager, entity: Record.Type, batchSize: Int = 500,
        input: @escaping @Sendable () throws -> [Record.ModelType]
    ) {
        models = input
        self.batchSize = max(batchSize, 1)
        super.init(manager: manager)
    }

    /// Saves the models, batch by batch.
    ///
    /// - Parameter context: the context to save into.
    /// - Returns: the identifiers of what was inserted, updated and deleted.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what the conversion of a model throws.
    open override func performWork(in context: NSManagedObjectContext) throws -> Changeset {
        let models = try models()
        progress.totalUnitCount = Int64(max(models.count, 1))
        var changeset = Changeset()
        for batch in models.portions(of: batchSize) {
            try checkCancellation()
            _ = try Record.records(from: Array(batch), in: context)
            try changeset.add(changesOf: context)
            try saveBatch(in: context)
            progress.completedUnitCount += Int64(batch.count)
        }
        return changeset
    }
}
