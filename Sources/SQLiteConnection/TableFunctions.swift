import CPippinSQLite

/// What a statement reads of a function's rows.
private final class RowsBeingRead {
    let values: [FunctionResult]
    var position = 0

    init(_ values: [FunctionResult]) { self.values = values }
}

/// Makes the values of one call of a function, each of which becomes a row.
package typealias TableFunctionBody = (FunctionArguments) -> [FunctionResult]

extension Connection {
    /// Makes a function known to SQL that gives rows: `SELECT value FROM name(a, b)`.
    ///
    /// - Parameters:
    ///   - name: the function's name in SQL.
    ///   - argumentCount: how many arguments it takes.
    ///   - body: runs on the connection's queue, inside the calling statement. It must not use the connection.
    /// - Throws: SQLite's error if it refuses the function.
    package func register(
        tableFunction name: String, argumentCount: Int, _ body: @escaping TableFunctionBody
    ) throws {
        let function = Unmanaged.passRetained(TableFunction(argumentCount: argumentCount, body: body))
        // SQLite releases the function through the destructor, also if the call fails.
        let code = sqlite3_create_module_v2(handle, name, TableFunction.module, function.toOpaque()) { pointer in
            guard let pointer else { return }
            Unmanaged<TableFunction>.fromOpaque(pointer).release()
        }
        guard code == SQLITE_OK else { throw database.error(code, sql: nil) }
    }
}

/// A function that gives rows: a virtual table without a schema, whose hidden columns are its arguments.
private final class TableFunction {
    private let argumentCount: Int
    private let body: TableFunctionBody

    init(argumentCount: Int, body: @escaping TableFunctionBody) {
        self.argumentCount = argumentCount
        self.body = body
    }

    /// The table as SQLite declares it: `CREATE TABLE x(value, a1 HIDDEN, a2 HIDDEN)`.
    private var declaration: String {
        "CREATE TABLE x(value" + (1...argumentCount).map { ", a\($0) HIDDEN" }.joined() + ")"
    }

    /// SQLite's own structures begin the memory of a table and of a cursor; ours follow. Both are as large as pointers.
    private static func place<Ours>(
        after: UnsafeMutableRawPointer, _ size: Int
    ) -> UnsafeMutablePointer<Unmanaged<Ours>> {
        (after + size).assumingMemoryBound(to: Unmanaged<Ours>.self)
    }

    private static let tableSize = MemoryLayout<sqlite3_vtab>.stride
    private static let cursorSize = MemoryLayout<sqlite3_vtab_cursor>.stride

    private static func function(of table: UnsafeMutablePointer<sqlite3_vtab>) -> TableFunction {
        let place: UnsafeMutablePointer<Unmanaged<TableFunction>> = place(after: table, tableSize)
        return place.pointee.takeUnretainedValue()
    }

    private static func rows(
        of cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>
    ) -> UnsafeMutablePointer<Unmanaged<RowsBeingRead>> {
        place(after: cursor, cursorSize)
    }

    /// The functions that SQLite calls. It is written once, before SQLite reads it from any thread.
    nonisolated(unsafe) static let module: UnsafePointer<sqlite3_module> = {
        let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        module.initialize(to: sqlite3_module())
        module.pointee.xConnect = { connection, pointer, _, _, result, _ in
            guard let pointer, let result else { return SQLITE_MISUSE }
            let function = Unmanaged<TableFunction>.fromOpaque(pointer)
            let code = sqlite3_declare_vtab(connection, function.takeUnretainedValue().declaration)
            guard code == SQLITE_OK else { return code }
            let size = TableFunction.tableSize + MemoryLayout<UnsafeRawPointer>.size
            guard let memory = sqlite3_malloc64(UInt64(size)) else { return SQLITE_NOMEM }
            let table = memory.bindMemory(to: sqlite3_vtab.self, capacity: 1)
            table.initialize(to: sqlite3_vtab())
            let place: UnsafeMutablePointer<Unmanaged<TableFunction>> = TableFunction.place(
                after: memory, TableFunction.tableSize)
            place.initialize(to: function)
            result.pointee = table
            return SQLITE_OK
        }
        module.pointee.xDisconnect = { table in
            sqlite3_free(table)
            return SQLITE_OK
        }
        module.pointee.xBestIndex = { table, plan in
            guard let table, let plan else { return SQLITE_MISUSE }
            return TableFunction.function(of: table).choose(&plan.pointee)
        }
        module.pointee.xOpen = { _, result in
            let size = TableFunction.cursorSize + MemoryLayout<UnsafeRawPointer>.size
            guard let result, let memory = sqlite3_malloc64(UInt64(size)) else { return SQLITE_NOMEM }
            let cursor = memory.bindMemory(to: sqlite3_vtab_cursor.self, capacity: 1)
            cursor.initialize(to: sqlite3_vtab_cursor())
            TableFunction.rows(of: cursor).initialize(to: .passRetained(RowsBeingRead([])))
            result.pointee = cursor
            return SQLITE_OK
        }
        module.pointee.xClose = { cursor in
            guard let cursor else { return SQLITE_MISUSE }
            TableFunction.rows(of: cursor).pointee.release()
            sqlite3_free(cursor)
            return SQLITE_OK
        }
        module.pointee.xFilter = { cursor, _, _, count, values in
            guard let cursor, let table = cursor.pointee.pVtab, let values else { return SQLITE_MISUSE }
            let arguments = FunctionArguments(values: values, count: Int(count))
            let rows = RowsBeingRead(TableFunction.function(of: table).body(arguments))
            let place = TableFunction.rows(of: cursor)
            place.pointee.release()
            place.pointee = .passRetained(rows)
            return SQLITE_OK
        }
        module.pointee.xNext = { cursor in
            guard let cursor else { return SQLITE_MISUSE }
            TableFunction.rows(of: cursor).pointee.takeUnretainedValue().position += 1
            return SQLITE_OK
        }
        module.pointee.xEof = { cursor in
            guard let cursor else { return 1 }
            let rows = TableFunction.rows(of: cursor).pointee.takeUnretainedValue()
            return rows.position < rows.values.count ? 0 : 1
        }
        module.pointee.xColumn = { cursor, context, column in
            guard let cursor else { return SQLITE_MISUSE }
            let rows = TableFunction.rows(of: cursor).pointee.takeUnretainedValue()
            // Nothing reads the arguments.
            Connection.set(column == 0 ? rows.values[rows.position] : .null, in: context)
            return SQLITE_OK
        }
        module.pointee.xRowid = { cursor, result in
            guard let cursor else { return SQLITE_MISUSE }
            result?.pointee = Int64(TableFunction.rows(of: cursor).pointee.takeUnretainedValue().position)
            return SQLITE_OK
        }
        return UnsafePointer(module)
    }()

    /// Tells SQLite to give the arguments in order. A plan in which one is not known yet is not a plan.
    private func choose(_ plan: inout sqlite3_index_info) -> Int32 {
        var found = 0
        for index in 0..<Int(plan.nConstraint) {
            let constraint = plan.aConstraint[index]
            guard constraint.iColumn > 0, Int32(constraint.op) == SQLITE_INDEX_CONSTRAINT_EQ else { continue }
            guard constraint.usable != 0 else { return SQLITE_CONSTRAINT }
            plan.aConstraintUsage[index].argvIndex = constraint.iColumn
            plan.aConstraintUsage[index].omit = 1
            found += 1
        }
        guard found == argumentCount else { return SQLITE_CONSTRAINT }
        plan.estimatedCost = 10
        plan.estimatedRows = 10
        return SQLITE_OK
    }
}
