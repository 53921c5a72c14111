import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// Changes rows in one transaction: `UPDATE ZCAR AS t0 SET ZPRICE = ?, Z_OPT = t0.Z_OPT + 1 WHERE …`.
    func updateBatch(_ plan: BatchUpdatePlan) throws -> BatchOutcome {
        // A part of a long transaction cannot be repeated.
        guard filesOfLongTransaction == nil else { return try updateBatch(plan, countsWhatFits: false) }
        do {
            return try updateBatch(plan, countsWhatFits: true)
        } catch is ValueDoesNotFit {
            return try updateBatch(plan, countsWhatFits: false)
        }
    }

    /// Ends a transaction that left out rows because their new values do not fit.
    private struct ValueDoesNotFit: Error {}

    /// Changes rows, and checks computed values in one of two ways: by a condition, and by how many rows met it; or by
    /// a function for each, which says which value does not fit. But a statement that calls functions may end amid its
    /// rows, and SQLite copies all pages that it changes because of that.
    private func updateBatch(_ plan: BatchUpdatePlan, countsWhatFits: Bool) throws -> BatchOutcome {
        let access = try access(plan.rows.entity)
        let tables: Set = [access.mapping.table]
        return try inBatch("update") { files, aggregates in
            let (sql, binding) = try batchSQL(plan.rows)
            let assignments = try assignments(of: plan, access, sql)
            let external = plan.changes.map(\.slot).filter(access.writer.externalSlots.contains)
            var outcome = BatchOutcome()
            guard history != nil || plan.wantsIdentifiers || !external.isEmpty else {
                try aggregates.begin(on: tables) { try number(of: sql, binding) }
                let count = { try sql.count.flatMap { try self.connection.integer($0) }.map { Int($0) } }
                outcome.count = try change(.condition, assignments, sql, binding, countsWhatFits ? count : nil)
                return outcome
            }
            if history == nil, external.isEmpty, connection.returnsChangedRows {
                try aggregates.begin(on: tables) { try number(of: sql, binding) }
                let update = try sql.update(
                    assignments, of: .condition, computesFirst: connection.updatesFromSelections)
                let returning: SQLFragment = "\(update) RETURNING \(.key), \(.entity)"
                outcome.identifiers = try identifiers(of: connection.prepare(returning, binding), plan.rows.entity)
                outcome.count = outcome.identifiers.count
                return outcome
            }
            let keys = try KeyTable("updated", on: connection)
            let count = try run(keys.sql.fill(sql.keys), binding)
            // Without rows, nothing is written, and no transaction of a history either.
            if count == 0 { return outcome }
            try aggregates.begin(on: tables) { count }
            try noteFiles(of: access, external, where: keys.sql.selects, files)
            if let history {
                let run = history.begin(plan.origin)
                let names = plan.changes.map { plan.rows.entity.slots[$0.slot].name }
                for mapping in try mappings(of: plan.rows) {
                    try note(.update, of: mapping, where: keys.sql.selects, changing: names, in: run)
                }
                try run.finish()
            }
            outcome.count = try change(
                .keys(keys.sql), assignments, sql, binding, countsWhatFits ? { count } : nil)
            if plan.wantsIdentifiers { outcome.identifiers = try identifiers(in: keys, plan.rows.entity) }
            return outcome
        }
    }

    private func assignments(
        of plan: BatchUpdatePlan, _ access: EntityAccess, _ sql: BatchSQL
    ) throws -> [BatchSQL.Assignment] {
        var assignments: [BatchSQL.Assignment] = []
        for (slot, change) in plan.changes {
            let slotLayout = plan.rows.entity.slots[slot]
            try access.mapping.checkAvailable(slotLayout.name, url: file.url)
            switch change {
            case .value(let value):
                assignments += try access.writer.columns(of: value, slot: slot).map {
                    .value(column: $0.name, $0.value)
                }
            case .expression(let expression):
                guard let column = access.mapping.columns[slot], !column.isComposite else { continue }
                let tree = expressionTree(of: expression)
                let whole = BatchSQL.WholeNumbers(slotLayout, of: plan.rows.entity)
                let name = "\(plan.rows.entity.name).\(slotLayout.name)"
                let content = try sql.content(of: tree, for: column, named: name)
                if content.readsFiles { try StoreFunctions.registerContent(on: connection, external) }
                assignments.append(.expression(column: column.name, tree, whole: whole, content: content))
            }
        }
        return assignments
    }

    /// How many rows a request changes, at most as many as are of interest.
    func number(of sql: BatchSQL, _ binding: BindingContext) throws -> Int {
        let count = try connection.prepare(sql.count(upTo: LaterAggregates.many), binding)
        defer { count.reset() }
        return try count.step() ? Int(count.integer(at: 0)) : 0
    }

    /// Changes rows. Computed values are checked by how many rows they fit, if it is known how many there are.
    ///
    /// - Throws: `ValueDoesNotFit`, SQLite's errors, and an `NSError` for an expression that SQL cannot express.
    private func change(
        _ rows: BatchSQL.Selection, _ assignments: [BatchSQL.Assignment], _ sql: BatchSQL, _ binding: BindingContext,
        _ count: (() throws -> Int?)?
    ) throws -> Int {
        guard let count, let update = try sql.updateWhatFits(assignments, of: rows, SQLiteDialect.holdsWholeNumber),
            let expected = try count()
        else {
            let update = try sql.update(assignments, of: rows, computesFirst: connection.updatesFromSelections)
            return try run(update, binding)
        }
        let changed = try run(update, binding)
        guard changed == expected else { throw ValueDoesNotFit() }
        return changed
    }

    /// The IDs of the rows of a request, without those that a deletion deleted by cascading.
    func identifiers(in keys: KeyTable, _ entity: EntityLayout) throws -> [NSManagedObjectID] {
        try identifiers(of: connection.prepare(keys.sql.rows), entity)
    }

    /// The IDs of a statement's rows, by their keys and the numbers of their entities.
    private func identifiers(of statement: Statement, _ entity: EntityLayout) throws -> [NSManagedObjectID] {
        var identifiers: [NSManagedObjectID] = []
        while try statement.step() {
            let layout = self.entity(numbered: statement.integer(at: 1), kindOf: entity) ?? entity
            identifiers.append(NSManagedObjectID(layout: layout, store: identity, key: statement.integer(at: 0)))
        }
        return identifiers
    }
}
