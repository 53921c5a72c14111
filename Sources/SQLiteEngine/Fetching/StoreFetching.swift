import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Identifies fetches with the same SQL, apart from bound values.
struct FetchKey: Hashable {
    let entity: Int
    let includesSubentities: Bool
    let predicate: SkeletonKey?
    let order: [SortTerm]
    let hasLimit: Bool
    let hasOffset: Bool
    let result: FetchResult
    /// For dictionary fetches.
    let columns: DictionaryKey?
}

/// The SQL of a fetch, and the reader of its rows.
final class CachedFetch {
    let fetch: FetchStatement
    /// The fetch in SQLite's SQL.
    let sql: SQLStatement
    let reader: RowReader?
    private var statement: Statement?

    /// The prepared statement, without looking its text up again; another one while it is being read.
    func statement(on connection: Connection) throws -> Statement {
        if let statement, !statement.isBusy { return statement }
        guard isKept else { return try connection.prepare(sql.text) }
        let new = try connection.statement(sql.text)
        if statement == nil { statement = new }
        return new
    }

    /// Whether the SQL is worth caching: the text of a long list of values rarely recurs, and takes much memory.
    var isKept: Bool { fetch.isReusable && sql.bindings.count <= 256 }

    init(_ fetch: FetchStatement, reader: RowReader?) {
        self.fetch = fetch
        sql = fetch.sql.sqlite
        self.reader = reader
    }
}

extension OpenStore {
    /// Runs the fetch's `SELECT` and reads whole rows.
    func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> {
        return try run("fetch from") {
            let (cached, statement) = try prepare(plan, .rows)
            guard let reader = cached.reader else { return [] }
            defer { statement.reset() }
            return try reader.rows(statement, expecting: min(plan.limit, 1 << 16))
        }
    }

    /// The statement that fetches the rows of a plan.
    func statement(of plan: FetchPlan) throws -> String {
        try run("fetch from") { try prepare(plan, .rows).0.sql.text }
    }

    /// Reads whole rows and hands them out one by one.
    func readRows(_ plan: FetchPlan, _ body: (consuming PlacedRow) -> Void) throws {
        try run("fetch from") {
            let (cached, statement) = try prepare(plan, .rows)
            guard let reader = cached.reader else { return }
            defer { statement.reset() }
            try reader.handOutRows(of: statement, body)
        }
    }

    /// A cursor for the results of a plan, to be read in portions.
    func rowCursor(_ plan: FetchPlan) throws -> RowCursor? {
        try run("fetch from") {
            let (cached, statement) = try prepare(plan, .rows)
            return try cached.reader.map { try RowCursor(self, $0, statement) }
        }
    }

    /// Hands out whole rows one by one, without IDs and without an array for each.
    func forEachRow(_ plan: FetchPlan, _ body: (any CurrentRow) -> Bool) throws {
        try run("fetch from") {
            let (cached, statement) = try prepare(plan, .rows)
            guard let reader = cached.reader else { return }
            defer { statement.reset() }
            try reader.forEachRow(statement, body)
        }
    }

