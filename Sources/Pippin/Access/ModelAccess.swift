import StoreSession

/// What the verbs of a block work on: rows to read, and the changes of a block that writes.
///
/// It belongs to the block that it was made for, and is of no use outside.
public final class ModelAccess {
    package let manager: PersistenceManager
    /// The source of structs, unless a context of the block is in use; nil for an access to a context.
    private let storeRows: StoreRows?
    /// The turn of a block that writes.
    private let turn: WriteTurn?
    /// The objects of a context, if they were needed; a block that reads has none.
    private var madeObjects: ObjectChanges?
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
    package init(_ manager: PersistenceManager, _ objects: any ObjectSource) {
        self.manager = manager
        (storeRows, turn) = (nil, nil)
        madeObjects = ObjectChanges(ObjectRows(objects, manager.storeRows))
    }

    /// An access of a block that writes.
    init(_ manager: PersistenceManager, _ turn: WriteTurn) {
        self.manager = manager
        (storeRows, self.turn) = (manager.storeRows.reading(.transaction(turn.transaction)), turn)
    }

    /// An access of a block that reads rows.
    init(_ manager: PersistenceManager, _ rows: StoreRows) {
        self.manager = manager
        (storeRows, turn) = (rows, nil)
    }

    /// Ends the use of the access, with its block.
    func end() { hasEnded = true }

    // MARK: Questions

    /// The rows that structs are read from now.
    func source() throws -> any StructRows {
        if hasEnded { throw PersistenceError.blockEnded }
        if let storeRows, turn == nil || usesRows && changes?.isEmpty ?? true { return storeRows }
        return try asRows { try $0.current() } ?? objects().rows
    }

    /// The rows that the model with an identifier is read from.
    func source<Model: CoreModel>(finding id: Model.ID, of type: Model.Type) throws -> any StructRows {
        guard !hasEnded, usesRows, let changes, !changes.isEmpty else { return try source() }
        let (key, plan) = (try Model.recordKey(of: id), try manager.registry.plan(of: type))
        return try asRows { try $0.current(finding: key, of: plan) } ?? source()
    }

    /// Asks the rows that structs are read from now.
    func asking<Result>(_ question: (any StructRows) throws -> Result) throws -> Result {
        try PersistenceError.explaining(.readFailed) { try question(try source()) }
    }

    /// Whether the block has changed anything.
    var hasChanges: Bool { !(changes?.isEmpty ?? true) || madeObjects?.rows.objects.hasChanges ?? false }

    /// A selection by which the unsaved changes of a context count, also those of models that its filter reads beside
    /// the selected ones.
    func seeingChanges(_ selection: RecordSelection, _ plan: EntityPlan) throws -> RecordSelection {
        guard selection.predicate != nil, hasChanges else { return selection }
        // Rows see them without that.
        if try asRows({ try $0.current() }) != nil { return selection }
        return try onObjects { try $0.seeingChanges(selection, plan) }
    }

    // MARK: Changes as rows

    /// Whether changes may be saved as rows. Tests have them saved as objects, too.
    var savesRows = true
    /// How many new models were left out for others with the same values.
    private(set) var replaced = 0
    /// What the block has changed as rows; nil before its first change, and once objects are used.
    private var changes: BlockChanges?
    /// Does to objects of a context what was done to rows, where something only they can decide comes later.
    private var replays: [(ObjectChanges) throws -> Void] = []

    /// Whether the block has changed nothing in a context.
    private var usesRows: Bool { savesRows && turn != nil && madeObjects?.rows.objects.isUntouched ?? true }

    /// Does something with rows.
    ///
    /// - Returns: the result; nil where it must be done with objects.
    private func asRows<Result>(_ work: (BlockChanges) throws -> Result) throws -> Result? {
        guard usesRows, let storeRows, let turn else { return nil }
        guard let changes = changes ?? BlockChanges(storeRows, turn.transaction, manager.registry) else { return nil }
        self.changes = changes
        do { return try work(changes) } catch is NeedsObjects { return nil }
    }

    /// Changes something as rows, or as objects.
    private func changing<Result>(
        asRows work: (BlockChanges) throws -> Result, _ objects: @escaping (ObjectChanges) throws -> Result
    ) throws -> Result {
        try cancellation?.check()
        if hasEnded { throw PersistenceError.blockEnded }
        if let result = try asRows(work) {
            replays.append { _ = try objects($0) }
            return result
        }
        return try onObjects(objects)
    }

    /// Saves models with the block.
    ///
    /// - Parameters:
    ///   - graph: the models.
    ///   - mode: which of them may be stored already.
    /// - Returns: what became of each given model.
    /// - Throws: ``PersistenceError``
    func save(_ graph: ModelGraph, _ mode: SaveMode) throws -> [SaveOutcome] {
        if manager.session.roundsDates { try graph.checkRoundedDates() }
        let fields = givenFields
        return try changing {
            try $0.save(graph, mode, setting: fields)
        } _: {
            try $0.save(graph, mode, setting: fields)
        }
    }

