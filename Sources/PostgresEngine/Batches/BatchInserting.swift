import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

extension OpenDatabase {
    /// Writes new rows in one transaction, `COPY` where nothing can be in the way.
    func insertBatch(_ plan: BatchInsertPlan, next: (inout BatchRow) throws -> Bool) throws -> BatchOutcome {
        try inBatch("insert into", again: plan.rewind) {
            var insertion = BatchInsertion(plan, self, try access(plan.entity))
            let empty = plan.emptyRow
            var row = empty
            while try insertion.asking({ try next(&row) }) {
                try insertion.add(row)
                // In place: a copy would be an allocation a row.
                for slot in row.values.indices { row.values[slot] = empty.values[slot] }
                for slot in row.isGiven.indices { row.isGiven[slot] = false }
            }
            return try insertion.finish()
        }
    }
}

/// A batch insertion inside its transaction: rows are collected, and written a portion at a time.
private struct BatchInsertion {
    /// How many rows are written at once.
    private static let portion = 8192
    /// In as many bytes.
    private static let bytes = 1 << 22

    private let plan: BatchInsertPlan
    private let database: OpenDatabase
    private let access: EntityAccess
    private let number: Int32
    /// Whether rows may be there already that new ones meet.
    private let meetsRows: Bool
    /// Rows that may meet others.
    private var rows: [BatchRow] = []
    /// Rows that are to be copied, with their keys.
    private var copied = CopyRows()
    private var keys: [Int64] = []
    private var free: ArraySlice<Int64> = []
    /// Many rows mostly come with more.
    private var block = 64
    private var outcome = BatchOutcome()
    /// Rows whose keys nobody asks for: the database gives them out, so that one statement takes all rows as they come.
    private let open: OpenCopy?

    init(_ plan: BatchInsertPlan, _ database: OpenDatabase, _ access: EntityAccess) {
        (self.plan, self.database, self.access) = (plan, database, access)
        number = Int32(access.mapping.number)
        meetsRows = !plan.entity.uniquenessConstraints.isEmpty && plan.conflicts != .fail
        open =
            meetsRows || plan.wantsIdentifiers || database.hasHistory
            ? nil
            : OpenCopy(database.connection, RowStatements.copyNew(access.mapping, access.columns))
        // Keys that wait here are lower than those that the database gives out, and would make later rows look older.
        if open != nil { database.keys.removeAll(access.mapping.table) }
    }

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
        if plan.wantsIdentifiers || database.hasHistory { keys.append(key) }
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

    /// Asks for the next row. When there is an error instead, what is wrong with the rows before it is told first.
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
        try open?.finish()
        try copy()
        guard !rows.isEmpty else { return }
        for row in rows { try write(row, nextKey()) }
        rows.removeAll(keepingCapacity: true)
    }

    private mutating func copy() throws {
        guard copied.count > 0 else { return }
        let count = copied.count
        try database.connection.copy(access.copyText, copied)
        copied.removeAll()
        try note(.insert, keys, count: count)
        keys.removeAll(keepingCapacity: true)
    }

    // MARK: Rows that meet others

    /// Writes one row, or changes the one that is there.
    private mutating func write(_ row: BatchRow, _ key: Int64) throws {
        if let present = try present(row) {
            guard plan.conflicts == .replace else { return }
            let entity = try replaced(present.entity)
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
        // Whoever inserts the same at this moment is waited for, and stays.
        let inserted = try database.connection.query(
            "INSERT INTO \(access.table) (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", "))) "
                + "ON CONFLICT DO NOTHING", sink.parameters)
        if inserted.affected == 1 { return try note(.insert, [key]) }
        if plan.conflicts == .replace { try write(row, key) }
    }

    /// The entity of the row that takes the values.
    ///
    /// - Throws: `NSManagedObjectConstraintMergeError` where that is not the entity of the request, or one below it: the row has no place for the
    ///   values, though its table may have.
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

    /// The row that has the unique values of a new one.
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
        guard plan.wantsIdentifiers || database.hasHistory else { return }
        let identifiers = keys.map {
            NSManagedObjectID(layout: entity ?? plan.entity, store: database.identity, key: $0)
        }
        if plan.wantsIdentifiers { outcome.identifiers += identifiers }
        try database.noteBatch(kind, identifiers, plan.origin, changed: changed)
    }
}
