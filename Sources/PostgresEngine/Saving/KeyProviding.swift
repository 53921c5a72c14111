import CoreDataModel
import PostgresConnection
import SQLGeneration
import StoreEngine

extension OpenDatabase {
    /// Ensures that enough keys of each table are reserved: one round trip for all, unless other connections
    /// take keys of the same sequence meanwhile.
    func provideKeys(_ wanted: [(table: String, count: Int)]) throws {
        takeExpectedKeys()
        let lacking = try takeKeys(wanted, Self.keyRange) { addKeys($0, $1) }
        _ = try takeKeys(lacking, Self.keyList) { result, table in
            guard result.count == 1 else { return }
            for key in result.integers(0, 0).sorted() { keys.add(key...key + result.integer(0, 1) - 1, table) }
        }
    }

    /// Requests keys from the server for many new rows, while these are still being made.
    func expectRows(_ count: Int, of entity: EntityLayout) {
        guard count >= SaveRun.copyThreshold, keys.requested == nil, !isReadOnly, !isPinned, place.session == nil,
            connection.isUsable, !connection.isInTransaction, let table = try? access(entity.root).mapping.table,
            keys.count(table) < count
        else { return }
        let parameters = keyParameters(table, count)
        // A failure here is reported by the save.
        keys.requested = (try? connection.sendAhead(Self.keyRange, parameters)).map { (table, $0) }
    }

    private func takeExpectedKeys() {
        guard let (table, statement) = keys.requested else { return }
        keys.requested = nil
        if let result = try? connection.result(of: statement) { addKeys(result, table) }
    }

    /// Adds the keys of a range if they are consecutive, which is the case if no other connection took keys in between.
    private func addKeys(_ result: PostgresResult, _ table: String) {
        guard result.count == 1 else { return }
        let (first, last) = (result.integer(0, 0), result.integer(0, 1))
        if last >= first, last - first + 1 == result.integer(0, 2) { keys.add(first...last, table) }
    }

    private func keyParameters(_ table: String, _ count: Int) -> PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append("\(quotedName(table))")
        parameters.append(Int64(max(count - keys.count(table), keys.nextSize(table))))
        return parameters
    }

    /// - Returns: the tables that still have too few keys.
    private func takeKeys(
        _ wanted: [(table: String, count: Int)], _ statement: String, _ add: (PostgresResult, String) -> Void
    ) throws -> [(table: String, count: Int)] {
        let lacking = wanted.filter { keys.count($0.table) < $0.count }
        guard !lacking.isEmpty else { return [] }
        let requests = lacking.map { PostgresConnection.Request(statement, keyParameters($0.table, $0.count)) }
        for (result, wanted) in zip(try connection.pipeline(requests), lacking) { add(result, wanted.table) }
        return lacking.filter { keys.count($0.table) < $0.count }
    }

    /// Steps of the table's sequence. Each step covers as many keys as the sequence's increment: 32, or 1 in a store
    /// that was created by a former version.
    private static let newKeys = """
        (SELECT nextval(s) AS k, i FROM (SELECT seqrelid::regclass AS s, seqincrement AS i FROM pg_sequence \
        WHERE seqrelid = pg_get_serial_sequence($1, '\(ColumnName.key)')::regclass) q, generate_series(1, ($2 + i - 1) / i)) steps GROUP BY i
        """
    /// The lowest and the highest of the new keys, and their number: a list of many keys would take longer.
    private static let keyRange = "SELECT min(k), max(k) + i - 1, count(*) * i FROM \(newKeys)"
    private static let keyList = "SELECT array_agg(k), i FROM \(newKeys)"

    func makePermanentIdentifiers(for entities: [EntityLayout]) throws -> [NSManagedObjectID] {
        guard !entities.isEmpty else { return [] }
        if entities.count == 1, let key = keys.take(try access(entities[0].root).mapping.table) {
            return [NSManagedObjectID(layout: entities[0], store: identity, key: key)]
        }
        var wanted: [(table: String, count: Int)] = []
        var positions: [String: Int] = [:]
        var latest: (layout: EntityLayout, position: Int)?
        for entity in entities {
            if let latest, latest.layout === entity {
                wanted[latest.position].count += 1
                continue
            }
            let table = try access(entity.root).mapping.table
            let position = positions[table] ?? wanted.count
            if position == wanted.count { wanted.append((table, 0)) }
            positions[table] = position
            wanted[position].count += 1
            latest = (entity, position)
        }
        return try reading("hand out keys in", fallback: CoreDataErrorCode.persistentStoreSave) {
            try provideKeys(wanted)
            var taken = wanted.map { ArraySlice(keys.take($0.count, $0.table)) }
            return try entities.map { entity in
                let position = wanted.count == 1 ? 0 : positions[try access(entity.root).mapping.table] ?? 0
                guard let key = taken[position].popFirst() else {
                    throw PostgresError(state: "2200H", message: "the sequence gave too few keys")
                }
                return NSManagedObjectID(layout: entity, store: identity, key: key)
            }
        }
    }

    /// What a sequence has given out latest; NULL for none, or for a role that may not see it.
    static let latestStep = """
        CASE WHEN has_sequence_privilege(seqrelid, 'USAGE, SELECT') THEN pg_sequence_last_value(seqrelid::regclass) END
        """

    /// The highest key that the sequence has given out, to whichever client; 0 for a role that may not see it.
    func lastKey(of root: EntityLayout) throws -> Int64 {
        try reading("read the keys of") {
            var parameters = PostgresParameters()
            parameters.append(quotedName(try access(root).mapping.table))
            let last = try connection.query(
                """
                SELECT COALESCE(\(Self.latestStep) + seqincrement - 1, 0) FROM pg_sequence \
                WHERE seqrelid = pg_get_serial_sequence($1, '\(ColumnName.key)')::regclass
                """, parameters)
            return last.count == 1 ? last.integer(0, 0) : 0
        }
    }

    /// Advances the sequence past a key; does nothing if it is past it already.
    func reserveKeys(upTo key: Int64, of root: EntityLayout) throws {
        try reading("reserve keys in", fallback: CoreDataErrorCode.persistentStoreSave) {
            let table = try access(root).mapping.table
            keys.removeAll(table)
            keys.requested = nil
            var parameters = PostgresParameters()
            parameters.append(quotedName(table))
            parameters.append(key)
            try connection.query(
                """
                SELECT setval(s, $2) FROM (SELECT pg_get_serial_sequence($1, '\(ColumnName.key)')::regclass AS s OFFSET 0) q \
                WHERE nextval(s) < $2
                """, parameters)
        }
    }
}
