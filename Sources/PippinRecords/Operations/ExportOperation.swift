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

/// A fetch of records, or of their models, that is built step by step.
///
/// ```swift
/// let request = RecordRequest(NovelRecord.self)
///     .filter(NSPredicate(format: "title BEGINSWITH %@", "E"))
///     .sorted(by: [NSSortDescriptor(key: "title", ascending: true)])
///     .prefetching("author", "chapters")
///     .limit(20)
/// let novels = try await manager.fetchModels(request)
/// ```
public struct RecordRequest<Record: DataRecord>: Sendable {
    var selection = RecordSelection.all

    /// A request for all records of a type.
    ///
    /// - Parameter entity: the records' type.
    public init(_ entity: Record.Type = Record.self) {}

    /// The request with an additional condition.
    ///
    /// - Parameter predicate: the additional condition.
    /// - Returns: the narrower request.
    public func filter(_ predicate: NSPredicate) -> RecordRequest {
        changed { selection in
            selection.predicate =
                selection.predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [$0, predicate]) }
                ?? predicate
        }
    }

    /// The request with an additional order. It sorts records that the earlier orders leave equal.
    ///
    /// - Parameter sortDescriptors: the order, the most significant first.
    /// - Returns: the request in that order.
    public func sorted(by sortDescriptors: [NSSortDescriptor]) -> RecordRequest {
        changed { $0.sortDescriptors = ($0.sortDescriptors ?? []) + sortDescriptors }
    }

    /// The request with a limit.
    ///
    /// - Parameter limit: the largest number of records to fetch; nil for no limit.
    /// - Returns: the request with that limit.
    public func limit(_ limit: Int?) -> RecordRequest { changed { $0.limit = limit } }

    /// The request with an offset.
    ///
    /// - Parameter offset: how many records to skip at the start.
    /// - Returns: the request with that offset.
    public func offset(_ offset: Int) -> RecordRequest { changed { $0.offset = offset } }

    /// The request returning each record only once, even if the predicate follows relationships.
    ///
    /// - SQL: `SELECT DISTINCT …`
    public func distinct() -> RecordRequest { changed { $0.isDistinct = true } }

    /// The request with prefetching of relationships: one query for each fetches their destinations.
    ///
    /// - Parameter keyPaths: the relationships, or paths of several.
    /// - Returns: the request with prefetching.
    public func prefetching(_ keyPaths: String...) -> RecordRequest { changed { $0.prefetched += keyPaths } }

    private func changed(_ change: (inout RecordSelection) -> Void) -> RecordRequest {
        var request = self
        change(&request.selection)
        return request
    }
}

extension PersistenceManager {
    /// The records that a request selects.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - context: the records' context; without one, the current thread's context.
    /// - Returns: the records, in order.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <predicate> ORDER BY <sortDescriptors> LIMIT <limit> OFFSET <offset>`
    public func fetchRecords<Record: DataRecord>(
        _ request: RecordRequest<Record>, context: NSManagedObjectContext? = nil
    ) throws -> [Record] { try reading(in: context) { try Record.records(request.selection, in: $0) } }

    /// The models of the records that a request selects.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - context: the context to read; without one, a new one.
    /// - Returns: the models, in order.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `toModel` throws.
    /// - SQL: `SELECT … WHERE <predicate> ORDER BY <sortDescriptors> LIMIT <limit> OFFSET <offset>`
    public func fetchModels<Record: RecordToModel>(
        _ request: RecordRequest<Record>, context: NSManagedObjectContext? = nil
    ) async throws -> [Record.ModelType] where Record.ModelType: Sendable {
        try await reading(in: context) { try ModelConversion().models(of: Record.records(request.selection, in: $0)) }
    }

    /// The models of the records that a request selects, as the `async` form returns them, and waits for them.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - context: the context to read; without one, the current thread's context.
    /// - Returns: the models, in order.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `toModel` throws.
    /// - SQL: `SELECT … WHERE <predicate> ORDER BY <sortDescriptors> LIMIT <limit> OFFSET <offset>`
    public func fetchModels<Record: RecordToModel>(
        _ request: RecordRequest<Record>, context: NSManagedObjectContext? = nil
    ) throws -> [Record.ModelType] {
        try reading(in: context) { try ModelConversion().models(of: Record.records(request.selection, in: $0)) }
    }
}
