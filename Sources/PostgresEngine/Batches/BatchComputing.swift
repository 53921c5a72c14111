import CoreDataModel
import Foundation
import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine

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
        try batch.derived?.add(updated: identifiers)
        let slots = plan.changes.map(\.slot)
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
        try noteBatch(.update, identifiers, plan.origin, changed: slots)
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
