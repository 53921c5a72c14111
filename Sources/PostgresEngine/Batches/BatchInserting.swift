import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

extension OpenDatabase {
    /// Writes new rows in one transaction, with `COPY` if nothing can conflict with them.
    func insertBatch(_ plan: BatchInsertPlan, next: (inout BatchRow) throws -> Bool) throws -> BatchOutcome {
        try inBatch("insert into", again: plan.rewind) {
            var insertion = BatchInsertion(plan, self, try access(plan.entity))
            let empty = plan.emptyRow
            var row = empty
            while try insertion.asking({ try next(&row) }) {
                try insertion.add(row)
                // In place: a copy would cost an allocation per row.
                for slot in row.values.indices { row.values[slot] = empty.values[slot] }
                for slot in row.isGiven.indices { row.isGiven[slot] = false }
            }
            return try insertion.finish()
        }
    }
}

/// A batch insertion inside its transaction: collects rows, and writes them in batches.
private struct BatchInsertion {
    /// How many rows are written at once at most.
    private static let portion = 8192
    /// How many bytes are written at once at most.
    private static let bytes = 1 << 22

    private let plan: BatchInsertPlan
    private let database: OpenDatabase
    private let access: EntityAccess
    private let number: Int32
    /// Whether new rows may conflict with existing ones.
    private let meetsRows: Bool
    /// Whether derived attributes change with the rows.
    private let derives: Bool
    /// Rows whose unique values may conflict with other rows.
    private var rows: [BatchRow] = []
    /// Rows to be inserted by `COPY`, with their keys.
    private var copied = CopyRows()
    private var keys: [Int64] = []
    private var free: ArraySlice<Int64> = []
    /// The number of keys that are reserved at once; it grows, since more rows are likely to follow many.
    private var block = 64
    private var outcome = BatchOutcome()
    /// Rows whose keys are not requested: the database assigns them, so that one statement takes all rows as they come.
    private let open: OpenCopy?

    init(_ plan: BatchInsertPlan, _ database: OpenDatabase, _ access: EntityAccess) {
        (self.plan, self.database, self.access) = (plan, database, access)
        number = Int32(access.mapping.number)
        meetsRows = !plan.entity.uniquenessConstraints.isEmpty && plan.conflicts != .fail
        derives = database.derives(from: plan.entity)
        open =
            meetsRows || derives || plan.wantsIdentifiers || database.hasHistory
            ? nil
            : OpenCopy(database.connection, RowStatements.copyNew(access.mapping, access.columns))
        // Reserved keys are lower than those that the database assigns, and would make later rows look older.
        if open != nil { database.keys.removeAll(access.mapping.table) }
    }

    private var needsKeys: Bool { plan.wantsIdentifiers || database.hasHistory || derives }

    mutating func add(_ row: BatchRow) throws {
        guard !meetsRows else {
            rows.append(row)
            if rows.count == Self.portion { try write() }
            return
        }
        if let open {
            let (writer, number) = (access.writer, number)
            try open.add(writer.places.count + 1) { copy in
                copy.append(number)
                try writer.write(row.values, to: &copy)
            }
            outcome.count += 1
            return
        }
        let key = try nextKey()
        copied.beginRow(access.writer.places.count + 3)
        copied.append(key)
        copied.append(number)
        copied.append(Int64(1))
        try access.writer.write(row.values, to: &copied)
        if needsKeys { keys.append(key) }
        if copied.byteCount >= Self.bytes { try copy() }
    }

    private mutating func nextKey() throws -> Int64 {
        if free.isEmpty {
            let table = access.mapping.table
            try database.provideKeys([(table, block)])
            free = ArraySlice(database.keys.take(block, table))
            block = min(block * 4, 1 << 16)
        }
        guard let key = free.popFirst() else {
            throw PostgresError(state: "2200H", message: "the sequence gave too few keys")
        }
        return key
    }

    /// Asks for the next row. If that throws, writes the rows before it first, so that their errors are reported first.
    mutating func asking(_ next: () throws -> Bool) throws -> Bool {
        do { return try next() } catch {
            try write()
            throw error
        }
    }

    mutating func finish() throws -> BatchOutcome {
        try write()
        return outcome
    }

    private mutating func write() throws {
        if let open, try open.finish() != outcome.count { throw PostgresStoreError.notWritten(nil, database.place) }
        try copy()
        guard !rows.isEmpty else { return }
        for row in rows { try write(row, nextKey()) }
        rows.removeAll(keepingCapacity: true)
    }

    private mutating func copy() throws {
        guard copied.count > 0 else { return }
        let count = copied.count
        guard try database.connection.copy(access.copyText, copied) == count else {
            throw PostgresStoreError.notWritten(nil, database.place)
        }
        copied.removeAll()
        try note(.insert, keys, count: count)
        keys.removeAll(keepingCapacity: true)
    }