    /// A number that no row of a model's entity has had; nil where the store gives out none.
    func nextKey(of plan: EntityPlan) throws -> Int64? {
        try PersistenceError.explaining(.saveFailed) { try asRows { try $0.nextKey(of: plan) } ?? nil }
    }

    /// Tells the store to expect many new rows, before the models are encoded.
    func expectRows(_ count: Int, _ plan: EntityPlan) {
        guard count >= 200, usesRows, changes?.isEmpty ?? true, let rows = storeRows,
            let (direct, _) = try? rows.directPlan(plan, manager.registry)
        else { return }
        rows.session.expectRows(count, of: direct.layout)
    }

    /// Changes models.
    ///
    /// - Parameters:
    ///   - selection: selects the models.
    ///   - plan: the models' entity.
    ///   - prepared: what is set.
    /// - Returns: how many are selected.
    /// - Throws: ``PersistenceError``
    func update(_ selection: RecordSelection, of plan: EntityPlan, _ prepared: PreparedChanges) throws -> Int {
        try PersistenceError.explaining(.readFailed) {
            try changing {
                try $0.update(selection, of: plan, prepared)
            } _: {
                try $0.update(selection, of: plan, prepared)
            }
        }
    }

    /// Deletes models, and what they own.
    ///
    /// - Parameters:
    ///   - selection: selects the models.
    ///   - plan: the models' entity.
    /// - Returns: how many are selected.
    /// - Throws: ``PersistenceError``
    func delete(_ selection: RecordSelection, of plan: EntityPlan) throws -> Int {
        try PersistenceError.explaining(.readFailed) {
            try changing {
                try $0.delete(of: plan, after: true) { try $0.deletions(of: plan, selection) }
            } _: {
                try $0.delete(selection, of: plan)
            }
        }
    }

    /// Deletes models, and what they own.
    ///
    /// - Parameters:
    ///   - identifiers: the models' identifiers, in the form that rows hold; those that are not stored are skipped.
    ///   - plan: the models' entity.
    /// - Returns: how many are stored.
    /// - Throws: ``PersistenceError``
    func delete(_ identifiers: [StoredValue], of plan: EntityPlan) throws -> Int {
        try PersistenceError.explaining(.readFailed) {
            try changing {
                try $0.delete(of: plan, after: false) { try $0.deletions(identifiers, of: plan) }
            } _: {
                try $0.delete(identifiers, of: plan)
            }
        }
    }

    /// Ends a block that writes: its changes go to the store.
    func finish() throws {
        try cancellation?.check()
        guard let changes, !changes.isEmpty else { return }
        do { try changes.finish() } catch is NeedsObjects {
            return try PersistenceError.explaining(.saveFailed) { try replay() }
        } catch let error as PersistenceError {
            throw error
        } catch {
            throw PersistenceError(saving: error)
        }
        replaced = changes.replaced
        self.changes = nil
        replays = []
    }

    // MARK: Objects

    /// The objects that the block uses from now on. A block that writes runs on the queue of their context.
    package func objectSource() throws -> any ObjectSource { try objects().rows.objects }

    private func objects() throws -> ObjectChanges {
        try replay()
        return try currentObjects()
    }

    private func currentObjects() throws -> ObjectChanges {
        if hasEnded { throw PersistenceError.blockEnded }
        if let madeObjects { return madeObjects }
        guard let turn else { throw PersistenceError.changedInRead(entities: asked.map(\.name)) }
        let objects = ObjectChanges(ObjectRows(try turn.objects(), manager.storeRows))
        madeObjects = objects
        return objects
    }

    /// Does what was done to rows to objects of the context, and forgets the rows.
    private func replay() throws {
        changes = nil
        let work = replays
        replays = []
        guard !work.isEmpty else { return }
        let objects = try currentObjects()
        for change in work { try change(objects) }
    }

    /// Does work with objects, on the queue of whose context a block that writes runs.
    private func onObjects<Result>(_ work: (ObjectChanges) throws -> Result) throws -> Result {
        try PersistenceError.explaining(.readFailed) { try work(objects()) }
    }

    /// Saves the objects, if there are any whose unique values the save may settle.
    func settleObjects(of plan: EntityPlan) throws {
        let settles = plan.facts.contains { if case .unique(_, .some) = $0 { true } else { false } }
        guard settles, let madeObjects, madeObjects.rows.objects.hasChanges else { return }
        replaced += try madeObjects.rows.objects.save(madeObjects.new)
    }

    // MARK: Plans

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
}
