import CoreData
import Foundation
import SQLGeneration
import SQLiteEngine

/// Views of an SQLite store for programs that know nothing of it: the model's names, dates and UUIDs as texts, pairs of
/// objects by the names of their entities. They belong to the connection that makes them, so that the store stays as it
/// is.
package enum ViewScript {
    /// The seconds from 1970 to 2001, where a store's dates begin.
    private static let epoch = 978_307_200

    /// - Parameter store: the store.
    /// - Returns: a script for `sqlite3` and whatever else runs SQLite.
    /// - Throws: `CommandError` for a store that is not in SQLite, and an error for a file that cannot be read.
    package static func text(of store: DirectStore) throws -> String {
        guard store.pagesByKey, let file = store.file, let original = store.original else {
            throw CommandError(
                "“\(store.name)” is not an SQLite file; “pippin copy” makes one of it, which views can be of")
        }
        let schema = try ReadingConnection.schema(of: store, file)
        let mappings = store.layout.entities.compactMap(schema.mapping(of:))
        let names = mappings.map(\.layout.name)
        var lines = [
            "-- Views of “\(TextTools.inOneLine(store.name))”: sqlite3 -init FILE, or another program that runs this first.",
            "-- They last as long as the connection, and leave the store as it is.",
            "ATTACH DATABASE '\(original.path.replacing("'", with: "''"))' AS store;",
        ]
        for mapping in mappings { lines.append(view(of: mapping)) }
        for mapping in mappings { lines += pairs(of: mapping, besides: names) }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The objects of an entity, and of those that inherit from it.
    static func view(of mapping: EntityMapping) -> String {
        var columns = ["Z_PK AS \"_key\""]
        if mapping.numbers.count > 1 { columns.append("Z_ENT AS \"_entity\"") }
        for (slot, column) in zip(mapping.layout.slots, mapping.columns) {
            guard let column else { continue }
            for part in column.flattened {
                let isJSON = !column.isComposite && slot.attribute?.isJSON ?? false
                columns.append("\(value(of: part, isJSON: isJSON)) AS \(quoted(part.property))")
            }
        }
        let numbers = mapping.numbers.map(String.init).joined(separator: ", ")
        let condition = mapping.sharesTable ? "\nWHERE Z_ENT IN (\(numbers))" : ""
        return "CREATE TEMP VIEW \(quoted(mapping.layout.name)) AS SELECT\n    "
            + columns.joined(separator: ",\n    ") + "\nFROM store.\(quoted(mapping.table))\(condition);"
    }

    /// The pairs of relationships from many to many, each once.
    private static func pairs(of mapping: EntityMapping, besides names: [String]) -> [String] {
        mapping.layout.relationships.compactMap { relationship in
            guard relationship.source === mapping.layout, mapping.toManys.indices.contains(relationship.index),
                case .joinTable(let join)? = mapping.toManys[relationship.index]
            else { return nil }
            let here = (mapping.layout.name, relationship.name)
            if let inverse = relationship.inverse, inverse !== relationship, (inverse.source.name, inverse.name) < here
            {
                return nil
            }
            var name = "\(here.0)_\(here.1)"
            while names.contains(name) { name += "_" }
            let order = join.orderColumn.map { ",\n    \(quoted($0)) AS \"_order\"" } ?? ""
            return
                "CREATE TEMP VIEW \(quoted(name)) AS SELECT\n    \(quoted(join.sourceColumn)) AS \(quoted(here.0)),\n    "
                + "\(quoted(join.destinationColumn)) AS \(quoted(here.1 == here.0 ? "_\(here.1)" : here.1))\(order)\nFROM store.\(quoted(join.table));"
        }
    }

    private static func value(of column: SlotColumn, isJSON: Bool) -> String {
        let name = quoted(column.name)
        switch column.storage {
        case .date: return "strftime('%Y-%m-%d %H:%M:%f', \(name) + \(epoch), 'unixepoch')"
        case .uuid:
            let hex = "lower(hex(\(name)))"
            let parts = [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)].map { "substr(\(hex), \($0.0), \($0.1))" }
            return "CASE WHEN \(name) IS NOT NULL THEN \(parts.joined(separator: " || '-' || ")) END"
        // The first byte says whether the rest is the value, or the name of a file that has it.
        case .data(allowsExternal: true), .transformable(allowsExternal: true):
            let bytes = "CASE WHEN substr(\(name), 1, 1) = x'01' THEN substr(\(name), 2) END"
            return isJSON ? "CAST(\(bytes) AS TEXT)" : bytes
        case .data where isJSON: return "CAST(\(name) AS TEXT)"
        default: return name
        }
    }
}
