package import CoreData

/// What the verbs of a block work on: rows to read, and a context that holds unsaved changes and takes what is written.
///
/// It belongs to the block that it was made for, and is of no use outside.
public final class ModelAccess {
    package let manager: PersistenceManager
    /// The source of structs, unless a context of the block is in use; nil for an access to a context.
    private let storeRows: StoreRows?
    /// The turn of a block that writes.
    private let turn: WriteTurn?
    /// The context, if it was needed; a block that reads has none.
    private var madeContext: NSManagedObjectContext?
    /// Whether the task that waits for the block was cancelled.
    private let cancellation = Cancellation.current
    /// The most models that may be saved at once, those within others included; nil for any number.
    var limit: Int?
    /// What stored models get values of; nil for all of their properties.
    var givenFields: GivenFields?
    /// Whether the block has ended, so that nobody would save what is changed now.
    private var hasEnded = false
    /// The plans of the models that were asked for.
    private var asked: [EntityPlan] = []

    /// An access to a context, on whose queue the block runs.
    package init(_ manager: PersistenceManager, _ context: NSManagedObjectContext) {
        self.manager = manager
        (storeRows, turn, madeContext) = (nil, nil, context)
    }

    /// An access of a block that writes. Models may be kept until `finish()`, instead of being put into a context.
    init(_ manager: PersistenceManager, _ turn: WriteTurn) {
        self.manager = manager
        (storeRows, self.turn) = (manager.storeRows.reading(.transaction(turn.transaction)), turn)
    }

    /// An access of a block that reads rows.
    init(_ manager: PersistenceManager, _ rows: StoreRows) {
        self.manager = manager
        (storeRows, turn) = (rows, nil)
    }

    /// Whether the block has changed nothing in a context.
    private var isUntouched: Bool { madeContext?.isUntouched ?? true }

    /// The context. A block that writes runs on its queue.
    package func context() throws -> NSManagedObjectContext {
        try settle()
        return try unsettledContext()
    }

    /// Ends the use of the access, with its block.
    func end() { hasEnded = true }

    private func unsettledContext() throws -> NSManagedObjectContext {
        if hasEnded { throw PersistenceError.blockEnded }
        if let madeContext { return madeContext }
        guard let turn else { throw PersistenceError.changedInRead(entities: asked.map(\.name)) }
        let context = turn.context()
        madeContext = context
        return context
    }

    /// The rows that structs are read from now.
    func source() throws -> any StructRows {
        if hasEnded { throw PersistenceError.blockEnded }
        if let storeRows, turn == nil || pending == nil && deletion == nil && isUntouched { return storeRows }
        return ObjectRows(try context())
    }

    /// The rows that the model with an identifier is read from. Pending saves stay pending if they do not concern that
    /// model.
    func source<Model: CoreModel>(finding id: Model.ID, of type: Model.Type) throws -> any StructRows {
        if let pending, let storeRows, isUntouched,
            pending.leavesAlone(try Model.recordKey(of: id), of: try manager.registry.plan(of: type))
        {
            return storeRows
        }
        return try source()
    }

    // MARK: Saving

    /// Whether models may be saved as rows. Tests have them saved as objects, too.
    var savesRows = true
    /// The saves that are written as rows when the block ends, unless the block does anything else.
    private var pending: PendingSaves?
    /// The rows that are deleted when the block ends, unless the block does anything else.
    private var deletion: DeletedRows?

    /// Saves models with the block: as rows if the block does nothing else, as objects of the context otherwise.
    ///
    /// - Parameters:
    ///   - graph: the models.
    ///   - mode: which of them may be stored already.
    ///   - models: the same models, so that other saves of the block can be joined with this one.
    /// - Returns: what became of each given model.
    /// - Throws: ``PersistenceError``
    func save(
        _ graph: ModelGraph, _ mode: GraphWriter.Mode, _ models: (any PendingModels)? = nil
    ) throws -> [SaveOutcome] {
        try cancellation?.check()
        if manager.session.roundsDates { try graph.checkRoundedDates() }
        if givenFields == nil, deletion == nil, pending?.takes(graph, mode, models) ?? true,
            let save = try rowSave(graph, mode)
        {
            try mode.check(graph) { save.isKnown($0) }
            if pending?.add(save, models) == nil {
                pending = PendingSaves(save, mode, models, manager.registry)
            }
            return save.outcomes
        }
        return try onContext { try Self.write(graph, mode, in: $0, setting: givenFields) }
    }

    /// Tells the store to expect many new rows, before the models are encoded.
    func expectRows(_ count: Int, _ plan: EntityPlan) {
        guard count >= 200, savesRows, pending == nil, deletion == nil, let rows = storeRows,
            let (direct, _) = try? rows.directPlan(plan, manager.registry)
        else { return }
        rows.session.expectRows(count, of: direct.layout)
    }

    /// A save by rows; nil where the models must be saved as objects.
    private func rowSave(_ graph: ModelGraph, _ mode: GraphWriter.Mode) throws -> (any RowSave)? {
        guard savesRows, deletion == nil, isUntouched, let rows = storeRows, let store = rows.session.onlyStore,
            store.takesRows
        else { return nil }
        // What no model of a graph leads to would not be looked up.
        if !graph.hasLeftModels, let (direct, _) = try rows.directPlan(graph.plan, manager.registry) {
            // The version and the unique identifier of a single row guard it, so what others save elsewhere does no
            // harm. A block that has read before may have decided by what it read, so its save must conflict even if
            // the row already has the wanted values.
            let isGuarded =
                graph.nodes.count == 1 && pending == nil && mode != .only && direct.isFoundByUniqueIdentifier
                && turn?.transaction.hasRead == false
            do {
                let looked = isGuarded ? rows.reading(.now) : rows
                return try DirectSave(graph, direct, looked, store, replacesAll: mode == .only)
            } catch is DirectSave.NotDirect {}
        }
        do { return try GraphSave(graph, rows, store, mode) } catch is DirectSave.NotDirect { return nil }
    }