    // MARK: Rows that may conflict

    /// Writes one row, or changes the existing one. It is repeated once if a row is in the way that was not there, or
    /// not found, before.
    private mutating func write(_ row: BatchRow, _ key: Int64, isRepeated: Bool = false) throws {
        if let present = try present(row) {
            guard plan.conflicts == .replace else { return }
            let entity = try replaced(present.entity)
            if derives {
                let identifier = NSManagedObjectID(layout: entity, store: database.identity, key: present.key)
                try database.noteDerived(updated: [identifier])
            }
            let given = access.columns.filter { row.isGiven.isEmpty || row.isGiven[$0.slot] }
            var sink = ParameterSink()
            sink.append(present.key)
            for column in given {
                sink.type = column.kind.type
                try access.writer.write(row.values[column.slot], column, to: &sink)
            }
            let sets = given.enumerated().map { "\(quotedName($1.name)) = $\($0 + 2)" }
            let version = "\(ColumnName.version) = \(ColumnName.version) + 1"
            try database.connection.query(
                "UPDATE \(access.table) SET \((sets + [version]).joined(separator: ", ")) WHERE \(ColumnName.key) = $1",
                sink.parameters)
            try note(.update, [present.key], of: entity, changed: Set(given.map(\.slot)).sorted())
            return
        }
        var sink = ParameterSink()
        sink.append(key)
        for column in access.columns {
            sink.type = column.kind.type
            try access.writer.write(row.values[column.slot], column, to: &sink)
        }
        let names = [ColumnName.key, ColumnName.entity] + access.columns.map { quotedName($0.name) }
        let values = ["$1", "\(access.mapping.number)"] + access.columns.indices.map { "$\($0 + 2)" }
        // `ON CONFLICT DO NOTHING` waits for a transaction that inserts the same values, and keeps its row. On the
        // second attempt, a conflict is one that `present` does not find, such as the key, and is an error.
        let inserted = try database.connection.query(
            "INSERT INTO \(access.table) (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", "))) "
                + (isRepeated ? "" : "ON CONFLICT DO NOTHING"), sink.parameters)
        if inserted.affected == 1 { return try note(.insert, [key]) }
        guard !isRepeated else { throw PostgresStoreError.notWritten(nil, database.place) }
        try write(row, key, isRepeated: true)
    }

    /// The entity of the row that takes the values.
    ///
    /// - Throws: `NSManagedObjectConstraintMergeError` unless that is the entity of the request or a subentity: the row
    ///   has no place for the values, even if its table does.
    private func replaced(_ number: Int64) throws -> EntityLayout {
        let found = database.schema.mapping(number: Int(number))?.layout
        if let found, found.isKind(of: plan.entity) { return found }
        throw StoreError.make(
            CoreDataErrorCode.managedObjectConstraintMerge,
            "Cannot insert into “\(database.place.name)”: an object of entity "
                + "“\(found?.name ?? String(number))” has the unique values of a new “\(plan.entity.name)”, and cannot become one; "
                + "nothing was changed.", url: database.place.shownURL,
            suggestion: "Delete that object first, or give the new one other values.")
    }

    /// The row that already has the unique values of a new one.
    private func present(_ row: BatchRow) throws -> (key: Int64, entity: Int64)? {
        for names in plan.entity.uniquenessConstraints {
            let columns = names.compactMap { name in
                plan.entity.slotIndex(forName: name).flatMap { slot in access.columns.first { $0.slot == slot } }
            }
            guard columns.count == names.count, !columns.contains(where: { row.values[$0.slot].isNull }) else {
                continue
            }
            var sink = ParameterSink()
            for column in columns { try access.writer.write(row.values[column.slot], column, to: &sink) }
            let condition = columns.enumerated().map { "\(quotedName($1.name)) = $\($0 + 1)" }.joined(
                separator: " AND ")
            let result = try database.connection.query(
                "SELECT \(ColumnName.key), \(ColumnName.entity) FROM \(access.table) WHERE \(condition) ORDER BY 1 LIMIT 1",
                sink.parameters)
            if result.count == 1 { return (result.integer(0, 0), result.integer(0, 1)) }
        }
        return nil
    }

    private mutating func note(
        _ kind: HistoryChangeKind, _ keys: [Int64], of entity: EntityLayout? = nil, count: Int = 1, changed: [Int] = []
    ) throws {
        outcome.count += count
        guard needsKeys else { return }
        let identifiers = keys.map {
            NSManagedObjectID(layout: entity ?? plan.entity, store: database.identity, key: $0)
        }
        if plan.wantsIdentifiers { outcome.identifiers += identifiers }
        if derives, kind == .insert { try database.noteDerived(inserted: identifiers) }
        try database.noteBatch(kind, identifiers, plan.origin, changed: changed)
    }
}
