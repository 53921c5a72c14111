import CoreDataModel
import Foundation
import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine

/// The objects whose derived attributes a save or a batch affects: found partly before it writes, partly afterwards.
struct DerivedUpdate {
    private let database: OpenDatabase
    private var changes: ChangeSet
    /// The keys by the attribute's position.
    private var keys: [Set<Int64>]

    init(_ changes: ChangeSet, _ database: OpenDatabase) {
        (self.changes, self.database) = (changes, database)
        keys = database.derivations.map { _ in [] }
    }

    /// Reads the relationships before they are changed.
    mutating func prepare() throws { try prepare(changes) }

    /// Takes in rows of a batch before they are changed or deleted, or new ones.
    mutating func add(
        inserted: [NSManagedObjectID] = [], updated: [NSManagedObjectID] = [], deleted: [NSManagedObjectID] = []
    ) throws {
        func change(_ identifier: NSManagedObjectID) -> RowChange {
            RowChange(objectID: identifier, version: 0, values: [], changedSlots: [], toManyChanges: [])
        }
        var added = ChangeSet()
        added.inserted = inserted.map(change)
        added.updated = updated.map(change)
        added.deleted = deleted.map { RowDeletion(objectID: $0, version: 0) }
        try prepare(added)
        changes.inserted += added.inserted
        changes.updated += added.updated
        changes.deleted += added.deleted
    }

    private mutating func prepare(_ changes: ChangeSet) throws {
        for (position, derived) in database.derivations.enumerated() {
            guard case .toMany(let relationship, let toMany) = derived.source else { continue }
            let entity = relationship.destination
            switch toMany {
            case .foreignKey(let key):
                // Without an inverse, the rows of members that change their owner are not among those written.
                let added = relationship.inverse == nil ? changes.added(to: relationship) : []
                try addOwners(
                    position, key, changes.written(entity, inserted: false) + changes.deleted(entity) + added)
            case .joinTable(let join): try addSources(position, join, changes.deleted(entity))
            }
        }
    }

    /// Computes the changed values, after everything has been written.
    ///
    /// - Parameter returnsAll: whether the values of written rows are returned even if they have not changed.
    /// - Returns: the objects, each with the slot of the attribute and its value.
    /// - Throws: what the server answers.
    mutating func finish(
        returnsAll: Bool = true
    ) throws -> [(objectID: NSManagedObjectID, slot: Int, value: StoredValue)] {
        var computed: [(objectID: NSManagedObjectID, slot: Int, value: StoredValue)] = []
        for (position, derived) in database.derivations.enumerated() {
            let written = changes.written(derived.mapping.layout)
            keys[position].formUnion(written)
            switch derived.source {
            case .object: break
            case .toOne(let relationship, let column):
                let entity = relationship.destination
                let changed = changes.written(entity) + changes.deleted(entity)
                guard !changed.isEmpty else { break }
                try add(
                    position,
                    "SELECT \(ColumnName.key) FROM \(quotedName(derived.mapping.table)) WHERE \(quotedName(column)) = ANY($1)",
                    changed)
            case .toMany(let relationship, .foreignKey(let key)):
                try addOwners(position, key, changes.written(relationship.destination))
                addPairs(position, relationship)
            case .toMany(let relationship, .joinTable(let join)):
                try addSources(position, join, changes.written(relationship.destination, inserted: false))
                addPairs(position, relationship)
            }
            computed += try derived.update(
                keys[position].sorted(), in: database, written: returnsAll ? Set(written) : [])
        }
        return computed
    }

    private mutating func addOwners(_ position: Int, _ key: ForeignKeyMapping, _ changed: [Int64]) throws {
        guard !changed.isEmpty else { return }
        let column = quotedName(key.column)
        try add(
            position,
            "SELECT DISTINCT \(column) FROM \(quotedName(key.table)) WHERE \(ColumnName.key) = ANY($1) AND \(column) IS NOT NULL",
            changed)
    }

    private mutating func addSources(_ position: Int, _ join: JoinMapping, _ changed: [Int64]) throws {
        guard !changed.isEmpty else { return }
        try add(
            position,
            "SELECT DISTINCT \(quotedName(join.sourceColumn)) FROM \(quotedName(join.table)) "
                + "WHERE \(quotedName(join.destinationColumn)) = ANY($1)", changed)
    }

    private mutating func add(_ position: Int, _ sql: String, _ changed: [Int64]) throws {
        let result = try database.query(sql, keys: changed)
        for row in 0..<result.count { keys[position].insert(result.integer(row, 0)) }
    }

