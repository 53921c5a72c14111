import CoreDataModel
import PostgresConnection
import StoreEngine

/// Keys that were taken from the sequences of tables and have yet to be used, so that not each new object asks the server.
struct KeyBlocks {
    /// How many keys are taken at least.
    static let size = 32

    private var free: [String: [ClosedRange<Int64>]] = [:]

    func count(_ table: String) -> Int { (free[table] ?? []).reduce(0) { $0 + $1.count } }

    mutating func add(_ range: ClosedRange<Int64>, _ table: String) { free[table, default: []].append(range) }

    mutating func take(_ table: String) -> Int64? {
        guard var ranges = free[table], let first = ranges.first else { return nil }
        if first.count > 1 { ranges[0] = first.lowerBound + 1...first.upperBound } else { ranges.removeFirst() }
        free[table] = ranges
        return first.lowerBound
    }

    /// Forgets what lies below a key that somebody brings along.
    mutating func removeAll(_ table: String) { free[table] = nil }
}

extension OpenDatabase {
    /// Sees to it that so many keys of each table are there: one round trip for all.
    func provideKeys(_ wanted: [(table: String, count: Int)]) throws {
        var requests: [PostgresConnection.Request] = []
        var tables: [String] = []
        for (table, count) in wanted where keys.count(table) < count {
            var parameters = PostgresParameters()
            parameters.append("\(quotedName(table))")
            parameters.append(Int64(max(count - keys.count(table), KeyBlocks.size)))
            // Others take keys of the same sequence meanwhile, so that there may be gaps.
            requests.append(
                .init(
                    """
                    SELECT min(k), max(k) FROM (SELECT k, k - row_number() OVER (ORDER BY k) AS part FROM \
                    (SELECT nextval(s) AS k FROM (SELECT pg_get_serial_sequence($1, '\(ColumnName.key)')::regclass AS s OFFSET 0) q, \
                    generate_series(1, $2)) keys) parts GROUP BY part ORDER BY 1
                    """, parameters))
            tables.append(table)
        }
        for (result, table) in zip(try connection.pipeline(requests), tables) {
            for row in 0..<result.count { keys.add(result.integer(row, 0)...result.integer(row, 1), table) }
        }
    }

    func makePermanentIdentifiers(for entities: [EntityLayout]) throws -> [NSManagedObjectID] {
        guard !entities.isEmpty else { return [] }
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
        return try run("hand out keys in", fallback: CoreDataErrorCode.persistentStoreSave) {
            try provideKeys(wanted)
            return try entities.map { entity in
                guard let key = keys.take(try access(entity.root).mapping.table) else {
                    throw PostgresError(state: "2200H", message: "the sequence gave too few keys")
                }
                return NSManagedObjectID(layout: entity, store: identity, key: key)
            }
        }
    }

    /// Counts on from a key; nothing to do where the table is further already.
    func reserveKeys(upTo key: Int64, of root: EntityLayout) throws {
        try run("reserve keys in", fallback: CoreDataErrorCode.persistentStoreSave) {
            let table = try access(root).mapping.table
            keys.removeAll(table)
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
