import Foundation
import StoreSession
import SyncPlanning

// Downloads: portions of rows are noted in the store, and become rows in one transaction once all are there.
extension SyncDevice {
    /// The notes of downloaded rows.
    func notes(of rows: [PageChange]) throws -> [String: Data?] {
        var notes: [String: Data?] = [:]
        var next =
            try portions
            ?? place.session.withLock { try place.noting().noteCount(beginningWith: SyncNote.stage) }
        var byEntity: [String: StagedRows] = [:]
        for row in rows {
            switch row {
            case .row(let id, let values, let scope), .values(let id, let values, let scope):
                byEntity[id.entity, default: StagedRows(entity: id.entity)].add(id.key.string, values, scope)
            default: continue
            }
        }
        for (entity, staged) in byEntity {
            let mapping = place.mapping
            guard let number = mapping.place(of: entity), let order = mapping.order.firstIndex(of: number) else {
                continue
            }
            notes[SyncNote.stage(order, next)] = staged.data
            next += 1
        }
        portions = next
        return notes
    }

    func emptyStage() throws {
        portions = nil
        while true {
            let names = try place.session.withLock {
                try place.noting().notes(beginningWith: SyncNote.stage, after: nil, limit: 16).map(\.name)
            }
            if names.isEmpty { return }
            try place.exclusively { transaction in
                try place.write([:], contextName: nil, in: transaction) { _ in
                    Dictionary(uniqueKeysWithValues: names.map { ($0, nil) })
                }
            }
        }
    }

    /// Reads the noted portions one after the other.
    ///
    /// - Returns: their names, to delete them.
    func forEachPortion(_ body: (StagedRows) throws -> Void) throws -> [String: Data?] {
        var names: [String: Data?] = [:]
        var last: String?
        while let note = try place.noting().notes(beginningWith: SyncNote.stage, after: last, limit: 1).first {
            let rows: StagedRows
            do { rows = try StagedRows(note.data) } catch { throw SyncError.damaged(place.name, error) }
            try body(rows)
            names.updateValue(nil, forKey: note.name)
            last = note.name
        }
        return names
    }

    /// Fills a store that has no rows with the downloaded ones, a portion at a time and in one transaction.
    ///
    /// - Returns: nil if the store has something: nothing was done then.
    func fill(_ order: RebaseOrder) throws -> StoreResult? {
        try place.inOneTransaction {
            let moment = try DeviceMoment(place, nil)
            guard order.restored == nil, try moment.isEmpty() else { return nil }
            let mark = SyncMark(number: order.end, time: 0).contextName
            let changed = try changes(after: order, moment.content)
            let names = try forEachPortion { portion in
                if let entity = place.mapping[portion.entity], entity.standsAlone,
                    try insert(portion, of: entity, leavingOut: changed, mark)
                {
                    return
                }
                let targets = portion.planned.filter { changed[$0.key] == nil }.mapValues(Optional.some)
                try place.write(targets, contextName: mark, in: nil) { _ in [:] }
            }
            try place.write(changed, contextName: mark, in: nil) { _ in [:] }
            // What referred to rows that came later does so now.
            _ = try forEachPortion { portion in
                guard let entity = place.mapping[portion.entity] else { return }
                let late = place.mapping.lateProperties(of: entity)
                if late.isEmpty { return }
                var targets: [RowID: PlannedRow?] = [:]
                for (id, row) in portion.planned where changed[id] == nil {
                    let values = row.values.filter { late.contains($0.key) && !$0.value.references.isEmpty }
                    if !values.isEmpty { targets[id] = .some(PlannedRow(values: values)) }
                }
                try place.write(targets, contextName: mark, in: nil) { _ in [:] }
            }
            var content = moment.content
            content.record = order.record
            content.captured = try place.parts().history.latestTransaction()
            content.note(cursor: order.end, after: content.captured)
            try place.write([:], contextName: nil, in: nil) { [content] _ in
                try content.notes(replacing: moment.content).merging(names) { $1 }
            }
            portions = nil
            return .rebased(hasOpen: false)
        }
    }

    /// Writes downloaded rows of an entity whose rows stand alone, without looking for what is there.
    ///
    /// - Returns: false if there were such rows: nothing was written then.
    private func insert(
        _ portion: StagedRows, of entity: SyncMapping.Entity, leavingOut others: [RowID: PlannedRow?], _ mark: String
    ) throws -> Bool {
        let (store, _) = try place.parts()
        var ends: [RowID: NSManagedObjectID] = [:]
        if entity.hasReferences {
            ends = try place.reading().identifiers(
                of: Set(portion.rows.lazy.flatMap(\.list).flatMap { $0?.references ?? [] }))
        }
        let properties = portion.names.map { name in entity.properties.first { $0.name == name }?.place }
        var plan = BatchInsertPlan(entity: entity.layout)
        plan.origin.contextName = mark
        var rows = portion.rows.makeIterator()
        do {
            _ = try place.session.insertBatch(plan, stores: [store]) { row in
                while let next = rows.next() {
                    if !others.isEmpty, others.keys.contains(RowID(entity.name, next.key)) { continue }
                    guard let key = SyncValues.key(next.key, entity.key) else { continue }
                    row.values[entity.keySlot] = key
                    for (property, value) in zip(properties, next.list) {
                        guard let property, let value else { continue }
                        switch property {
                        case .attribute(let slot, let attribute):
                            row.values[slot] = SyncValues.stored(value, attribute)
                        case .element(let slot, let path, let attribute):
                            guard let composite = entity.layout.slots[slot].attribute else { continue }
                            row.values[slot] = RowWriting.setting(
                                SyncValues.stored(value, attribute), at: path[...], of: row.values[slot], composite)
                        case .reference(let relationship):
                            guard case .reference(let id) = value, let end = ends[id] else { continue }
                            row.values[relationship.slot] = .identifier(end)
                        case .list: continue
                        }
                    }
                    return true
                }
                return false
            }
        } catch let error as NSError where error.code == CoreDataErrorCode.managedObjectConstraintMerge {
            // A row was downloaded twice: the later one replaces what the first one has made.
            return false
        }
        return true
    }

    /// The rows that the server has changed while it was read, as they are to be.
    private func changes(after order: RebaseOrder, _ content: DeviceContent) throws -> [RowID: PlannedRow?] {
        if order.transactions.isEmpty { return [:] }
        let input = RebaseInput(
            order: order, record: content.record, schema: place.schema, frozen: nil, open: [])
        var facts = RowFacts()
        while true {
            switch try Rebasing.step(input, rules: .none, facts: facts) {
            case .done(let plan): return plan.shown
            case .note: throw SyncError.damaged(place.name, CocoaError(.featureUnsupported))
            case .needs(let questions):
                facts.answers = questions.answers
                for id in questions.rows where facts.rows[id] == nil { facts.rows[id] = .absent }
                for id in questions.referrers where facts.referrers[id] == nil { facts.referrers[id] = [] }
                for key in questions.holders where facts.holders[key] == nil { facts.holders[key] = [] }
                _ = try forEachPortion { DeviceMoment.answer(questions, from: $0.planned, &facts) }
            }
        }
    }
}