    /// The objects at either end of pairs that are added or removed.
    private mutating func addPairs(_ position: Int, _ relationship: RelationshipLayout) {
        for change in changes.inserted + changes.updated {
            for toMany in change.toManyChanges {
                if toMany.relationship === relationship { keys[position].insert(change.objectID.key) }
                if let inverse = relationship.inverse, toMany.relationship === inverse {
                    keys[position].formUnion((toMany.added + toMany.removed).map(\.key))
                }
            }
        }
    }
}

extension ChangeSet {
    /// The keys of the new and changed rows of an entity.
    fileprivate func written(_ entity: EntityLayout, inserted: Bool = true) -> [Int64] {
        var keys: [Int64] = []
        for change in self.inserted where inserted && change.objectID.layout.isKind(of: entity) {
            keys.append(change.objectID.key)
        }
        for change in updated where change.objectID.layout.isKind(of: entity) { keys.append(change.objectID.key) }
        return keys
    }

    /// The keys of the members that a to-many relationship gets.
    fileprivate func added(to relationship: RelationshipLayout) -> [Int64] {
        (inserted + updated).flatMap(\.toManyChanges).filter { $0.relationship === relationship }
            .flatMap { $0.added.map(\.key) }
    }

    fileprivate func deleted(_ entity: EntityLayout) -> [Int64] {
        deleted.filter { $0.objectID.layout.isKind(of: entity) }.map(\.objectID.key)
    }
}

extension DerivedColumn {
    /// Recomputes the attribute for objects whose value is out of date.
    ///
    /// - Parameters:
    ///   - keys: the objects that may be affected; nil for all.
    ///   - database: the store.
    ///   - written: the objects whose values the caller needs even if they have not changed: others may have
    ///     changed them since it has read them.
    /// - Returns: the values that have changed, and those of the objects that were written.
    /// - Throws: the server's errors.
    package func update(
        _ keys: [Int64]?, in database: OpenDatabase, written: Set<Int64> = []
    ) throws -> [(objectID: NSManagedObjectID, slot: Int, value: StoredValue)] {
        if let keys, keys.isEmpty { return [] }
        let values = try values(
            in: database.schema, restriction: keys == nil ? nil : { "\(.key, of: $0) = ANY(\(binding: .given(0)))" })
        let bind: (inout PostgresParameters) -> Void = { $0.append(array: keys ?? []) }
        let statement = written.isEmpty ? assignment(of:) : computation(of:)
        let result: PostgresResult
        if foldsHere {
            let found = try database.query(values, given: [bind])
            var (rows, texts) = (PostgresArray(.bigint), PostgresArray(.text))
            for row in 0..<found.count {
                rows.append(found.integer(row, 0))
                if found.isNull(row, 1) {
                    texts.appendNull()
                } else {
                    texts.append(found.string(row, 1).folded([.caseInsensitive, .diacriticInsensitive]))
                }
            }
            result = try database.query(
                statement("SELECT * FROM unnest(\(binding: .given(0)), \(binding: .given(1)))"),
                given: [{ [rows] in $0.append(rows) }, { [texts] in $0.append(texts) }])
        } else {
            result = try database.query(statement(values), given: [bind])
        }
        let reader = ValueReader(column.kind, column: 2, attribute: column.attribute)
        return (0..<result.count).compactMap { row in
            guard written.isEmpty || !result.isNull(row, 3) || written.contains(result.integer(row, 0)) else {
                return nil
            }
            let layout = database.entity(numbered: result.integer(row, 1), kindOf: mapping.layout)
            let identifier = NSManagedObjectID(layout: layout, store: database.identity, key: result.integer(row, 0))
            return (identifier, slot, reader.value(result, row, database.readingContext))
        }
    }

    /// Writes the values that differ, and selects all: key, entity, value, and the key again if the value was written.
    private func computation(of values: SQLFragment) -> SQLFragment {
        let type: SQLFragment = "\(word: column.kind.type.name)"
        let selected: SQLFragment = "\(.key, of: "t"), \(.entity, of: "t"), f.v::\(type), \(.key, of: "c")"
        let rows: SQLFragment = "JOIN \(name: mapping.table) t ON \(.key, of: "t") = f.k"
        let changed: SQLFragment = "LEFT JOIN c ON \(.key, of: "c") = f.k"
        return """
            WITH f(k, v) AS (\(values)), c AS (\(assignment(of: "SELECT k, v FROM f"))) \
            SELECT \(selected) FROM f \(rows) \(changed)
            """
    }
}
