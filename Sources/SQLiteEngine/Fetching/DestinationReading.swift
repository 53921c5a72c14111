import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// The destinations of a to-many relationship for many objects, with a query for each batch of objects.
    ///
    /// - Returns: a list for each of the objects, in order if the relationship is ordered.
    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try run("read from") {
            if identifiers.count == 1 { return [try destinations(of: relationship, for: identifiers[0])] }
            var positions: [ObjectIdentifier: [Int]] = [:]
            for (position, identifier) in identifiers.enumerated() {
                positions[ObjectIdentifier(identifier.layout), default: []].append(position)
            }
            var found: [[NSManagedObjectID]] = Array(repeating: [], count: identifiers.count)
            for group in positions.values {
                guard let ends = try ends(of: relationship, from: identifiers[group[0]].layout) else { continue }
                for start in stride(from: 0, to: group.count, by: EntityAccess.batch) {
                    let part = group[start..<min(start + EntityAccess.batch, group.count)]
                    try read(ends, part.map { (identifiers[$0].key, $0) }, into: &found)
                }
            }
            return found
        }
    }

    struct Ends {
        let toMany: ToManyMapping
        let destination: EntityMapping
    }

    /// - Returns: `nil` if the relationship is not stored.
    /// - Throws: 134020 if its place in the store is unknown.
    func ends(of relationship: RelationshipLayout, from source: EntityLayout) throws -> Ends? {
        let mapping = try access(source).mapping
        try mapping.checkAvailable(relationship.name, "cannot be read", url: file.url)
        if let finding = schema.finding(of: relationship.destination) {
            throw finding.error("“\(mapping.layout.name).\(relationship.name)” cannot be read", url: file.url)
        }
        guard mapping.toManys.indices.contains(relationship.index), let toMany = mapping.toManys[relationship.index],
            let destination = schema.mapping(of: relationship.destination)
        else { return nil }
        return Ends(toMany: toMany, destination: destination)
    }

    private func destinations(
        of relationship: RelationshipLayout, for identifier: NSManagedObjectID
    ) throws -> [NSManagedObjectID] {
        guard let ends = try ends(of: relationship, from: identifier.layout) else { return [] }
        let statement = try connection.statement(RowSQL.targets(ends.toMany, destination: ends.destination).sqlite.text)
        defer { statement.reset() }
        try statement.bind(identifier.key, at: 1)
        var found: [NSManagedObjectID] = []
        while try statement.step() { found.append(self.identifier(statement, at: 0, of: ends.destination)) }
        return found
    }

    /// - Parameters:
    ///   - ends: the join table or the column to read.
    ///   - objects: the keys, and the positions of their lists.
    ///   - found: receives the IDs, list by list.
    /// - Throws: SQLite's errors.
    private func read(
        _ ends: Ends, _ objects: [(key: Int64, position: Int)], into found: inout [[NSManagedObjectID]]
    ) throws {
        // Unused parameters stay NULL, which equals nothing.
        let text = RowSQL.targets(ends.toMany, destination: ends.destination, count: EntityAccess.batch).sqlite.text
        let statement = try connection.statement(text)
        defer { statement.reset() }
        var positions: [Int64: [Int]] = [:]
        for (index, object) in objects.enumerated() {
            positions[object.key, default: []].append(object.position)
            try statement.bind(object.key, at: Int32(index + 1))
        }
        while try statement.step() {
            let identifier = identifier(statement, at: 1, of: ends.destination)
            for position in positions[statement.integer(at: 0)] ?? [] { found[position].append(identifier) }
        }
    }

    private func identifier(_ statement: Statement, at column: Int32, of mapping: EntityMapping) -> NSManagedObjectID {
        let layout =
            mapping.sharesTable ? entity(numbered: statement.integer(at: column + 1), kindOf: mapping.layout) : nil
        return NSManagedObjectID(
            layout: layout ?? mapping.layout, store: identity, key: statement.integer(at: column))
    }
}