    func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
        return try run("fetch from") {
            let (cached, statement) = try prepare(plan, .identifiers)
            defer { statement.reset() }
            var identifiers: [NSManagedObjectID] = []
            while try statement.step() {
                let layout =
                    cached.fetch.selectsEntity ? entity(numbered: statement.integer(at: 1), kindOf: plan.entity) : nil
                identifiers.append(
                    NSManagedObjectID(
                        layout: layout ?? plan.entity, store: identity, key: statement.integer(at: 0)))
            }
            return identifiers
        }
    }

    func fetchCount(_ plan: FetchPlan) throws -> Int {
        return try run("count in") {
            let (_, statement) = try prepare(plan, .count)
            defer { statement.reset() }
            return try statement.step() ? Int(statement.integer(at: 0)) : 0
        }
    }

    func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] {
        return try run("fetch from") {
            let (cached, statement) = try prepare(plan, .dictionaries)
            defer { statement.reset() }
            var dictionaries: [[String: Any]] = []
            while try statement.step() {
                var dictionary = [String: Any](minimumCapacity: cached.fetch.columns.count)
                for column in cached.fetch.columns {
                    guard let value = try value(statement, column) else { continue }
                    dictionary[column.name] = value
                }
                dictionaries.append(dictionary)
            }
            return dictionaries
        }
    }

    /// Hands out the values of a dictionary fetch's columns, a few rows at a time.
    func readTuples(_ plan: FetchPlan, _ body: (ContiguousArray<StoredValue>) throws -> Void) throws {
        try run("fetch from") {
            let (cached, statement) = try prepare(plan, .dictionaries)
            defer { statement.reset() }
            let columns = cached.fetch.columns
            // What most columns are read by, without the rest of them, which takes time to copy for each value.
            let kinds = ContiguousArray(columns.map { (index: Int32($0.index), storage: $0.storage) })
            var values: ContiguousArray<StoredValue> = []
            while try statement.step() {
                for (place, kind) in kinds.enumerated() {
                    let value = statement.plainValue(at: kind.index, kind.storage)
                    values.append(try value ?? storedValue(statement, columns[place]))
                }
                if values.count >= 256 {
                    try body(values)
                    values.removeAll(keepingCapacity: true)
                }
            }
            if !values.isEmpty { try body(values) }
        }
    }

    /// Whether SQL can express a plan. Errors in the plan are reported by the fetch itself.
    func canSay(_ plan: FetchPlan) -> Bool {
        do {
            try prepare(plan, .rows).1.reset()
            return true
        } catch { return !(error is UnsupportedInSQL) }
    }

    /// The statement of a plan, bound and ready. Its SQL is made once for all plans of one form.
    private func prepare(
        _ plan: FetchPlan, _ result: FetchResult
    ) throws -> (CachedFetch, Statement) {
        let predicate = try plan.predicate.map { try preparedPredicate(of: $0) }
        let order = plan.sortDescriptors.isEmpty || result == .count ? [] : try sortTerms(of: plan.sortDescriptors)
        let having = try plan.having.map { try predicateTree(of: $0) }
        let key = FetchKey(
            entity: plan.entity.number, includesSubentities: plan.includesSubentities, predicate: predicate?.key,
            order: order, hasLimit: plan.limit > 0, hasOffset: plan.offset > 0, result: result,
            columns: result == .dictionaries ? DictionaryKey(plan, having: having) : nil)
        let cached: CachedFetch
        if let known = fetches[key] {
            cached = known
        } else {
            let fetch = try FetchSQL(schema: schema).statement(
                plan, result: result, predicate: predicate?.skeleton, arguments: predicate?.arguments ?? [],
                sortTerms: order, having: having)
            let reader = fetch.shape.map {
                RowReader(shape: $0, schema: schema, identity: identity, external: external)
            }
            cached = CachedFetch(fetch, reader: reader)
            if fetches.count >= 512 { fetches.removeAll() }
            if cached.isKept { fetches[key] = cached }
        }
        let statement = try cached.statement(on: connection)
        let context = BindingContext(
            arguments: predicate?.arguments ?? [], limit: plan.limit, offset: plan.offset, store: identity)
        for (index, binding) in cached.sql.bindings.enumerated() {
            try statement.bind(try binding.value(context), at: Int32(index + 1))
        }
        return (cached, statement)
    }
}

extension OpenStore {
    /// The entity with a row's `Z_ENT`, if it is one of those expected there.
    func entity(numbered number: Int64, kindOf entity: EntityLayout) -> EntityLayout? {
        schema.entity(numbered: number, kindOf: entity)
    }

    func row(for identifier: NSManagedObjectID) throws -> Row? {
        let access = try access(identifier.layout)
        let statement = try access.selectStatement(on: connection)
        try statement.bind(identifier.key, at: 1)
        guard try statement.step() else {
            statement.reset()
            return nil
        }
        defer { statement.reset() }
        return try access.reader.row(statement, identifier: identifier)
    }

    /// The rows of objects in the requested order, many with one statement.
    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        if identifiers.count == 1 { return try ContiguousArray(identifiers.compactMap { try row(for: $0) }) }
        var positions: [ObjectIdentifier: [Int]] = [:]
        for (position, identifier) in identifiers.enumerated() {
            positions[ObjectIdentifier(identifier.layout), default: []].append(position)
        }
        var found: [Row?] = Array(repeating: nil, count: identifiers.count)
        for group in positions.values {
            let access = try access(identifiers[group[0]].layout)
            var start = 0
            while start < group.count {
                let part = group[start..<min(start + EntityAccess.batch, group.count)]
                start += part.count
                let statement = try connection.statement(access.selectManyText)
                defer { statement.reset() }
                var byKey: [Int64: Int] = [:]
                for (index, position) in part.enumerated() {
                    byKey[identifiers[position].key] = position
                    // Unused parameters stay NULL, which equals nothing.
                    try statement.bind(identifiers[position].key, at: Int32(index + 1))
                }
                while try statement.step() {
                    guard let position = byKey[statement.integer(at: 0)] else { continue }
                    found[position] = try access.reader.row(statement, identifier: identifiers[position])
                }
            }
        }
        return ContiguousArray(found.compactMap { $0 })
    }
}
