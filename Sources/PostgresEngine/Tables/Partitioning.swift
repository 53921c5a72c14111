import CoreDataModel
import PostgresConnection
import SQLGeneration
import StoreEngine

/// How the table of an entity is partitioned, as given in the entity's `userInfo` under `PippinPartitions`:
///
/// - `hash 8`: into 8 parts by the rows' keys;
/// - `hash customer 8`: into 8 parts by an attribute;
/// - `range placed 2025-01-01 2026-01-01`: by an attribute, into the values before the first bound, between two bounds,
///   and from the last one on.
///
/// PostgreSQL ensures unique values, and finds referenced rows, only by the partition key. So an attribute that is the
/// partition key is a part of the primary key, must be a part of each uniqueness constraint, and is never nil; and
/// references to such rows are not foreign keys.
package struct Partitioning: Equatable {
    package enum Method: Equatable {
        case hash(count: Int)
        /// Literals, ascending.
        case range(bounds: [String])
    }

    package static let userInfoKey = "PippinPartitions"
    /// The most partitions that are allowed; a planner cannot handle more.
    private static let mostParts = 1024

    package let method: Method
    /// The column of the attribute that is the partition key; nil for the rows' keys.
    package let column: String?
    private let type: PostgresType

    /// - Parameter root: an entity with a table.
    /// - Throws: 134020 if PostgreSQL cannot do it, or the text is not understood.
    package init?(_ root: EntityMapping) throws {
        guard root.layout.superentity == nil,
            let text = root.layout.description.userInfo?[Self.userInfoKey] as? String
        else { return nil }
        var words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        func refuse(_ reason: String) -> any Error { Self.refusal(root.layout, text, reason) }
        guard words.count >= 2 else { throw refuse("it says too little") }
        let name = words.removeFirst().lowercased()
        var attribute: AttributeLayout?
        var found: SlotColumn?
        if !(name == "hash" && words.count == 1) {
            let key = words.removeFirst()
            guard let slot = root.layout.slotIndex(forName: key), let layout = root.layout.slots[slot].attribute,
                let column = root.columns[slot], !column.isComposite, !column.isDerived
            else { throw refuse("“\(key)” is not an attribute that is stored in a column of its own") }
            guard !layout.description.isOptional else {
                throw refuse("“\(key)” is optional, and rows without it would be nowhere")
            }
            (attribute, found) = (layout, column)
        }
        let kind = found.map { ColumnKind($0.storage, attribute) } ?? .key
        (column, type) = (found?.name, kind.type)
        switch (name, kind) {
        case (_, .data), (_, .transformable), (_, .double): throw refuse("rows are not divided by values of that type")
        case ("hash", _):
            guard words.count == 1, let count = Int(words[0]), (1...Self.mostParts).contains(count) else {
                throw refuse("the number of parts is missing, or is not from 1 to \(Self.mostParts)")
            }
            method = .hash(count: count)
        case ("range", .boolean): throw refuse("rows are not divided by values of that type")
        case ("range", _):
            guard (1..<Self.mostParts).contains(words.count) else { throw refuse("there are no bounds, or too many") }
            method = .range(bounds: words)
        default: throw refuse("“\(name)” is neither hash nor range")
        }
    }

    private static func refusal(_ entity: EntityLayout, _ text: String, _ reason: String) -> any Error {
        StoreError.make(
            CoreDataErrorCode.persistentStoreIncompatibleSchema,
            "The table of “\(entity.name)” cannot be divided as its userInfo says (\(userInfoKey) = “\(text)”): \(reason).",
            url: nil, suggestion: "“hash 8”, “hash attribute 8”, “range attribute bound bound …” are known.")
    }

    /// Refuses partitioned tables that PostgreSQL cannot do.
    ///
    /// - Parameter schema: the tables.
    /// - Throws: 134020, which names entity and reason.
    package static func check(_ schema: SQLSchema) throws {
        let mappings = schema.mappings.compactMap { $0 }
        for mapping in mappings {
            let entity = mapping.layout
            guard let text = entity.description.userInfo?[userInfoKey] as? String else { continue }
            guard let parts = try Partitioning(mapping) else {
                throw refusal(
                    entity, text, "its rows are in the table of “\(entity.root.name)”, which is divided as that says")
            }
            for member in mappings where member.table == mapping.table {
                for names in member.layout.description.uniquenessConstraintNames {
                    let columns = names.compactMap { member.column(named: $0)?.name }
                    if let column = parts.column, columns.contains(column) { continue }
                    throw refusal(
                        entity, text,
                        "\(names.joined(separator: ", ")) must be unique, which PostgreSQL sees to only where what divides the rows is among it"
                    )
                }
            }
        }
    }

    // MARK: Statements

    /// The clause after the columns of the table.
    var clause: String {
        let column = column.map(quotedName) ?? ColumnName.key
        return switch method {
        case .hash: "PARTITION BY HASH (\(column))"
        case .range: "PARTITION BY RANGE (\(column))"
        }
    }

    /// The columns of the primary key.
    var primaryKey: String { ([ColumnName.key] + (column.map { [quotedName($0)] } ?? [])).joined(separator: ", ") }

    /// Whether rows can be referred to by their keys.
    var hasUniqueKeys: Bool { column == nil }

    private var partCount: Int {
        switch method {
        case .hash(let count): count
        case .range(let bounds): bounds.count + 1
        }
    }

    /// The names of the partitions.
    package func parts(of table: String) -> [String] {
        (0..<partCount).map { number in
            let (schema, ending) = (QualifiedName.schema(table), "_part_\(number)")
            return QualifiedName.make(
                schema: schema, name: SnakeCase.distinct(QualifiedName.name(table), ending: ending))
        }
    }

    /// The statements that create the partitions.
    func creations(of table: String) -> [String] {
        parts(of: table).enumerated().map { number, part in
            "CREATE TABLE \(quotedName(part)) PARTITION OF \(quotedName(table)) FOR VALUES \(values(number))"
        }
    }

    private func values(_ number: Int) -> String {
        switch method {
        case .hash(let count): return "WITH (MODULUS \(count), REMAINDER \(number))"
        case .range(let bounds):
            let from = number == 0 ? "MINVALUE" : literal(bounds[number - 1])
            let to = number == bounds.count ? "MAXVALUE" : literal(bounds[number])
            return "FROM (\(from)) TO (\(to))"
        }
    }

    /// A date is in UTC, whatever the time zone of the session.
    private func literal(_ bound: String) -> String {
        quotedText(type == .timestamp && !bound.contains("T") ? bound + " 00:00:00+00" : bound)
    }
}