extension OpenStore {
    /// The references of a relationship that lead to no object, by the primary keys of the referring objects. Programs
    /// that delete rows themselves leave them behind. One statement finds them for all objects.
    func danglingReferences(
        of relationship: RelationshipLayout, from entity: EntityLayout
    ) throws -> [Int64: [NSManagedObjectID]] {
        try run("read from") {
            guard let source = schema.mapping(of: entity),
                let destination = schema.mapping(of: relationship.destination)
            else { return [:] }
            let sql: SQLFragment
            if !relationship.isToMany {
                guard let column = source.columns[relationship.slot] else { return [:] }
                sql = DanglingReferenceSQL.toOne(column, of: source, destination: destination)
            } else if source.toManys.indices.contains(relationship.index),
                case .joinTable(let join)? = source.toManys[relationship.index]
            {
                sql = DanglingReferenceSQL.joinTable(join, destination: destination)
            } else {
                // The foreign key is in the destination's own row, so it cannot dangle.
                return [:]
            }
            let statement = try connection.prepare(sql)
            var found: [Int64: [NSManagedObjectID]] = [:]
            while try statement.step() {
                found[statement.integer(at: 0), default: []].append(
                    NSManagedObjectID(layout: destination.layout, store: identity, key: statement.integer(at: 1)))
            }
            return found
        }
    }
}

extension OpenStore {
    /// The transactions after a position, in order, as many as the limit allows.
    func historyTransactions(after start: HistoryPosition?, limit: Int?) throws -> [HistoryTransactionRow] {
        try run("read the history of") {
            let known = Set(try connection.columnNames(ofTable: "ATRANSACTION"))
            let statement = try connection.statement(
                HistorySQL.transactions(after: start, limit: limit, columns: known))
            defer { statement.reset() }
            var rows: [HistoryTransactionRow] = []
            while try statement.step() {
                rows.append(
                    HistoryTransactionRow(
                        number: statement.integer(at: 0), timestamp: statement.double(at: 1),
                        author: statement.optionalString(at: 2), bundleID: statement.string(at: 3),
                        contextName: statement.optionalString(at: 4), processID: statement.string(at: 5)))
            }
            return rows
        }
    }

    /// The changes of the transactions after a position up to the last one, in order, of all objects or those with
    /// some keys, without changes of entities that the model does not have.
    ///
    /// - Parameters:
    ///   - start: the position.
    ///   - last: the number of the last transaction; nil for all.
    ///   - keys: the keys of the changed objects; nil for all.
    ///   - rows: the numbers before the first and of the last transaction that have changed the rows in question; nil
    ///     for all rows.
    /// - Returns: the changes.
    /// - Throws: SQLite's errors.
    func historyChanges(
        after start: HistoryPosition?, through last: Int64?, ofKeys keys: Set<Int64>?,
        ofRowsChangedIn rows: (after: Int64, through: Int64)? = nil
    ) throws -> [HistoryChangeRow] {
        try run("read the history of") {
            let tombstones = try connection.columnNames(ofTable: "ACHANGE").count { $0.hasPrefix("ZTOMBSTONE") }
            let keepsValues = try connection.tableNames().contains(FormerValueSQL.table)
            let statement = try connection.statement(
                HistorySQL.changes(
                    after: start, through: last, ofKeys: keys, tombstones: tombstones, keepsValues: keepsValues,
                    ofRowsChangedIn: rows))
            defer { statement.reset() }
            var properties: [Int64: HistoryProperties] = [:]
            var found: [HistoryChangeRow] = []
            while try statement.step() {
                let number = statement.integer(at: 3)
                guard let mapping = schema.mapping(number: Int(number)),
                    let kind = HistoryChangeKind(rawValue: statement.integer(at: 2))
                else { continue }
                let known = properties[number] ?? HistoryProperties(mapping.layout)
                properties[number] = known
                let hasMask = kind == .update && !statement.isNull(at: 5)
                let former = Int32(6 + tombstones)
                let isKept = keepsValues && !statement.isNull(at: former)
                found.append(
                    HistoryChangeRow(
                        number: statement.integer(at: 0), transaction: statement.integer(at: 1), kind: kind,
                        objectID: NSManagedObjectID(
                            layout: mapping.layout, store: identity, key: statement.integer(at: 4)),
                        changedNames: hasMask ? known.names(in: statement.data(at: 5)) : nil,
                        tombstone: kind == .delete ? tombstone(statement, mapping, known, tombstones) : nil,
                        former: isKept
                            ? KeptValues.values(statement.data(at: former), of: mapping.layout, in: identity) : nil))
            }
            return found
        }
    }

