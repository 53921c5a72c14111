import CoreDataModel
import StoreEngine

extension Session {
    private func batches() throws -> any BatchEngine {
        guard let batches = engine.batches else { throw Contradiction("the engine has no batches") }
        return batches
    }

    func insertBatch(_ step: InsertBatchStep) throws -> Outcome {
        let entity = try entity(step.entity)
        var plan = BatchInsertPlan(entity: entity)
        plan.conflicts =
            switch step.conflicts {
            case .fail: .fail
            case .replace: .replace
            case .keep: .keep
            }
        plan.wantsIdentifiers = step.wantsIdentifiers
        var rest = step.rows.filter { graph.objects[$0.number] == nil }[...]
        var given = 0
        let outcome = try batches().insertBatch(plan) { row in
            if given == step.failsAfter { throw IntendedFailure() }
            guard let next = rest.popFirst() else { return false }
            given += 1
            row.values[entity.numberSlot] = .integer(Int64(next.number))
            if step.tellsWhatIsGiven {
                row.isGiven = ContiguousArray(repeating: false, count: row.values.count)
            } else {
                row.isGiven = []
            }
            for (name, value) in next.values {
                guard let slot = entity.slotIndex(forName: name) else { continue }
                row.values[slot] = stored(value, entity.slots[slot])
                if step.tellsWhatIsGiven { row.isGiven[slot] = true }
            }
            return true
        }
        try read()
        return .batch(count: outcome.count, outcome.identifiers.map(number))
    }

    func updateBatch(_ step: UpdateBatchStep) throws -> Outcome {
        var plan = BatchUpdatePlan(rows: try plan(step.rows))
        plan.wantsIdentifiers = step.wantsIdentifiers
        let entity = plan.rows.entity
        for (name, value) in step.values {
            guard let slot = entity.slotIndex(forName: name), slot != entity.numberSlot else { continue }
            plan.changes.append((slot, .value(stored(value, entity.slots[slot]))))
        }
        for (name, format) in step.expressions where step.values[name] == nil {
            guard let slot = entity.slotIndex(forName: name), slot != entity.numberSlot else { continue }
            plan.changes.append((slot, .expression(try expression(format))))
        }
        plan.changes.sort { $0.slot < $1.slot }
        let outcome = try batches().updateBatch(plan)
        return .batch(count: outcome.count, outcome.identifiers.map(number).sorted())
    }

    func deleteBatch(_ step: DeleteBatchStep) throws -> Outcome {
        var plan = BatchDeletePlan(rows: try plan(step.rows))
        plan.identifiers = step.objects?.compactMap { number in
            identifier(number).flatMap { $0.layout.isKind(of: plan.rows.entity) ? $0 : nil }
        }
        plan.wantsIdentifiers = step.wantsIdentifiers
        let outcome = try batches().deleteBatch(plan)
        return .batch(count: outcome.count, outcome.identifiers.map(number).sorted())
    }

    private func stored(_ value: PlainValue, _ slot: SlotLayout) -> StoredValue {
        guard let relationship = slot.relationship else { return value.stored(identifier) }
        guard case .object(let number) = value, graph.contains(number, of: relationship.destination) else {
            return .null
        }
        return value.stored(identifier)
    }
}
