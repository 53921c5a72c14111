package import CoreData

/// What the verbs of a block work on: rows to read, and a context that counts, and that takes what is written.
///
/// It belongs to the block that it was made for, and is of no use outside.
public final class ModelAccess {
    package let manager: PersistenceManager
    /// Where structs are read.
    let rows: any StructRows
    /// Makes the context, where one is needed at all.
    private let makeContext: () throws -> NSManagedObjectContext
    private var madeContext: NSManagedObjectContext?
    /// Whether the block's code runs on the context's queue.
    private let isOnQueue: Bool
    /// The entities that were asked for.
    private(set) var entities: Set<String> = []

    /// An access to a context, on whose queue the block runs.
    package init(_ manager: PersistenceManager, _ context: NSManagedObjectContext) {
        self.manager = manager
        rows = ObjectRows(context)
        makeContext = { context }
        isOnQueue = true
    }

    /// An access to rows, and to a context only where rows will not do.
    init(
        _ manager: PersistenceManager, _ rows: any StructRows,
        _ makeContext: @escaping () throws -> NSManagedObjectContext
    ) {
        self.manager = manager
        self.rows = rows
        self.makeContext = makeContext
        isOnQueue = false
    }

    /// The context. A block that writes runs on its queue.
    package func context() throws -> NSManagedObjectContext {
        if let madeContext { return madeContext }
        let context = try makeContext()
        madeContext = context
        return context
    }

    /// Does work on the context's queue.
    func onContext<Result>(_ work: (NSManagedObjectContext) throws -> Result) throws -> Result {
        let context = try context()
        return isOnQueue ? try work(context) : try context.performAndWait { try work(context) }
    }

    /// The plan of a model, which is noted as asked for.
    func plan<Model: CoreModel>(of type: Model.Type) throws -> EntityPlan {
        let plan = try manager.registry.plan(of: type)
        if !entities.contains(plan.name) { try entities.formUnion(manager.registry.entities(within: plan)) }
        return plan
    }

    func fetcher<Model: CoreModel>(_ type: Model.Type) throws -> StructFetcher<Model> {
        StructFetcher(plan: try plan(of: type), registry: manager.registry)
    }

    /// What a filter selects.
    func selection<Model: CoreModel>(_ filter: Filter<Model>, _ plan: EntityPlan) throws -> RecordSelection {
        RecordSelection(predicate: try filter.predicate(plan, manager.registry))
    }
}
