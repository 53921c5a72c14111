import CoreDataModel
import StoreEngine

extension Session {
    /// Saves what a program did to its objects.
    func save(_ step: SaveStep) throws {
        var editor = GraphEditor(graph)
        var new: [(number: Int, entity: EntityLayout)] = []
        for insertion in step.inserted where graph.objects[insertion.number] == nil {
            let entity = try entity(insertion.entity)
            editor.insert(insertion.number, entity)
            new.append((insertion.number, entity))
        }
        try assign(new)
        let edits =
            step.inserted.map { Edit(number: $0.number, values: $0.values, toMany: $0.toMany) } + step.changed
        for edit in edits { apply(edit, to: &editor) }
        for number in step.deleted { editor.delete(number) }
        let changes = GraphChanges(
            editor: editor, stale: Set(step.stale), saysOrders: step.saysOrders, identifier: identifier
        ).changeSet()
        let result = try engine.save(changes) { if step.failsAtEnd { throw IntendedFailure() } }
        let former = editor.graph
        try read()
        try expect(result, since: former)
    }

    /// What a save says of derived attributes is what is stored now, and nothing that has changed is left out.
    private func expect(_ result: SaveResult, since former: Graph) throws {
        var told: [Int: [Int: StoredValue]] = [:]
        for (identifier, slot, value) in result.computed { told[number(identifier), default: [:]][slot] = value }
        for (number, object) in graph.objects {
            for slot in object.entity.derivedSlots {
                let value = told[number]?[slot] ?? former.objects[number]?.values[slot]
                guard value == object.values[slot] else {
                    throw Contradiction(
                        "\(object.entity.name) \(number) has \(object.entity.slots[slot].name) \(object.values[slot]) after a "
                            + "save that says \(String(describing: told[number]?[slot]))")
                }
            }
        }
    }

    private func apply(_ edit: Edit, to editor: inout GraphEditor) {
        guard let entity = editor.graph.objects[edit.number]?.entity else { return }
        for (name, value) in edit.values.sorted(by: { $0.key < $1.key }) {
            guard let slot = entity.slotIndex(forName: name), slot != entity.numberSlot else { continue }
            guard let relationship = entity.slots[slot].relationship else {
                editor.set(edit.number, slot: slot, value.stored(identifier))
                continue
            }
            if case .object(let destination) = value {
                editor.setToOne(edit.number, relationship, destination)
            } else {
                editor.setToOne(edit.number, relationship, nil)
            }
        }
        for (name, list) in edit.toMany.sorted(by: { $0.key < $1.key }) {
            guard let relationship = entity.relationship(named: name), relationship.isToMany else { continue }
            editor.setToMany(edit.number, relationship, list)
        }
    }

    /// Saves one after the other in one transaction, which ends, and is undone, with the first that fails: an engine
    /// may undo the whole for a part.
    func runLongTransaction(_ saves: [SaveStep], commits: Bool) throws -> Outcome {
        guard let transactions = engine.longTransactions else { return .done }
        try transactions.beginLongTransaction(makesIndexesLater: false)
        defer { isChanged = true }
        do {
            for step in saves {
                try save(step)
                try read()
            }
        } catch {
            // What rows are now, in the error, may be those of the transaction or those before it.
            let kind = outcome(of: error).kind
            try transactions.endLongTransaction(commits: false)
            if error is Contradiction { throw error }
            return .failed(kind)
        }
        try transactions.endLongTransaction(commits: commits)
        return .done
    }

    /// New keys come after those that are reserved.
    func reserveKeys(_ entityName: String, more: Int) throws {
        guard let keys = engine.keys else { return }
        let entity = try entity(entityName)
        let first = try engine.makePermanentIdentifiers(for: [entity], isSavedLater: false)
        let reserved = (first.first?.key ?? 0) + Int64(more)
        try keys.reserveKeys(upTo: reserved, of: entity.root)
        let next = try engine.makePermanentIdentifiers(for: [entity], isSavedLater: false)
        guard let key = next.first?.key, key > reserved else {
            throw Contradiction("\(next) is not after \(reserved), up to which keys were reserved")
        }
    }
}
