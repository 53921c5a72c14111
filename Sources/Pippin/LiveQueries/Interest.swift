import CoreData

/// What an observation was told last, and which saves can change that.
final class Interest: Sendable {
    private let facts: Locked<Facts>

    fileprivate struct Facts {
        /// The entities that were asked for; nil until that is known.
        var entities: Set<String>?
        let selection: Selection?
        /// From when a change was heard of until its outcome is known, every save counts.
        var isReading = true
        /// The identifiers of the models that were told of last.
        var listed: () -> Set<RecordKey> = { [] }
        #if !canImport(ObjectiveC)
            var condition: (layout: ObjectIdentifier, test: RowCondition)?
            /// Whether the filter asks for nothing but attributes of the models; nil until that is known.
            var isPlain: Bool?
        #endif
    }

    init(_ selection: Selection? = nil) { facts = Locked(Facts(selection: selection)) }

    /// Whether nothing has been read yet.
    var isNew: Bool { facts.withLock { $0.entities == nil } }

    /// Another state is about to be read.
    func willRead() { facts.withLock { $0.isReading = true } }

    /// The entities that were asked for.
    func ask(for entities: Set<String>) { facts.withLock { $0.entities = ($0.entities ?? []).union(entities) } }

    /// A state was read, and is told.
    func didRead<State>(_ state: State) {
        guard let listed = (state as? any Collection).map({ models in { Self.keys(of: models) } }) else {
            return facts.withLock { $0.isReading = $0.selection != nil }
        }
        // Made when a save asks for it, and once.
        var made: Set<RecordKey>?
        facts.withLock {
            $0.isReading = false
            $0.listed = {
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

    // MARK: Saves

    #if !canImport(ObjectiveC)
        /// Rows so many that reading again costs less than looking at each.
        private static let manyRows = 64

        /// Whether a save may change what was told.
        ///
        /// - Parameters:
        ///   - entities: the entities that it touches.
        ///   - rows: what it wrote, where that is known.
        /// - Returns: false only where it certainly does not.
        func isTouched(by entities: Set<String>, _ rows: ChangeSet?) -> Bool {
            facts.withLock { facts in
                guard let known = facts.entities else { return true }
                guard !known.isDisjoint(with: entities) else { return false }
                guard !facts.isReading, let rows, let selection = facts.selection,
                    rows.inserted.count + rows.updated.count <= Self.manyRows
                else { return true }
                let isPlain = facts.isPlain ?? selection.isPlain
                facts.isPlain = isPlain
                // A filter may ask for anything that models lead to.
                if !isPlain, selection.lists.count > 1 { return true }
                for change in rows.inserted where facts.isTouched(by: change, selection, isNew: true) { return true }
                for change in rows.updated where facts.isTouched(by: change, selection, isNew: false) { return true }
                return rows.deleted.contains { selection.lists[$0.objectID.layout.name] != nil }
            }
        }
    #endif
}

#if !canImport(ObjectiveC)
    extension Interest.Facts {
        fileprivate mutating func isTouched(
            by change: RowChange, _ selection: Interest.Selection, isNew: Bool
        ) -> Bool {
            let layout = change.objectID.layout
            guard let lists = selection.lists[layout.name] else { return false }
            let isSelected = layout.name == selection.plan.name
            if isNew {
                // What leads to a new row has changed as well.
                guard isSelected else { return false }
            } else if isPlain == true, change.changedSlots.isEmpty,
                !change.toManyChanges.contains(where: { lists.contains($0.relationship.name) })
            {
                // Only the other side of a relationship changed, which nobody sees, and by which the filter does not ask.
                return false
            }
            guard isSelected, isNew || !selection.isWithinItself else { return true }
            if condition?.layout != ObjectIdentifier(layout) {
                guard let predicate = try? selection.predicate() else { return true }
                condition = (ObjectIdentifier(layout), RowCondition(predicate, layout))
            }
            guard let condition, !condition.test.mayHold(change.values) else { return true }
            if isNew { return false }
            // It was among the models that were told of, and may be no more.
            guard let slot = layout.slotIndex(forName: selection.plan.uidKey), !change.changedSlots.contains(slot),
                let key = RecordKey(
                    change.values[slot], selection.plan.record.attributeKinds[selection.plan.uidField])
            else { return true }
            return listed().contains(key)
        }
    }
#endif
