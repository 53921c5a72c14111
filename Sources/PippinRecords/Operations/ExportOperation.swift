import CoreData
import Pippin

/// Converts records to models in the background.
///
/// ```swift
/// let exporting = ExportOperation(manager: manager, entity: PersonRecord.self)
/// queue.addOperations([exporting], waitUntilFinished: true)
/// let people = try exporting.result?.get() ?? []
/// ```
open class ExportOperation<Record: RecordToModel>: DataOperation<[Record.ModelType]>, @unchecked Sendable
where Record.ModelType: Sendable {
    // @unchecked Sendable: like its superclass; predicates and sort descriptors do not change.
    private let request: RecordRequest<Record>

    /// An export.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - entity: the record type.
    ///   - predicate: the condition; nil for all records.
    ///   - sortDescriptors: the order.
    public convenience init(
        manager: PersistenceManager, entity: Record.Type, predicate: NSPredicate? = nil,
        sortDescriptors: [NSSortDescriptor] = []
    ) {
        var request = RecordRequest(entity)
        if let predicate { request = request.filter(predicate) }
        self.init(manager: manager, request: request.sorted(by: sortDescriptors))
    }

    /// An export of the records that a request selects.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - request: the request.
    public init(manager: PersistenceManager, request: RecordRequest<Record>) {
        self.request = request
        super.init(manager: manager)
    }

    /// Converts the records. The progress counts them.
    ///
    /// - Parameter context: the context to read.
    /// - Returns: the models, in order.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `toModel` throws.
    /// - SQL: `SELECT … WHERE <predicate> ORDER BY <sortDescriptors>`
    open override func performWork(in context: NSManagedObjectContext) throws -> [Record.ModelType] {
        let records = try Record.records(request.selection, in: context)
        progress.totalUnitCount = Int64(max(records.count, 1))
        let conversion = ModelConversion()
        return try records.compactMap { record in
            try checkCancellation()
            defer { progress.completedUnitCount += 1 }
            return try conversion.model(of: record)
        }
    }
}
