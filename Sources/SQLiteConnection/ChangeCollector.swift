import CPippinSQLite

/// Collects the keys of rows that a connection inserts, changes or deletes in some tables, by whatever statement, and
/// hands them out before the transaction is committed.
///
/// Keys of changes that a savepoint took back are handed out as well, and those that a `DELETE` without a condition
/// removed are not: SQLite does not report them.
final class ChangeCollector {
    private let tables: [ContiguousArray<CChar>]
    private var keys: [Set<Int64>]
    private var isEmpty = true
    private let beforeCommit: ([Set<Int64>]) -> Void

    init(_ tables: [String], _ beforeCommit: @escaping ([Set<Int64>]) -> Void) {
        self.tables = tables.map { ContiguousArray($0.utf8CString) }
        keys = tables.map { _ in [] }
        self.beforeCommit = beforeCommit
    }

    func add(_ key: Int64, of table: UnsafePointer<CChar>) {
        for (index, name) in tables.enumerated()
        where name.withUnsafeBufferPointer({ $0.baseAddress.map { sqlite3_stricmp($0, table) } == 0 }) {
            keys[index].insert(key)
            isEmpty = false
        }
    }

    /// Hands out the keys, if there are any.
    func finish() {
        guard !isEmpty else { return }
        let collected = keys
        forget()
        beforeCommit(collected)
    }

    func forget() {
        guard !isEmpty else { return }
        for index in keys.indices { keys[index].removeAll() }
        isEmpty = true
    }
}

extension Connection {
    /// Collects the keys of rows that change in some tables from now on.
    ///
    /// - Parameters:
    ///   - tables: the names of the tables; none ends the collection.
    ///   - beforeCommit: receives the keys for each of the tables, when the transaction that changed them is about
    ///     to be committed. It may write. It must not keep the connection alive.
    package func collectChanges(of tables: [String], beforeCommit: @escaping ([Set<Int64>]) -> Void) {
        guard !tables.isEmpty else {
            changeCollector = nil
            sqlite3_update_hook(handle, nil, nil)
            return
        }
        let collector = ChangeCollector(tables, beforeCommit)
        changeCollector = collector
        sqlite3_update_hook(
            handle,
            { pointer, _, _, table, key in
                guard let pointer, let table else { return }
                Unmanaged<ChangeCollector>.fromOpaque(pointer).takeUnretainedValue().add(key, of: table)
            }, Unmanaged.passUnretained(collector).toOpaque())
    }

    /// Hands out the keys that were collected so far in this transaction, as before a commit.
    package func finishCollectedChanges() { changeCollector?.finish() }
}
