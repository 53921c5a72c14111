import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

/// Finds out which objects of a change set violate which uniqueness constraints, after the database has refused them:
/// one query per constraint.
struct ConstraintCheck {
    private let database: OpenDatabase

    init(_ database: OpenDatabase) { self.database = database }

    /// Objects of a change set that share values, as the columns would hold them.
    private struct Group {
        let constraint: Constraint
        let values: [[UInt8]]
        var members: [RowChange] = []
    }

    /// A constraint, with the entity that declares it: its rows and those of its subentities share it.
    private struct Constraint: Hashable {
        let entity: EntityLayout
        let names: [String]

        static func == (one: Constraint, other: Constraint) -> Bool {
            one.entity === other.entity && one.names == other.names
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(entity))
            hasher.combine(names)
        }
    }

    /// The violations of a change set: values that two of its objects share, or that one shares with a row that stays
    /// as it is.
    func violations(in changes: ChangeSet) throws -> [ConstraintViolation] {
        var groups: [Group] = []
        var positions: [Constraint: [[[UInt8]]: Int]] = [:]
        for change in changes.inserted + changes.updated {
            let layout = change.objectID.layout
            for names in layout.uniquenessConstraints {
                let constraint = Constraint(entity: Self.declaring(names, layout), names: names)
                guard let values = try values(names, of: change) else { continue }
                let position = positions[constraint]?[values] ?? groups.count
                if position == groups.count { groups.append(Group(constraint: constraint, values: values)) }
                positions[constraint, default: [:]][values] = position
                groups[position].members.append(change)
            }
        }
        let stored = try storedRows(groups, changes)
        return groups.indices.compactMap { index in
            let group = groups[index]
            guard group.members.count > 1 || stored[index] != nil, let first = group.members.first else { return nil }
            let layout = first.objectID.layout
            return ConstraintViolation(
                entity: group.constraint.entity, constraint: group.constraint.names,
                values: group.constraint.names.compactMap { layout.slotIndex(forName: $0).map { first.values[$0] } },
                conflicting: group.members.map(\.objectID), stored: stored[index])
        }
    }

    /// The entity that declares a constraint, whose index spans its subentities.
    private static func declaring(_ names: [String], _ layout: EntityLayout) -> EntityLayout {
        var current = layout
        while let parent = current.superentity, parent.uniquenessConstraints.contains(names) { current = parent }
        return current
    }

    /// The values that must be unique, as the columns hold them; nil if one is missing, since a missing value equals
    /// nothing.
    private func values(_ names: [String], of change: RowChange) throws -> [[UInt8]]? {
        let access = try database.access(change.objectID.layout)
        var values: [[UInt8]] = []
        for column in try columns(names, access) {
            if change.values[column.slot].isNull { return nil }
            var sink = BytesSink()
            try access.writer.write(change.values[column.slot], column, to: &sink)
            guard let bytes = sink.bytes else { return nil }
            values.append(bytes)
        }
        return values.count == names.count ? values : nil
    }

    private func columns(_ names: [String], _ access: EntityAccess) throws -> [WrittenColumn] {
        names.compactMap { name in
            guard let slot = access.mapping.layout.slotIndex(forName: name) else { return nil }
            return access.columns.first { $0.slot == slot }
        }
    }

    /// For each group, the first row that has its values and that the change set leaves as it is.
    private func storedRows(_ groups: [Group], _ changes: ChangeSet) throws -> [Int: Row] {
        let touched = Set((changes.updated.map(\.objectID) + changes.deleted.map(\.objectID)))
        var found: [Int: NSManagedObjectID] = [:]
        for constraint in Set(groups.map(\.constraint)) {
            let own = groups.indices.filter { groups[$0].constraint == constraint }
            let access = try database.access(constraint.entity)
            let columns = try columns(constraint.names, access)
            var arrays = columns.map { PostgresArray($0.kind.type) }
            for index in own {
                for position in columns.indices { arrays[position].append(RawBytes(groups[index].values[position])) }
            }
            var parameters = PostgresParameters()
            for array in arrays { parameters.append(array) }
            let names = columns.indices.map { "c\($0)" }.joined(separator: ", ")
            let placeholders = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
            let same = columns.enumerated().map { "t.\(quotedName($1.name)) = u.c\($0)" }.joined(separator: " AND ")
            // The server compares: 1.50 and 1.5 are equal.
            let result = try database.connection.query(
                "SELECT t.\(ColumnName.key), t.\(ColumnName.entity), u.n FROM \(access.table) t "
                    + "JOIN unnest(\(placeholders)) WITH ORDINALITY AS u(\(names), n) ON \(same) ORDER BY 1", parameters
            )
            for row in 0..<result.count {
                let index = own[Int(result.integer(row, 2)) - 1]
                let layout = database.entity(numbered: result.integer(row, 1), kindOf: constraint.entity)
                let identifier = NSManagedObjectID(
                    layout: layout, store: database.identity, key: result.integer(row, 0))
                guard found[index] == nil, !touched.contains(identifier) else { continue }
                found[index] = identifier
            }
        }
        let order = found.keys.sorted()
        let rows = try database.readRows(order.compactMap { found[$0] })
        return Dictionary(
            rows.flatMap { row in order.filter { found[$0] == row.objectID }.map { ($0, row) } },
            uniquingKeysWith: { first, _ in first })
    }
}

/// Keeps one value as its bytes.
private struct BytesSink: ValueSink {
    var bytes: [UInt8]?

    mutating func append(_ value: some BinaryValue) {
        var values = BinaryValues()
        // Zeros are equal, whatever their sign.
        if let number = value as? Double, number == 0 { 0.0.write(to: &values) } else { value.write(to: &values) }
        bytes = values.bytes.array
    }

    mutating func appendNull() { bytes = nil }
}

/// A value that is in binary form already; the array that receives it knows its type.
private struct RawBytes: BinaryValue {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    static var type: PostgresType { .unknown }
    var binaryCount: Int { bytes.count }
    func write(to values: inout BinaryValues) { bytes.withUnsafeBytes { values.append(contentsOf: $0) } }
}