    /// Deletes rows with the block, if it does nothing else.
    ///
    /// - Parameters:
    ///   - plan: the models' entity.
    ///   - isOther: whether the rows must not be found before earlier deletions of the block are done.
    ///   - find: finds the rows.
    /// - Returns: how many rows there are; nil where they must be deleted as objects.
    /// - Throws: what finding them throws.
    func deleteRows(
        of plan: EntityPlan, after isOther: Bool, _ find: (StoreRows, EntityLayout) throws -> [NSManagedObjectID]?
    ) throws -> Int? {
        try cancellation?.check()
        guard savesRows, turn != nil, pending == nil, isUntouched, !(isOther && deletion != nil), let rows = storeRows,
            rows.session.onlyStore?.takesRows == true
        else { return nil }
        let layout = try rows.layout(of: plan)
        guard layout.isPlain, let found = try find(rows, layout) else { return nil }
        // Not held twice, since it would be copied then.
        var all = deletion ?? DeletedRows(rows)
        deletion = nil
        let new = found.filter { !all.contains($0) }
        do {
            try all.add(new)
            deletion = all
            return new.count
        } catch is DirectSave.NotDirect {
            let former = Array(all.given.dropLast(new.count))
            let context = try unsettledContext()
            for identifier in former { context.delete(context.object(with: identifier)) }
            return nil
        }
    }

    /// Puts the pending saves and deletions into the context.
    private func settle() throws {
        if let rows = deletion {
            deletion = nil
            let context = try unsettledContext()
            for identifier in rows.given { context.delete(context.object(with: identifier)) }
        }
        guard let saves = pending else { return }
        let (graphs, mode) = (try saves.graphs(), saves.mode)
        pending = nil
        let context = try unsettledContext()
        for graph in graphs { _ = try Self.write(graph, mode, in: context) }
    }

    /// Ends a block that writes: the pending saves and deletions go to the store.
    func finish() throws {
        try cancellation?.check()
        guard pending != nil || deletion != nil, let turn else { return }
        do {
            if let rows = deletion, let store = manager.session.onlyStore {
                try manager.session.saveRows(to: store, in: turn.transaction) { _ in try rows.changeSet() }
                deletion = nil
            }
            if let saves = pending {
                try commit(saves, in: turn.transaction)
                pending = nil
            }
        } catch let reason where reason is SaveRefusal || reason is DirectSave.NotDirect {
            try PersistenceError.explaining(.saveFailed) { try settle() }
        } catch let error as PersistenceError {
            throw error
        } catch {
            throw PersistenceError(saving: error, manager.registry)
        }
    }

    private func commit(_ saves: PendingSaves, in transaction: OptimisticTransaction) throws {
        let save = try saves.save(hasRead: transaction.hasRead) { try rowSave($0, saves.mode) }
        do { try save.commit(in: transaction) } catch is DirectSave.NotDirect where saves.isOne && save is DirectSave {
            guard let rows = storeRows, let store = rows.session.onlyStore else { throw DirectSave.NotDirect() }
            try GraphSave(save.graph, rows, store, saves.mode).commit(in: transaction)
        }
    }

    private static func write(
        _ graph: ModelGraph, _ mode: GraphWriter.Mode, in context: NSManagedObjectContext,
        setting fields: GivenFields? = nil
    ) throws -> [SaveOutcome] {
        var writer = GraphWriter(graph, context, setting: fields)
        try writer.write(mode)
        return writer.outcomes
    }

    /// Does work with the context, on whose queue a block that writes runs.
    func onContext<Result>(_ work: (NSManagedObjectContext) throws -> Result) throws -> Result {
        try PersistenceError.explaining(.readFailed) { try work(try context()) }
    }

    /// Asks the rows that structs are read from now.
    func asking<Result>(_ question: (any StructRows) throws -> Result) throws -> Result {
        try PersistenceError.explaining(.readFailed) { try question(try source()) }
    }

    /// The plan of a model, which is noted as used. The block of a task that was cancelled ends here.
    func plan<Model: CoreModel>(of type: Model.Type) throws -> EntityPlan {
        if hasEnded { throw PersistenceError.blockEnded }
        try cancellation?.check()
        let plan = try manager.registry.plan(of: type)
        if !asked.contains(where: { $0 === plan }) { asked.append(plan) }
        return plan
    }

    /// The entities that were asked for, and those of the models within them.
    func entities() throws -> Set<String> {
        try asked.reduce(into: []) { try $0.formUnion(manager.registry.entities(within: $1)) }
    }

    func fetcher<Model: CoreModel>(_ type: Model.Type) throws -> StructFetcher<Model> {
        StructFetcher(plan: try plan(of: type), registry: manager.registry)
    }

    /// What a filter selects.
    func selection<Model: CoreModel>(_ filter: Filter<Model>, _ plan: EntityPlan) throws -> RecordSelection {
        try seeingChanges(RecordSelection(predicate: try filter.predicate(plan, manager.registry)), plan)
    }

    /// A selection by which the unsaved changes of the block count, also those of models that its filter reads beside
    /// the selected ones.
    func seeingChanges(_ selection: RecordSelection, _ plan: EntityPlan) throws -> RecordSelection {
        guard let predicate = selection.predicate,
            pending != nil || deletion != nil || madeContext?.hasChanges ?? false
        else { return selection }
        var selection = selection
        selection.predicate = try onContext { try $0.seeingRelatedChanges(predicate, of: plan.name) }
        return selection
    }
}
