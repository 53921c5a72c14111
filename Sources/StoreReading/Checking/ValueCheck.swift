import CoreData
import SQLGeneration
import SQLiteConnection
import SQLiteEngine
import StoreEngine

/// Finds values in the rows of a store that no object can have: values of another kind than their property, none where
/// one is required, rows of an abstract entity, pairs that lead in one direction only. Reads each table once for all of
/// its columns.
package struct ValueCheck {
    let schema: SQLSchema
    let connection: Connection

    init(_ schema: SQLSchema, _ connection: Connection) { (self.schema, self.connection) = (schema, connection) }

    /// - Parameter root: an entity without a superentity. Its subentities are checked, too.
    /// - Returns: the defects, in the order of the entities and their properties.
    /// - Throws: SQLite's errors.
    func problems(of root: EntityLayout) throws -> [StoreCheck.Problem] {
        try root.selfAndSubentities.flatMap { entity -> [StoreCheck.Problem] in
            guard let mapping = schema.mapping(of: entity) else { return [] }
            return try abstract(mapping) + missing(in: mapping) + misread(in: mapping) + strangePairs(from: mapping)
                + oneSided(from: mapping)
        }
    }

    // MARK: What is wrong

    private func abstract(_ mapping: EntityMapping) throws -> [StoreCheck.Problem] {
        guard mapping.layout.isAbstract, mapping.sharesTable,
            let count = try connection.integer(ValueCheckSQL.own(rowsOf: mapping)), count > 0
        else { return [] }
        let text =
            "\(TextTools.count(Int(count), "object")) \(count == 1 ? "is" : "are") of “\(mapping.layout.name)”, which is abstract"
        return [StoreCheck.Problem(kind: .entity, text: text)]
    }

    /// Required values that are missing, without which no object can be saved or imported.
    private func missing(in mapping: EntityMapping) throws -> [StoreCheck.Problem] {
        var found = MisreadColumn.required(of: mapping)
        try MisreadColumn.look(for: &found, in: mapping, connection)
        return found.compactMap(\.text).map { StoreCheck.Problem(kind: .value, text: $0) }
    }

    /// Values of an entity's own properties that are read as something else: those of its superentities are checked
    /// with them.
    func misread(in mapping: EntityMapping) throws -> [StoreCheck.Problem] {
        let inherited = mapping.layout.superentity?.slots.count ?? 0
        var found = MisreadColumn.all(of: mapping, slots: Array(mapping.layout.slots.indices.dropFirst(inherited)))
        try MisreadColumn.look(for: &found, in: mapping, connection)
        return found.compactMap(\.text).map { StoreCheck.Problem(kind: .value, text: $0) }
    }

    /// Pairs with a key that is no number. Each end of a relationship has its column checked from the other one.
    func strangePairs(from mapping: EntityMapping) throws -> [StoreCheck.Problem] {
        try mapping.layout.relationships.compactMap { relationship -> StoreCheck.Problem? in
            guard relationship.source === mapping.layout, mapping.toManys.indices.contains(relationship.index),
                case .joinTable(let join)? = mapping.toManys[relationship.index]
            else { return nil }
            let isSeenFromBoth = relationship.inverse.map { $0 !== relationship && !$0.isTransient } ?? false
            let columns = (isSeenFromBoth ? [] : [join.sourceColumn]) + [join.destinationColumn]
            guard let count = try connection.integer(ValueCheckSQL.strangePairs(in: join, columns: columns)), count > 0
            else { return nil }
            let text =
                "“\(mapping.layout.name).\(relationship.name)” has \(TextTools.count(Int(count), "pair")) in \(join.table) "
                + "with a key that is not an object’s number"
            return StoreCheck.Problem(kind: .value, text: text)
        }
    }

    private func oneSided(from mapping: EntityMapping) throws -> [StoreCheck.Problem] {
        try mapping.layout.toOnes.compactMap { relationship in
            guard relationship.source === mapping.layout, let inverse = relationship.inverse, !inverse.isToMany,
                !relationship.isTransient, !inverse.isTransient, let column = mapping.columns[relationship.slot],
                let destination = schema.mapping(of: relationship.destination),
                let back = schema.mapping(of: inverse.source)?.columns[inverse.slot]
            else { return nil }
            let statement = try connection.prepare(
                ValueCheckSQL.oneSided(column, of: mapping, back: back, of: destination))
            var keys: [Int64] = []
            while try statement.step() { keys.append(statement.integer(at: 0)) }
            guard !keys.isEmpty else { return nil }
            let names = keys.prefix(TextTools.mostNamed).map { "\(mapping.layout.name)/p\($0)" }
            let rest = keys.count > names.count ? ", …" : ""
            let text =
                "“\(mapping.layout.name).\(relationship.name)” of \(TextTools.count(keys.count, "object")) leads to objects whose "
                + "“\(inverse.name)” does not lead back: \(names.joined(separator: ", "))\(rest)"
            return StoreCheck.Problem(kind: .reference, text: text)
        }
    }
}
