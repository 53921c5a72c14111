import CoreDataModel
import Foundation
import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine
import Synchronization

extension OpenDatabase {
    func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> {
        try reading("fetch from") {
            let fetchQuery = try FetchQuery(plan)
            do {
                let (fetch, result) = try runExactly(plan, fetchQuery, .rows)
                return try fetch.reader?.rows(result) ?? []
            } catch is Inexact { return try snapshot { try evaluatedRows(plan, fetchQuery) } }
        }
    }

    func forEachRow(_ plan: FetchPlan, _ body: (any CurrentRow) -> Bool) throws {
        try forEachResult(
            plan,
            { reader, found in
                switch found {
                case .result(let result): try reader.forEachRow(result, body)
                case .copied(let rows): try reader.forEachRow(rows, body)
                }
            },
            rows: { rows in
                guard let first = rows.first else { return }
                let current = ReadRow(first)
                for row in rows {
                    current.stand(on: row)
                    guard body(current) else { return }
                }
            })
    }

    func readRows(_ plan: FetchPlan, _ body: (consuming PlacedRow) -> Void) throws {
        try forEachResult(
            plan,
            { reader, found in
                switch found {
                case .result(let result): try reader.handOutPlacedRows(result, body)
                case .copied(let rows): try reader.handOutPlacedRows(rows, body)
                }
                return true
            },
            rows: { rows in for row in rows { body(PlacedRow(row)) } })
    }

    /// Rows as they lie in a result.
    private enum FoundCells {
        case result(PostgresResult)
        case copied(CopiedRows)
    }

    /// Hands out the rows that a plan finds: as one result, as it arrives in portions, or as rows if the database does
    /// not find them alone.
    ///
    /// - Parameters:
    ///   - plan: what to fetch.
    ///   - body: receives a result, and returns whether to go on.
    ///   - take: receives rows.
    /// - Throws: the errors of the server. Rows are never handed out twice, even if the connection is lost.
    private func forEachResult(
        _ plan: FetchPlan, _ body: (RowReader, FoundCells) throws -> Bool, rows take: (ContiguousArray<Row>) -> Void
    ) throws {
        let found: FoundRows = try reading("fetch from") {
            let fetchQuery = try FetchQuery(plan)
            do {
                let cached = try cachedFetch(plan, fetchQuery, .rows)
                if plan.limit == 0, cached.isExact, cached.failsForNoRow, let reader = cached.reader {
                    let count = cached.latestCount.load(ordering: .relaxed)
                    if count >= Self.copyThreshold, cached.sql.bindings.isEmpty {
                        let rows = try copiedRows(cached)
                        // A small result is received completely before it is handed out, so that the query can be
                        // repeated on another server. A large result is not repeated.
                        if count < Self.cursorThreshold { try rows.receiveAll() }
                        return .copied(cached, reader, rows)
                    }
                    if count >= Self.cursorThreshold {
                        let begins = !connection.isInTransaction
                        if begins { try beginSnapshot() }
                        return .many(cached, begins: begins)
                    }
                }
                let (fetch, result) = try runExactly(plan, fetchQuery, .rows)
                // Copied rows do not tell their types, so none are copied before these fit.
                try fetch.reader?.checkTypes(of: result)
                fetch.latestCount.store(result.count, ordering: .relaxed)
                return fetch.reader.map { .result($0, result) } ?? .rows([])
            } catch is Inexact { return .rows(try snapshot { try evaluatedRows(plan, fetchQuery) }) }
        }
        switch found {
        case .result(let reader, let result): _ = try body(reader, .result(result))
        case .copied(let fetch, let reader, let rows):
            if try run("fetch from", { try body(reader, .copied(rows)) }) {
                fetch.latestCount.store(rows.count, ordering: .relaxed)
            }
        case .rows(let rows): take(rows)
        case .many(let fetch, let begins):
            // Nothing was written.
            defer { if begins { try? connection.rollback() } }
            if try !run("fetch from", { try streamRows(plan, fetch, body) }) { take(try fetchRows(plan)) }
        }
    }

    private enum FoundRows {
        case result(RowReader, PostgresResult)
        case copied(CachedFetch, RowReader, CopiedRows)
        case rows(ContiguousArray<Row>)
        /// So many rows that they are read in portions.
        case many(CachedFetch, begins: Bool)
    }

    /// A fetch without parameters that found this many rows is read by `COPY` the next time, which is faster per row
    /// but costs a new plan.
    static let copyThreshold = 2000

    /// The rows that a fetch finds, as they arrive.
    ///
    /// - Throws: the server's errors; `Inexact` if the database cannot answer it.
    private func copiedRows(_ fetch: CachedFetch) throws -> CopiedRows {
        let text = fetch.sql.text
        do { return try CopiedRows(text, connection, after: generationGuard(of: text)) } catch let error
            as PostgresError
            where error.isSyntaxOrTypeError || error.isDataError
        {
            if error.isDivisionByZero { try checkGeneration() }
            throw Inexact()
        }
    }

    /// A fetch that found this many rows is read through a cursor the next time, which takes a few more round trips but
    /// little memory. Portions fit into a socket's buffer, so that the server need not wait for one to be read before
    /// it sends the next.
    static let cursorThreshold = 50_000
    private static let portion = 1024

    /// Hands out rows as they arrive, while the server finds the next ones.
    ///
    /// - Returns: false if the database cannot answer alone.
    /// - Throws: the server's errors.
    private func streamRows(
        _ plan: FetchPlan, _ fetch: CachedFetch, _ body: (RowReader, FoundCells) throws -> Bool
    ) throws -> Bool {
        try snapshot {
            guard let cursor = try cursor(plan) else { return false }
            var count = 0
            while let result = try cursor.nextResult(Self.portion, goesOn: true) {
                count += result.count
                guard try body(cursor.reader, .result(result)) else { return true }
            }
            fetch.latestCount.store(count, ordering: .relaxed)
            return true
        }
    }

    func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
        try reading("fetch from") {
            let fetchQuery = try FetchQuery(plan)
            do {
                let (fetch, result) = try runExactly(plan, fetchQuery, .identifiers)
                return (0..<result.count).map { row in
                    var layout = plan.entity
                    if fetch.fetch.selectsEntity {
                        layout = entity(numbered: result.integer(row, 1), kindOf: plan.entity)
                    }
                    return NSManagedObjectID(layout: layout, store: identity, key: result.integer(row, 0))
                }
            } catch is Inexact { return try snapshot { try evaluatedRows(plan, fetchQuery).map(\.objectID) } }
        }
    }

    func fetchCount(_ plan: FetchPlan) throws -> Int {
        try reading("count in") {
            var unlimited = plan
            (unlimited.limit, unlimited.offset) = (0, 0)
            let fetchQuery = try FetchQuery(plan, ordered: false)
            let all: Int
            do {
                all = Int(try runExactly(unlimited, fetchQuery, .count).result.integer(0, 0))
            } catch is Inexact { all = try snapshot { try evaluatedRows(unlimited, fetchQuery).count } }
            let rest = max(0, all - max(0, plan.offset))
            return plan.limit > 0 ? min(rest, plan.limit) : rest
        }
    }
}
