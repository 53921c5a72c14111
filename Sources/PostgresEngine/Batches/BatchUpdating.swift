import CoreDataModel
import Foundation
import PostgresConnection
import PredicateFormat
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
        let slots = plan.changes.map(\.slot)
        if derives { try noteDerived(updated: identifiers, changing: slots) }
        let former = try formerValues(of: identifiers, changing: slots)
        outcome.count = try update(.keys(bareSQL(plan.rows), identifiers.map(\.key)), assignments, values)
        // Rows that others have deleted meanwhile are fewer, too.
        if outcome.count < identifiers.count, try readRows(identifiers).count > outcome.count {
            throw PostgresStoreError.notWritten(nil, place)
        }
        if plan.wantsIdentifiers { outcome.identifiers = identifiers }
        try noteBatch(.update, identifiers, plan.origin, changed: slots, former: former)
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
                "A computed value is not a number that \(names.joined(separator: " or ")) holds (\(error.message)); nothing was changed.",
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

// For values that the database computes otherwise than memory does, or not at all: they are computed here, on the rows
// that the request applies to.
extension OpenDatabase {
    /// How many rows are written at once.
    private static let computedPortion = 8192

    /// Whether the database computes the new values as memory does.
    func isExact(_ assignments: [BatchSQL.Assignment], _ sql: BatchSQL) throws -> Bool {
        let update = try sql.update(assignments, of: .keys(KeyTableSQL(Self.keyTable(0))))
        return update.isExactInPostgres
    }

    /// Changes rows to values that are computed here.
    ///
    /// - Throws: an `NSError` that names the attribute, if it does not hold a value.
    func computedUpdate(_ plan: BatchUpdatePlan) throws -> BatchOutcome {
        let access = try access(plan.rows.entity)
        let fetchQuery = try FetchQuery(plan.rows, ordered: plan.rows.limit > 0 || plan.rows.offset > 0)
        let found = try evaluatedRows(plan.rows, fetchQuery).map(\.objectID).sorted { $0.key < $1.key }
        // Another transaction may have changed the rows meanwhile; from here on, they are locked.
        try query(RowStatements.lock(access.mapping.table), keys: found.map(\.key))
        let rows = try readRows(found)
        let identifiers = rows.map(\.objectID)
        let slots = plan.changes.map(\.slot)
        try noteDerived(updated: identifiers, changing: slots)
        let former = try formerValues(of: identifiers, changing: slots)
        let columns = access.columns.filter { slots.contains($0.slot) }
        let graph = EvaluationRows(self)
        let operands = graph.operands(for: rows)
        let statement = RowStatements.set(access.mapping.table, columns)
        var outcome = BatchOutcome()
        for start in stride(from: 0, to: rows.count, by: Self.computedPortion) {
            let portion = start..<min(start + Self.computedPortion, rows.count)
            var parameters = PostgresParameters()
            parameters.append(array: portion.map { identifiers[$0].key })
            for column in columns {
                guard let change = plan.changes.first(where: { $0.slot == column.slot })?.change else { continue }
                let values = try values(of: change, operands[portion], column.slot, of: plan.rows.entity)
                var array = PostgresArray(column.kind.type)
                for value in values { try access.writer.write(value, column, to: &array) }
                parameters.append(array)
            }
            if let failure = graph.failure { throw failure }
            outcome.count += try connection.query(statement, parameters).affected
        }
        if plan.wantsIdentifiers { outcome.identifiers = identifiers }
        try noteBatch(.update, identifiers, plan.origin, changed: slots, former: former)
        return outcome
    }

    private func values(
        of change: BatchUpdatePlan.Change, _ operands: ArraySlice<RowOperand>, _ slot: Int, of entity: EntityLayout
    ) throws -> [StoredValue] {
        switch change {
        case .value(let value): return operands.map { _ in value }
        case .expression(let expression):
            let compiled = CompiledExpression(expressionTree(of: expression))
            return try StoreError.evaluating {
                try operands.map { try stored(compiled.evaluate(.object($0)), slot, of: entity) }
            }
        }
    }

    /// A computed value as its property keeps it.
    private func stored(_ value: Value, _ slot: Int, of entity: EntityLayout) throws -> StoredValue {
        if value.isNull { return .null }
        if case .object(let object) = value, let identifier = object.operand.operandIdentity as? NSManagedObjectID {
            return .identifier(identifier)
        }
        let slot = entity.slots[slot]
        let name = "“\(entity.name).\(slot.name)”"
        guard let attribute = slot.attribute else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreSave,
                "\(name) cannot lead to \(value.format); nothing was changed.", url: place.shownURL)
        }
        let stored = StoredValue(value.any, for: attribute)
        var isHeld = true
        if case .object(let object) = stored, object is UnacceptableValue { isHeld = false }
        // A fraction is not cut, as it is not in the database. A result below the least whole number of 64 bits is
        // rounded to it.
        if case .double(let number) = value, case .integer = stored {
            isHeld = Int64(exactly: number).map { $0 != .min } ?? false
        }
        guard isHeld else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreSave,
                "\(name) cannot be \(value.format), which was computed for it; nothing was changed.",
                url: place.shownURL)
        }
        return stored
    }
}
