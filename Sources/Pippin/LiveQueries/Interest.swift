import StoreSession

/// What an observation reported last, and which saves can change that.
final class Interest: @unchecked Sendable {
    // @unchecked Sendable: the variables are only accessed with the lock held. They are not in a `Locked` value, since
    // each save asks a hundred interests, and copying the parts out would take most of the time. For the same reason,
    // accesses are not checked for overlaps.
    private let lock = NSLock()
    private let selection: Selection?
    private let isSelection: Bool
    private let leadsToOthers: Bool
    /// The entities that were asked for; nil until that is known.
    @exclusivity(unchecked) private var entities: Set<String>?
    /// The only entity, which is compared faster; nil for several.
    @exclusivity(unchecked) private var entity: String?
    /// Whether a reading is under way. Every save counts from the signal of a change until the result of the reading is
    /// known.
    @exclusivity(unchecked) private var isReading = true
    /// The identifiers of the models that were reported last.
    @exclusivity(unchecked) private var listed: () -> Set<RecordKey> = { [] }
    /// The primary keys of their rows, where these are known.
    @exclusivity(unchecked) private var listedKeys: ContiguousArray<Int64>?
    /// The filter, for the rows of one layout.
    @exclusivity(unchecked) private var condition = RowCondition.unknown
    @exclusivity(unchecked) private var layout: ObjectIdentifier?
    /// The filter; nil for none, and as long as `isPlain` is unknown.
    @exclusivity(unchecked) private var predicate: NSPredicate?
    /// Whether the filter uses only attributes of the models; nil until a save asks.
    @exclusivity(unchecked) private var isPlain: Bool?

    init(_ selection: Selection? = nil) {
        self.selection = selection
        isSelection = selection != nil
        leadsToOthers = (selection?.lists.count ?? 0) > 1
    }

    private func withLock<Result>(_ work: () -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return work()
    }

    /// Whether nothing has been read yet.
    var isNew: Bool { withLock { entities == nil } }

    /// Notes that another state is about to be read.
    func willRead() { withLock { isReading = true } }

    /// Notes the entities that were asked for.
    func ask(for asked: Set<String>) {
        withLock {
            let all = (entities ?? []).union(asked)
            (entities, entity) = (all, all.count == 1 ? all.first : nil)
        }
    }

    /// Notes the state that was read and will be reported.
    ///
    /// - Parameters:
    ///   - state: the state.
    ///   - keys: the primary keys of the rows of a list; nil where these are not known.
    func didRead<State>(_ state: State, keys: ContiguousArray<Int64>? = nil) {
        if let keys {
            return withLock {
                isReading = false
                listedKeys = keys
                listed = { [] }
            }
        }
        guard let listed = (state as? any Collection).map({ models in { Self.keys(of: models) } }) else {
            return withLock { isReading = selection != nil }
        }
        // Computed once, when a save first asks for it.
        var made: Set<RecordKey>?
        withLock {
            isReading = false
            listedKeys = nil
            self.listed = {
                let keys = made ?? listed()
                made = keys
                return keys
            }
        }
    }

    private static func keys(of models: any Collection) -> Set<RecordKey> {
        func key<Model: CoreModel>(_ model: Model) -> RecordKey? { try? Model.recordKey(of: model.id) }
        var keys: Set<RecordKey> = []
        for case let model as any CoreModel in models { if let key = key(model) { keys.insert(key) } }
        return keys
    }
}

extension Interest {
    /// Prepares what every save is compared with, so that the first save need not.
    ///
    /// - Parameter model: knows the entities of the rows that are saved.
    func prepare(for model: ModelLayout) {
        guard let selection, let entity = model.entityByName[selection.plan.name] else { return }
        withLock {
            guard layout != ObjectIdentifier(entity), !asksBeyondModels() else { return }
            prepareCondition(for: entity)
        }
    }

    private func prepareCondition(for entity: EntityLayout) {
        (condition, layout) = (RowCondition(predicate, entity), ObjectIdentifier(entity))
    }

    /// Whether a save may change what was reported: false only if it certainly does not.
    func isTouched(by written: WrittenRows) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard asks(for: written) else { return false }
        guard !isReading, isSelection, let rows = written.rows, !asksBeyondModels() else { return true }
        for place in rows.indices {
            // By index: the row is read in place, without retaining it.
            let isOutside = layout == rows[place].identity && !condition.mayHold(rows[place].values)
            if isOutside && rows[place].isNew { continue }
            if isTouched(by: rows[place]) { return true }
        }
        return !written.deleted.isEmpty && deletes(written)
    }

    private func asks(for written: WrittenRows) -> Bool {
        if let entity, let other = written.entity { return entity == other }
        guard let entities else { return true }
        return !entities.isDisjoint(with: written.entities)
    }

    /// Whether the filter may use values of models that the models lead to, or cannot be made.
    private func asksBeyondModels() -> Bool {
        if let isPlain { return !isPlain && leadsToOthers }
        guard let selection else { return true }
        do { predicate = try selection.predicate() } catch { return true }
        let isPlain = selection.isPlain(predicate)
        self.isPlain = isPlain
        return !isPlain && leadsToOthers
    }

    private func isTouched(by row: WrittenRows.Row) -> Bool {
        guard let selection else { return true }
        guard let lists = selection.lists[row.layout.name] else { return false }
        let isSelected = row.layout.name == selection.plan.name
        if row.isNew {
            // The models that lead to a new row have changed as well.
            guard isSelected else { return false }
        } else if isPlain == true, row.changedSlots.isEmpty,
            !row.changedLists.contains(where: { lists.contains($0.relationship.name) })
        {
            // Only the other side of a relationship changed. No model shows it, and the filter does not use it.
            return false
        }
        guard isSelected, row.isNew || !selection.isWithinItself else { return true }
        if layout != row.identity { prepareCondition(for: row.layout) }
        if condition.mayHold(row.values) { return true }
        return row.isNew ? false : wasListed(row, selection)
    }

    private func deletes(_ written: WrittenRows) -> Bool {
        guard let selection else { return true }
        return written.deleted.contains { selection.lists[$0] != nil }
    }

    /// Whether a changed row was among the models that were reported, and may not be any more.
    private func wasListed(_ row: WrittenRows.Row, _ selection: Selection) -> Bool {
        if let listedKeys { return listedKeys.contains(row.key) }
        guard let slot = row.layout.slotIndex(forName: selection.plan.uidKey), !row.changedSlots.contains(slot),
            let key = RecordKey(row.values[slot], selection.plan.record.attributeKinds[selection.plan.uidField])
        else { return true }
        return listed().contains(key)
    }
}
