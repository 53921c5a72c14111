import StoreSession

/// What a block that writes has changed, as rows: saves, deletions and updates become change sets, each made for the
/// rows as the block sees them, and all of them one save when the block ends.
///
/// It throws `NeedsObjects` where managed objects have a say.
final class BlockChanges {
    /// The rows of the state in which the transaction began.
    private let rows: StoreRows
    /// The same rows with the block's changes.
    private let changedRows: StoreRows
    private let store: SessionStore
    private let transaction: OptimisticTransaction
    private let registry: ModelRegistry
    private let unsaved: UnsavedChanges
    private let rules: SaveRules
    /// How many new models were left out for others with the same values.
    private(set) var replaced = 0
    /// A save that is not among the changes yet: it looked its only model up outside of the transaction.
    private var guarded: (save: any RowSave, mode: SaveMode)?
    /// Deletions that are not among the changes yet: those that follow one another are followed to other rows together.
    private var deletion: DeletedRows?
    /// The models of the saves whose keys are not in `savedKeys`.
    private var unread: [ModelGraph] = []
    private var savedKeys: Set<SavedKey> = []
    /// Whether rows were changed that are not those of saved models.
    private var hasChangedOthers = false

    private struct SavedKey: Hashable {
        let entity: ObjectIdentifier
        let key: RecordKey
    }

    /// No changes yet; nil for stores that do not take rows.
    ///
    /// - Parameters:
    ///   - rows: the store's rows, in the transaction's state.
    ///   - transaction: the transaction of the block.
    ///   - registry: knows the plans of the models.
    init?(_ rows: StoreRows, _ transaction: OptimisticTransaction, _ registry: ModelRegistry) {
        guard let store = rows.session.onlyStore, store.savesRows, store.engine.previews != nil else { return nil }
        (self.rows, self.store, self.transaction, self.registry) = (rows, store, transaction, registry)
        unsaved = UnsavedChanges(rows.session, store, transaction)
        rules = SaveRules(rows: rows, registry: registry)
        changedRows = rows.reading(.unsaved(unsaved))
    }

    var isEmpty: Bool { unsaved.isEmpty && guarded == nil && deletion == nil }

    // MARK: Questions

    /// The rows that questions are asked of.
    func current() throws -> StoreRows {
        try flush()
        return try shown()
    }

    /// The rows with the changes so far.
    private func shown() throws -> StoreRows {
        if unsaved.isEmpty { return rows }
        try settling { try unsaved.show() }
        return unsaved.isEmpty ? rows : changedRows
    }

    /// The rows that a model without relationships is read from: those of the store, if none of the changes concerns
    /// that model.
    func current(finding key: RecordKey, of plan: EntityPlan) throws -> StoreRows {
        let isUnchanged =
            plan.relationships.isEmpty && guarded == nil && deletion == nil && !hasChangedOthers && !unsaved.isShown
            && !isSaved(key, plan)
        return isUnchanged ? rows : try current()
    }

    /// The key that the next new row of a model's entity would get; nil for a store that gives out none.
    func nextKey(of plan: EntityPlan) throws -> Int64? {
        // What waits would get it.
        if guarded != nil { try flush() }
        guard let next = try unsaved.nextKey(of: rows.layout(of: plan)) else { return nil }
        // What the block saves depends on the number: if somebody else takes it first, the block runs again.
        if !next.isReserved { try transaction.reading {} }
        return next.key
    }

    // MARK: Saves

    /// Saves models.
    ///
    /// - Returns: what became of each given model.
    /// - Throws: `NeedsObjects`, ``PersistenceError``, and what reading throws.
    func save(
        _ graph: ModelGraph, _ mode: SaveMode, setting fields: GivenFields?
    ) throws -> [SaveOutcome] {
        if fields == nil, let save = try guardedSave(graph, mode) {
            guarded = (save, mode)
            return save.outcomes
        }
        try flush()
        let save = try lookUp(graph, mode, fields)
        return try add(save, mode)
    }

