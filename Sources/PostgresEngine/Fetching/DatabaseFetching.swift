import CoreDataModel
import Foundation
import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine

extension OpenDatabase {
    func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> {
        try reading("fetch from") {
            let question = try Question(plan)
            do {
                let (fetch, result) = try runExactly(plan, question, .rows)
                return try fetch.reader?.rows(result) ?? []
            } catch is Inexact { return try snapshot { try evaluatedRows(plan, question) } }
        }
    }

    func forEachRow(_ plan: FetchPlan, _ body: (any CurrentRow) -> Bool) throws {
        try reading("fetch from") {
            let question = try Question(plan)
            do {
                if plan.limit == 0, try cachedFetch(plan, question, .rows).latestCount >= Self.many,
                    try streamRows(plan, body)
                {
                    return
                }
                let (fetch, result) = try runExactly(plan, question, .rows)
                fetch.latestCount = result.count
                try fetch.reader?.forEachRow(result, body)
            } catch is Inexact {
                let rows = try snapshot { try evaluatedRows(plan, question) }
                guard let first = rows.first else { return }
                let current = ReadRow(first)
                for row in rows {
                    current.stand(on: row)
                    guard body(current) else { return }
                }
            }
        }
    }

    /// A fetch that found so many rows is read by a cursor the next time, which takes two round trips more, and little memory.
    static let many = 50_000

    /// Hands out rows as they come from the server.
    ///
    /// - Returns: false where the database cannot answer alone.
    /// - Throws: the server's errors.
    private func streamRows(_ plan: FetchPlan, _ body: (any CurrentRow) -> Bool) throws -> Bool {
        try snapshot {
            guard let cursor = try cursor(plan) else { return false }
            while let result = try cursor.nextResult(8192) {
                hasHandedOut = true
                guard try cursor.reader.forEachRow(result, body) else { return true }
            }
            return true
        }
    }

    func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
        try reading("fetch from") {
            let question = try Question(plan)
            do {
                let (fetch, result) = try runExactly(plan, question, .identifiers)
                return (0..<result.count).map { row in
                    var layout = plan.entity
                    if fetch.fetch.selectsEntity {
                        layout = entity(numbered: result.integer(row, 1), kindOf: plan.entity)
                    }
                    return NSManagedObjectID(layout: layout, store: identity, key: result.integer(row, 0))
                }
            } catch is Inexact { return try snapshot { try evaluatedRows(plan, question).map(\.objectID) } }
        }
    }

    func fetchCount(_ plan: FetchPlan) throws -> Int {
        try reading("count in") {
            var unlimited = plan
            (unlimited.limit, unlimited.offset) = (0, 0)
            let question = try Question(plan, ordered: false)
            let all: Int
            do {
                all = Int(try runExactly(unlimited, question, .count).result.integer(0, 0))
            } catch is Inexact { all = try snapshot { try evaluatedRows(unlimited, question).count } }
            let rest = max(0, all - plan.offset)
            return plan.limit > 0 ? min(rest, plan.limit) : rest
        }
    }

    // MARK: By identifier

    /// The rows of objects in the order asked for: a query for each entity among them.
    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try reading("read from") { try readRows(identifiers) }
    }

    func readRows(_ identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        var found: [Row?] = Array(repeating: nil, count: identifiers.count)
        for group in Self.groups(identifiers) {
            let access = try access(identifiers[group[0]].layout)
            var positions: [Int64: [Int]] = [:]
            for position in group { positions[identifiers[position].key, default: []].append(position) }
            let result = try query(access.selectText, keys: group.map { identifiers[$0].key })
            for index in 0..<result.count {
                for position in positions[result.integer(index, 0)] ?? [] {
                    found[position] = try access.reader.row(result, index, identifier: identifiers[position])
                }
            }
        }
        return ContiguousArray(found.compactMap { $0 })
    }

    /// The row of one object.
    func row(for identifier: NSManagedObjectID) throws -> Row? {
        try reading("read from") {
            let access = try access(identifier.layout)
            var parameters = PostgresParameters()
            parameters.append(identifier.key)
            let result = try connection.query(access.selectOneText, parameters)
            return try result.count == 1 ? access.reader.row(result, 0, identifier: identifier) : nil
        }
    }

    /// The positions of identifiers, those of one entity together.
    static func groups(_ identifiers: [NSManagedObjectID]) -> [[Int]] {
        var groups: [[Int]] = []
        var places: [ObjectIdentifier: Int] = [:]
        for (position, identifier) in identifiers.enumerated() {
            let layout = ObjectIdentifier(identifier.layout)
            if let place = places[layout] {
                groups[place].append(position)
            } else {
                places[layout] = groups.count
                groups.append([position])
            }
        }
        return groups
    }

    // MARK: Destinations

    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try reading("read from") { try readDestinations(of: relationship, for: identifiers) }
    }

    /// The destinations of a to-many relationship for many objects, with one query.
    func readDestinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        var found: [[NSManagedObjectID]] = Array(repeating: [], count: identifiers.count)
        guard let source = schema.mapping(of: relationship.source), source.toManys.indices.contains(relationship.index),
            let toMany = source.toManys[relationship.index],
            let destination = schema.mapping(of: relationship.destination)
        else { return found }
        var positions: [Int64: [Int]] = [:]
        for (position, identifier) in identifiers.enumerated() {
            positions[identifier.key, default: []].append(position)
        }
        let result = try query(DestinationSQL.select(toMany, destination), keys: Array(positions.keys))
        for row in 0..<result.count {
            let layout = entity(numbered: result.integer(row, 2), kindOf: destination.layout)
            let identifier = NSManagedObjectID(layout: layout, store: identity, key: result.integer(row, 1))
            for position in positions[result.integer(row, 0)] ?? [] { found[position].append(identifier) }
        }
        return found
    }
}

/// The statement that finds the destinations of a to-many relationship: source, key and entity, in order. Pure.
enum DestinationSQL {
    static func select(_ toMany: ToManyMapping, _ destination: EntityMapping) -> String {
        let columns = "t0.\(ColumnName.key), t0.\(ColumnName.entity)"
        let table = quotedName(destination.table)
        switch toMany {
        case .foreignKey(let key):
            let source = "t0.\(quotedName(key.column))"
            let order = key.orderColumn.map { "t0.\(quotedName($0)) NULLS FIRST, " } ?? ""
            return "SELECT \(source), \(columns) FROM \(table) t0 WHERE \(source) = ANY($1) "
                + "ORDER BY \(source), \(order)t0.\(ColumnName.key)"
        case .joinTable(let join):
            let source = "t1.\(quotedName(join.sourceColumn))"
            let order = join.orderColumn.map { "t1.\(quotedName($0)) NULLS FIRST, " } ?? ""
            return "SELECT \(source), \(columns) FROM \(quotedName(join.table)) t1 JOIN \(table) t0 "
                + "ON t0.\(ColumnName.key) = t1.\(quotedName(join.destinationColumn)) WHERE \(source) = ANY($1) "
                + "ORDER BY \(source), \(order)t0.\(ColumnName.key)"
        }
    }
}