    private func tombstone(
        _ statement: Statement, _ mapping: EntityMapping, _ properties: HistoryProperties, _ columns: Int
    ) -> [String: StoredValue]? {
        guard !properties.preservedSlots.isEmpty else { return nil }
        var values: [String: StoredValue] = [:]
        let found = (0..<min(columns, properties.preservedSlots.count)).map { statement.value(at: Int32(6 + $0)) }
        // Programs have written them in two orders, of which the types of the values show one.
        let orders = [properties.preservedSlots, properties.preservedSlotsInheritedFirst]
        let order = orders.first { slots in
            zip(slots, found).allSatisfy { slot, value in mapping.columns[slot]?.storage.mayHave(value) ?? true }
        }
        for (slot, value) in zip(order ?? properties.preservedSlots, found) where value != .null {
            guard let column = mapping.columns[slot] else { continue }
            var stored = StoredValue(value, storage: column.storage)
            if case .transformable = column.storage, case .blob(let data) = value {
                stored = TransformableCoding.value(of: data, for: mapping.layout.slots[slot].attribute)
            }
            values[mapping.layout.slots[slot].name] = stored
        }
        return values
    }

    /// Deletes the transactions before a position, and their changes: `DELETE FROM ATRANSACTION WHERE Z_PK < ?`. The
    /// names that they refer to stay, as in Core Data.
    func deleteHistory(before end: HistoryPosition?) throws {
        try run("delete the history of", fallback: CoreDataErrorCode.persistentStoreSave) {
            try transaction {
                for deletion in HistorySQL.deletion(before: end) { try connection.run(deletion) }
                if try connection.tableNames().contains(FormerValueSQL.table) {
                    try connection.run(FormerValueSQL.deleteForgotten)
                }
            }
        }
    }

    /// Records all rows as inserted, in one transaction of the history.
    func recordRows() throws -> Bool {
        guard let history else { return false }
        return try run("record the rows of", fallback: CoreDataErrorCode.persistentStoreSave) {
            try transaction {
                let run = history.begin(ChangeOrigin(contextName: nil, author: nil))
                for mapping in schema.mappings.compactMap({ $0 }) where !mapping.layout.isAbstract {
                    try run.noteRows(.insert, of: mapping, where: "1")
                }
                try run.finish()
                return true
            }
        }
    }

    // MARK: Notes

    private func hasNotes() throws -> Bool {
        let statement = try connection.statement(NoteSQL.exists)
        defer { statement.reset() }
        return try statement.step()
    }

    func makeNotes() throws {
        try run("write to", fallback: CoreDataErrorCode.persistentStoreSave) {
            if try !hasNotes() { try connection.execute(NoteSQL.create) }
        }
    }

    func note(_ name: String) throws -> Data? {
        try run("read from") {
            guard try hasNotes() else { return nil }
            let statement = try connection.statement(NoteSQL.select)
            defer { statement.reset() }
            try statement.bind(name, at: 1)
            return try statement.step() ? statement.data(at: 0) : nil
        }
    }

    func notes(beginningWith prefix: String, after name: String?, limit: Int) throws -> [(name: String, data: Data)] {
        try run("read from") {
            guard try hasNotes() else { return [] }
            let statement = try connection.statement(NoteSQL.range)
            defer { statement.reset() }
            try statement.bind(name ?? prefix, at: 1)
            try statement.bind(NoteSQL.end(of: prefix), at: 2)
            try statement.bind(Int64(limit), at: 3)
            var notes: [(name: String, data: Data)] = []
            while try statement.step() { notes.append((statement.string(at: 0), statement.data(at: 1))) }
            return notes
        }
    }

    func noteCount(beginningWith prefix: String) throws -> Int {
        try run("read from") {
            guard try hasNotes() else { return 0 }
            let statement = try connection.statement(NoteSQL.count)
            defer { statement.reset() }
            try statement.bind(prefix, at: 1)
            try statement.bind(NoteSQL.end(of: prefix), at: 2)
            return try statement.step() ? Int(statement.integer(at: 0)) : 0
        }
    }

    /// The number of the latest transaction; 0 before the first one.
    func latestTransaction() throws -> Int64 {
        try run("read the history of") {
            try KeyCounter(connection, .transaction).latest()
        }
    }

    /// The number of the oldest transaction that has not been deleted; if all have been, the number of the next one.
    func oldestKeptTransaction() throws -> Int64 {
        try run("read the history of") {
            if let oldest = try connection.integer(HistorySQL.oldest) { return oldest }
            return try latestTransaction() + 1
        }
    }
}

extension ColumnStorage {
    /// Whether a column may have a value, as far as texts, numbers and bytes tell.
    fileprivate func mayHave(_ value: SQLValue) -> Bool {
        let kind: [ColumnStorage]
        switch value {
        case .null: return true
        case .integer, .double: kind = [.integer, .boolean, .double, .float, .date, .decimal, .toOne]
        case .text: kind = [.string, .url, .decimal]
        case .blob:
            if case .transformable = self { return true }
            if case .data = self { return true }
            kind = [.uuid]
        }
        return kind.contains(self)
    }
}