    /// A save of a single model that need not be looked up in the transaction; nil for every other one.
    ///
    /// The version and the unique identifier of the row guard it, so what others save elsewhere does no harm. A block
    /// that has read before may have decided by what it read, so its save must conflict even if the row already has the
    /// wanted values.
    private func guardedSave(_ graph: ModelGraph, _ mode: SaveMode) throws -> (any RowSave)? {
        guard isEmpty, mode != .only, graph.nodes.count == 1, !graph.hasLeftModels, !transaction.hasRead,
            let (direct, _) = try rows.directPlan(graph.plan, registry), direct.isFoundByUniqueIdentifier
        else { return nil }
        do {
            let save = try DirectSave(graph, direct, rows.reading(.now), store)
            try mode.check(graph) { save.isKnown($0) }
            return save
        } catch is DirectSave.NotDirect { return nil }
    }

    /// Looks models up as the block sees them.
    private func lookUp(
        _ graph: ModelGraph, _ mode: SaveMode, _ fields: GivenFields?
    ) throws -> any RowSave {
        if unsaved.isEmpty { return try makeSave(graph, mode, fields, rows) }
        let isNew = (0..<graph.rootCount).allSatisfy { !isSaved(graph.nodes[$0].key, graph.plan) }
        if mode != .only, isNew, !unsaved.isShown, !roundsKeys(of: graph) {
            do {
                let save = try makeSave(graph, mode, fields, rows)
                if try !meetsChanges(save) { return save }
            } catch {
                // It may refer to what the block has changed. Otherwise the error comes again.
            }
        }
        return try makeSave(graph, mode, fields, try shown())
    }

    /// Whether two different identifiers in a graph may be one in the store.
    private func roundsKeys(of graph: ModelGraph) -> Bool {
        guard rows.session.roundsDates else { return false }
        return graph.tables.contains { $0.plan.record.attributeKinds[$0.plan.uidField] == .date }
    }

    /// Whether the changes so far concern the rows of a save that was looked up without them.
    private func meetsChanges(_ save: any RowSave) throws -> Bool {
        let graph = save.graph
        let isMade = graph.nodes.indices.contains { node in
            save.isNew(node) && isSaved(graph.nodes[node].key, graph.nodes[node].plan)
        }
        return isMade || save.meets(unsaved)
    }

    private func makeSave(
        _ graph: ModelGraph, _ mode: SaveMode, _ fields: GivenFields?, _ source: StoreRows
    ) throws -> any RowSave {
        // What no model of a graph leads to would not be looked up.
        if fields == nil, !graph.hasLeftModels, let (direct, _) = try source.directPlan(graph.plan, registry) {
            do {
                let save = try DirectSave(graph, direct, source, store, replacesAll: mode == .only)
                try mode.check(graph) { save.isKnown($0) }
                return save
            } catch is DirectSave.NotDirect {}
        }
        return try GraphSave(graph, source, mode, setting: fields)
    }

    private func add(_ save: any RowSave, _ mode: SaveMode) throws -> [SaveOutcome] {
        var save = save
        let set: ChangeSet?
        do { set = try save.changeSet(unsaved) } catch is DirectSave.NotDirect where save is DirectSave {
            save = try GraphSave(save.graph, try shown(), mode, setting: nil)
            set = try save.changeSet(unsaved)
        }
        if let set {
            unsaved.add(set)
            if !set.deleted.isEmpty { hasChangedOthers = true }
        }
        unread.append(save.graph)
        return save.outcomes
    }

    /// Whether a model was among the saved ones.
    private func isSaved(_ key: RecordKey, _ plan: EntityPlan) -> Bool {
        // A large graph is asked itself, and a few of them are; many would be asked again and again.
        var large = unread.filter { $0.nodes.count >= 100 }
        if large.count > 4 { large = [] }
        if large.count < unread.count {
            for graph in unread where large.isEmpty || graph.nodes.count < 100 {
                for node in graph.nodes.indices {
                    savedKeys.insert(SavedKey(entity: graph.nodes[node].plan.id, key: graph.nodes[node].key))
                }
            }
            unread = large
        }
        return savedKeys.contains(SavedKey(entity: plan.id, key: key))
            || large.contains { $0.node(key, of: plan) != nil }
    }

