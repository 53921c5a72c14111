import CoreDataModel
import Foundation
import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine

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
