import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

extension OpenDatabase {
    /// Changes rows in one transaction: `UPDATE "car" AS t0 SET "price" = $1, _version = t0._version + 1 WHERE …`.
    func updateBatch(_ plan: BatchUpdatePlan) throws -> BatchOutcome {
        try inBatch("update") {
            let access = try access(plan.rows.entity)
            let (assignments, values) = try assignments(plan, access)
            return try naming(plan) {
                func run() throws -> BatchOutcome {
                    try withRows(plan.rows) { try update($0, plan, assignments, values) }
                }
                guard plan.computes else { return try run() }
                guard try isExact(assignments, bareSQL(plan.rows)) else { return try computedUpdate(plan) }
                do { return try connection.part(run) } catch let error as PostgresError
                    where error.isSyntaxOrTypeError || error.isDivisionByZero || error.isOutOfRange
                { return try computedUpdate(plan) } catch is Inexact { return try computedUpdate(plan) }
            }
        }
    }

    private func update(
        _ rows: BatchRows, _ plan: BatchUpdatePlan, _ assignments: [BatchSQL.Assignment], _ values: [Bind]
    ) throws -> BatchOutcome {
        var outcome = BatchOutcome()
        let derives = derives(from: plan.rows.entity)
        guard plan.wantsIdentifiers || hasHistory || derives else {
            outcome.count = try update(rows, assignments, values)
            return outcome
        }
        // New values may make the condition false, so the rows are found first.
        let identifiers = try identifiers(rows, plan.rows.entity)
        if derives { try batch.derived?.add(updated: identifiers) }
        outcome.count = try update(.keys(bareSQL(plan.rows), identifiers.map(\.key)), assignments, values)
        // Rows that others have deleted meanwhile are fewer, too.
        if outcome.count < identifiers.count, try readRows(identifiers).count > outcome.count {
            throw PostgresStoreError.notWritten(nil, place)
        }
        if plan.wantsIdentifiers { outcome.identifiers = identifiers }
        try noteBatch(.update, identifiers, plan.origin, changed: plan.changes.map(\.slot))
        return outcome
    }

    /// Runs a closure, and has its errors name the attributes that get unsuitable values.
    private func naming<Result>(_ plan: BatchUpdatePlan, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as PostgresError where error.state == "22003" {
            let names = plan.changes.compactMap { slot, change -> String? in
                guard case .expression = change else { return nil }
                return "“\(plan.rows.entity.name).\(plan.rows.entity.slots[slot].name)”"
            }
            guard !names.isEmpty else { throw error }
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreSave,
                "A computed value is no number that \(names.joined(separator: " or ")) holds (\(error.message)); nothing was changed.",
                url: place.shownURL)
        }
    }

    private func bareSQL(_ rows: FetchPlan) throws -> BatchSQL {
        var bare = FetchPlan(entity: rows.entity)
        bare.includesSubentities = rows.includesSubentities
        return try BatchSQL(schema: schema, plan: bare)
    }

    private typealias Bind = (inout PostgresParameters) -> Void

    private func update(_ rows: BatchRows, _ assignments: [BatchSQL.Assignment], _ values: [Bind]) throws -> Int {
        switch rows {
        case .condition(let sql, let context):
            return try query(sql.update(assignments, of: .condition), context, given: values).affected
        case .keys(let sql, let keys):
            let fragment = try sql.update(assignments, of: .keys(KeyTableSQL(Self.keyTable(values.count))))
            return try query(fragment, given: values + [{ $0.append(array: keys) }]).affected
        }
    }

    /// The assignments to columns, and the closures that bind their values.
    private func assignments(
        _ plan: BatchUpdatePlan, _ access: EntityAccess
    ) throws -> ([BatchSQL.Assignment], [Bind]) {
        var assignments: [BatchSQL.Assignment] = []
        var values: [Bind] = []
        for (slot, change) in plan.changes {
            switch change {
            case .value(let value):
                for column in access.columns where column.slot == slot {
                    var sink = ParameterSink()
                    sink.type = column.kind.type
                    try access.writer.write(value, column, to: &sink)
                    assignments.append(.binding(column: column.name, .given(values.count)))
                    values.append { [sink] in $0.append(contentsOf: sink.parameters) }
                    // The object has another place in the order than before, or none.
                    if let order = column.orderColumn { assignments.append(.value(column: order, .null)) }
                }
            case .expression(let expression):
                guard let column = access.mapping.columns[slot], !column.isComposite else { continue }
                let whole = BatchSQL.WholeNumbers(plan.rows.entity.slots[slot], of: plan.rows.entity)
                assignments.append(.expression(column: column.name, expressionTree(of: expression), whole: whole))
            }
        }
        return (assignments, values)
    }
}

extension BatchUpdatePlan {
    /// Whether new values are computed from others.
    fileprivate var computes: Bool {
        changes.contains { if case .expression = $0.change { true } else { false } }
    }
}
