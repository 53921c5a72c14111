import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// Writes new rows in one transaction: `INSERT INTO ZCAR (Z_PK, Z_ENT, Z_OPT, …) VALUES (?, ?, 1, …)`.
    func insertBatch(_ plan: BatchInsertPlan, next: (inout BatchRow) throws -> Bool) throws -> BatchOutcome {
        let table = try access(plan.entity).mapping.table
        return try inBatch("insert into") { files, aggregates in
            let insertion = try BatchInsertion(plan, self, files)
            let empty = plan.emptyRow
            var row = empty
            func clear() {
                // Written in place: a copy would be an allocation for each row.
                for slot in row.values.indices { row.values[slot] = empty.values[slot] }
                for slot in row.isGiven.indices { row.isGiven[slot] = false }
            }
            // Only the rows tell whether they are many.
            if aggregates.mayWait(on: [table]) {
                var first: [BatchRow] = []
                while first.count < LaterAggregates.many, try next(&row) {
                    first.append(row)
                    clear()
                }
                try aggregates.begin(on: [table]) { first.count }
                for row in first { try insertion.insert(row) }
                if first.count < LaterAggregates.many { return try insertion.finish() }
            }
            while try next(&row) {
                try insertion.insert(row)
                clear()
            }
            return try insertion.finish()
        }
    }
}

/// A batch insertion inside its transaction.
private final class BatchInsertion {
    private let plan: BatchInsertPlan
    private let store: OpenStore
    private let files: ExternalFiles
    private let access: EntityAccess
    private let history: HistoryRun?
    /// Whether rows with the same unique values may exist already.
    private let meetsRows: Bool
    private let plain: Statement
    private var statements: [ContiguousArray<Bool>: Statement] = [:]
    private var latest: (isGiven: ContiguousArray<Bool>, statement: Statement)?
    private let keys: KeyCounter
    private var lastKey: Int64
    private var outcome = BatchOutcome()

    init(_ plan: BatchInsertPlan, _ store: OpenStore, _ files: ExternalFiles) throws {
        self.plan = plan
        self.store = store
        self.files = files
        access = try store.access(plan.entity)
        history = store.history?.begin(plan.origin)
        meetsRows = !plan.entity.uniquenessConstraints.isEmpty && plan.conflicts != .fail
        plain = try store.connection.statement(access.insertText)
        keys = try store.keys(of: plan.entity)
        lastKey = try keys.latest()
    }

    func insert(_ row: BatchRow) throws {
        if !access.mapping.unavailable.isEmpty {
            try access.mapping.checkAvailable(row.values, url: store.file.url)
        }
        let statement = try statement(row)
        let key = lastKey + 1
        try statement.bind(key, at: 1)
        try statement.bind(Int64(access.mapping.number), at: 2)
        try statement.bind(Int64(1), at: 3)
        let filesBefore = files.writtenCount
        try access.writer.bindAll(row.values, to: statement, from: 4, files: files)
        if plan.conflicts == .replace { try noteFiles(replacedBy: row) }
        if !meetsRows {
            try statement.run()
            try note(.insert, key)
            return
        }
        defer { statement.reset() }
        // If no key is returned, the existing row has stayed.
        guard try statement.step() else { return files.withdraw(after: filesBefore) }
        let written = statement.integer(at: 0)
        if written == key { return try note(.insert, key) }
        try note(.update, written, of: replaced(statement), row)
    }

    /// Records the files of external data that become superfluous if an existing row takes the values.
    private func noteFiles(replacedBy row: BatchRow) throws {
        let slots = access.writer.externalSlots.filter { row.isGiven.isEmpty || row.isGiven[$0] }
        guard !slots.isEmpty else { return }
        for constraint in plan.entity.uniquenessConstraints {
            guard let values = try access.writer.uniqueValues(constraint, of: row.values) else { continue }
            let rows = try store.connection.statement(
                UniqueValueSQL.rows(values.map(\.column), in: access.mapping.table))
            defer { rows.reset() }
            for (index, value) in values.enumerated() { try rows.bind(value.value, at: Int32(index + 1)) }
            guard try rows.step() else { continue }
            try store.noteFiles(of: access, slots, inRow: rows.integer(at: 0), files)
        }
    }

    /// The entity of the existing row that has taken the values.
    ///
    /// - Throws: `NSManagedObjectConstraintMergeError` if that is neither the entity of the request nor one of its
    ///   subentities: the row does not have the properties, although its table may have the columns.
    private func replaced(_ statement: Statement) throws -> EntityLayout {
        guard plan.conflicts == .replace, access.mapping.sharesTable else { return plan.entity }
        let number = Int(statement.integer(at: 1))
        let found = store.schema.mapping(number: number)?.layout
        if let found, found.isKind(of: plan.entity) { return found }
        throw StoreError.make(
            CoreDataErrorCode.managedObjectConstraintMerge,
            "Cannot insert into \(store.file.url.storeName): an object of entity "
                + "“\(found?.name ?? String(number))” has the unique values of a new “\(plan.entity.name)”, and cannot become one; "
                + "nothing was changed.", url: store.file.url,
            suggestion: "Delete that object first, or give the new one other values.")
    }

    /// Stores the highest key that was used.
    func finish() throws -> BatchOutcome {
        try keys.setLatest(lastKey)
        try history?.finish()
        return outcome
    }

    private func statement(_ row: BatchRow) throws -> Statement {
        guard meetsRows else { return plain }
        if let latest, latest.isGiven == row.isGiven { return latest.statement }
        if statements[row.isGiven] == nil {
            let slots = row.isGiven.isEmpty ? nil : row.isGiven.indices.filter { row.isGiven[$0] }
            let text =
                plan.conflicts == .keep
                ? RowSQL.insertUnlessThere(access.mapping) : RowSQL.insertOrUpdate(access.mapping, slots: slots)
            statements[row.isGiven] = try store.connection.statement(text.sqlite.text)
        }
        guard let statement = statements[row.isGiven] else { return plain }
        latest = (row.isGiven, statement)
        return statement
    }

    private func note(
        _ kind: HistoryChangeKind, _ key: Int64, of entity: EntityLayout? = nil, _ row: BatchRow? = nil
    ) throws {
        outcome.count += 1
        if kind == .insert { lastKey = key }
        guard plan.wantsIdentifiers || history != nil else { return }
        let entity = entity ?? plan.entity
        let identifier = NSManagedObjectID(layout: entity, store: store.identity, key: key)
        if plan.wantsIdentifiers { outcome.identifiers.append(identifier) }
        guard let history, let writer = store.history else { return }
        var columns: Data?
        if kind == .update, let row {
            let slots = plan.entity.slots.indices.filter { row.isGiven.isEmpty || row.isGiven[$0] }
            columns = writer.properties(of: entity).mask(of: slots.map { plan.entity.slots[$0].name })
        }
        try history.note(kind, identifier, columns: columns)
    }
}