    // MARK: Deletions and updates

    /// Deletes rows.
    ///
    /// - Parameters:
    ///   - plan: the models' entity.
    ///   - isOther: whether the rows must not be found before earlier deletions of the block are done.
    ///   - find: finds the rows, each once.
    /// - Returns: how many rows there are.
    /// - Throws: `NeedsObjects`, and what finding them throws.
    func delete(
        of plan: EntityPlan, after isOther: Bool, _ find: (StoreRows) throws -> [RowDeletion]
    ) throws -> Int {
        if isOther || guarded != nil { try flush() }
        let source = try shown()
        try rows.layout(of: plan).checkIsPlain()
        let found = try find(source)
        // Not held twice, since it would be copied then.
        var all = deletion ?? DeletedRows(source)
        deletion = nil
        let count = try all.add(found)
        deletion = all
        return count
    }

    /// Changes rows.
    ///
    /// - Parameters:
    ///   - selection: selects the rows.
    ///   - plan: the models' entity.
    ///   - changes: what is set.
    /// - Returns: how many rows are selected.
    /// - Throws: `NeedsObjects`, ``PersistenceError``, and what reading throws.
    func update(_ selection: RecordSelection, of plan: EntityPlan, _ changes: PreparedChanges) throws -> Int {
        let source = try current()
        let found = try source.rows(of: plan, selection)
        let changed = ChangedRows(source)
        try changes.apply(to: found.map(changed.note), in: changed)
        if let set = try changed.changeSet(unsaved) {
            unsaved.add(set)
            hasChangedOthers = true
        }
        return found.count
    }

    // MARK: The end

    /// Adds what waits to the changes.
    private func flush() throws {
        if let (save, mode) = guarded {
            guarded = nil
            _ = try add(try makeSave(save.graph, mode, nil, rows), mode)
        }
        if let rows = deletion {
            deletion = nil
            if let set = try rows.changeSet() {
                unsaved.add(set)
                hasChangedOthers = true
            }
        }
    }

    /// Saves the changes.
    ///
    /// - Throws: `NeedsObjects`, ``PersistenceError`` for changes that break a rule, the error of a broken transaction,
    ///   and the errors of the store; nothing is saved then.
    func finish() throws {
        if let (save, mode) = guarded, !transaction.hasRead {
            guarded = nil
            _ = try add(save, mode)
            do { return try unsaved.save(checking: rules.checkRequired) } catch is SaveRefusal {
                // Somebody else has saved the model meanwhile, or another one with its values: it is looked up once
                // more, in the transaction.
                unsaved.removeAll()
                _ = try add(try makeSave(save.graph, mode, nil, rows), mode)
            }
        }
        try flush()
        try settling { try unsaved.save(checking: rules.checkRequired) }
    }

    /// Does work with the changes in the store. Values that models would share and must not are settled as the schemas
    /// say, and the work is done again.
    private func settling(_ work: () throws -> Void) throws {
        var rounds = 0
        while true {
            do { return try work() } catch SaveRefusal.constraints(let violations) {
                rounds += 1
                let set = unsaved.changeSet
                // The same identifier twice is a model that somebody else has saved meanwhile.
                if violations.contains(where: rules.isOfOneModel) { throw transaction.breakOff() }
                guard rounds < 10, violations.allSatisfy({ rules.kept($0) != nil }) else {
                    throw rules.error(violations, set)
                }
                let settled = try SettledChanges(set, rules)
                for violation in violations {
                    if let kept = rules.kept(violation) { try settled.settle(violation, keeping: kept) }
                }
                replaced += settled.replaced
                unsaved.removeAll()
                if let rest = try settled.changed.changeSet(unsaved) { unsaved.add(rest) }
                hasChangedOthers = true
            } catch SaveRefusal.optimisticLocking {
                throw transaction.breakOff()
            }
        }
    }
}
