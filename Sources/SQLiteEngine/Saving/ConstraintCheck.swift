import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Determines which objects of a change set violate which uniqueness constraints, after SQLite has refused them.
struct ConstraintCheck {
    private let store: OpenStore

    init(_ store: OpenStore) { self.store = store }

    /// The violations of a change set: values shared by two of its objects, or by one of them and a row that stays
    /// unchanged.
    func violations(in changes: ChangeSet) throws -> [ConstraintViolation] {
        var groups: [Group: [RowChange]] = [:]
        var order: [Group] = []
        for change in changes.inserted + changes.updated {
            let layout = change.objectID.layout
            let access = try store.access(layout)
            let (mapping, writer) = (access.mapping, access.writer)
            for constraint in layout.uniquenessConstraints {
                guard let unique = try writer.uniqueValues(constraint, of: change.values) else { continue }
                let group = Group(
                    entity: declaring(constraint, layout).number, table: mapping.table, constraint: constraint,
                    values: unique.map(\.value))
                if groups[group] == nil { order.append(group) }
                groups[group, default: []].append(change)
            }
        }
        var touched: [String: Set<Int64>] = [:]
        for change in changes.updated { touched[try table(change.objectID), default: []].insert(change.objectID.key) }
        for deletion in changes.deleted {
            touched[try table(deletion.objectID), default: []].insert(deletion.objectID.key)
        }
        return try order.compactMap { group in
            let members = groups[group] ?? []
            let stored = try storedRow(group, members, ignoring: touched[group.table] ?? [])
            guard members.count > 1 || stored != nil, let first = members.first else { return nil }
            let layout = first.objectID.layout
            let values = group.constraint.compactMap { name in layout.slotIndex(forName: name).map { first.values[$0] }
            }
            return ConstraintViolation(
                entity: declaring(group.constraint, layout), constraint: group.constraint, values: values,
                conflicting: members.map(\.objectID), stored: stored)
        }
    }

    /// Rows of the store that share values which must be unique, if no index prevents that.
    ///
    /// ```sql
    /// SELECT ZUID FROM ZITEM WHERE ZUID IS NOT NULL GROUP BY ZUID HAVING COUNT(*) > 1 ORDER BY MIN(Z_PK) LIMIT ?
    /// SELECT Z_PK, Z_ENT FROM ZITEM WHERE ZUID = ? ORDER BY Z_PK
    /// ```
    ///
    /// - Parameter limit: how many groups of rows, and how many of each, to look for.
    /// - Returns: the groups, each with its constraint; empty if all rows are unique.
    /// - Throws: SQLite's errors.
    func sharedValues(limit: Int) throws -> [(constraint: [String], rows: [NSManagedObjectID])] {
        var found: [(constraint: [String], rows: [NSManagedObjectID])] = []
        for mapping in store.schema.mappings.compactMap({ $0 }) {
            for constraint in mapping.layout.description.uniquenessConstraintNames where found.count < limit {
                let columns = constraint.compactMap { mapping.column(named: $0)?.name }
                guard !columns.isEmpty, columns.count == constraint.count else { continue }
                let groups = try store.connection.prepare(
                    UniqueValueSQL.shared(columns, in: mapping.table).sqlite.text)
                try groups.bind(Int64(limit - found.count), at: 1)
                let members = try store.connection.prepare(
                    UniqueValueSQL.rows(columns, in: mapping.table).sqlite.text)
                while try groups.step() {
                    members.reset()
                    for column in columns.indices {
                        try members.bind(groups.value(at: Int32(column)), at: Int32(column + 1))
                    }
                    var rows: [NSManagedObjectID] = []
                    while rows.count < limit, try members.step() {
                        let layout =
                            store.entity(numbered: members.integer(at: 1), kindOf: mapping.layout) ?? mapping.layout
                        rows.append(
                            NSManagedObjectID(layout: layout, store: store.identity, key: members.integer(at: 0)))
                    }
                    found.append((constraint, rows))
                }
            }
        }
        return found
    }

    private struct Group: Hashable {
        /// The number of the entity that declares the constraint. Others in the table may have one of the same name.
        let entity: Int
        let table: String
        let constraint: [String]
        let values: [SQLValue]
    }

    private func table(_ identifier: NSManagedObjectID) throws -> String {
        try store.access(identifier.layout).mapping.table
    }

    /// The entity that declares the constraint, whose index covers its subentities.
    private func declaring(_ constraint: [String], _ layout: EntityLayout) -> EntityLayout {
        var current = layout
        while let parent = current.superentity, parent.uniquenessConstraints.contains(constraint) { current = parent }
        return current
    }

    private func storedRow(_ group: Group, _ members: [RowChange], ignoring touched: Set<Int64>) throws -> Row? {
        guard let first = members.first else { return nil }
        let mapping = try store.access(declaring(group.constraint, first.objectID.layout)).mapping
        let columns = group.constraint.compactMap { mapping.column(named: $0)?.name }
        guard columns.count == group.constraint.count else { return nil }
        // Thousands of rows may have values that others have.
        let statement = try store.connection.statement(UniqueValueSQL.rows(columns, in: group.table).sqlite.text)
        defer { statement.reset() }
        for (index, value) in group.values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
        while try statement.step() {
            let key = statement.integer(at: 0)
            if touched.contains(key) { continue }
            let layout =
                store.entity(numbered: statement.integer(at: 1), kindOf: mapping.layout) ?? mapping.layout
            return try store.row(for: NSManagedObjectID(layout: layout, store: store.identity, key: key))
        }
        return nil
    }
}
