import CompactCollections
import CoreDataModel
import Foundation
import SQLGeneration
import StoreEngine

/// The tables and columns whose removal an in-place migration has deferred, since nothing uses them any more. The list
/// is kept in the store's metadata.
package struct DeferredCleanup: Equatable, Sendable {
    /// One thing to remove.
    package enum Task: Equatable, Sendable {
        case table(String)
        case column(String, table: String)

        /// `DROP TABLE _T_ZCAR`, `ALTER TABLE ZCAR DROP COLUMN ZCOLOUR`
        package var sql: String {
            switch self {
            case .table(let name): return "DROP TABLE IF EXISTS \(quoted(name))"
            case .column(let name, let table): return "ALTER TABLE \(quoted(table)) DROP COLUMN \(quoted(name))"
            }
        }
    }

    private static let key = "PippinDeferredMigrationTasks"

    package var tasks: [Task] = []

    package init(_ tasks: [Task] = []) { self.tasks = tasks }

    /// The deferred tasks in a store's metadata: each is the name of a table, or those of a table and a column.
    package init(_ metadata: [String: Any]) {
        let names = metadata[Self.key] as? [[String]] ?? []
        tasks = names.compactMap { names in
            switch names.count {
            case 1: return .table(names[0])
            case 2: return .column(names[1], table: names[0])
            default: return nil
            }
        }
    }

    /// The columns to remove, by table.
    var columns: [String: Set<String>] {
        var columns: [String: Set<String>] = [:]
        for case .column(let name, let table) in tasks { columns[table, default: []].insert(name) }
        return columns
    }

    /// Writes the tasks into metadata, with Core Data's own key to show that there are some.
    package func note(in metadata: inout [String: Any]) {
        metadata[Self.key] = nil
        metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] = nil
        guard !tasks.isEmpty else { return }
        metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] = true
        metadata[Self.key] = tasks.map { task -> [String] in
            switch task {
            case .table(let name): return [name]
            case .column(let name, let table): return [table, name]
            }
        }
    }
}

extension DeferredCleanup {
    /// Whether a table belongs to the store's bookkeeping, or to SQLite.
    private static func isKept(_ table: String) -> Bool {
        StoreTables.isReserved(table) || table.uppercased().hasPrefix("SQLITE_")
    }

    /// The tasks without those that would remove a model's objects or the store's bookkeeping. A migration leaves no
    /// such tasks, but any program can write metadata.
    package func sparing(_ schema: SQLSchema) -> DeferredCleanup {
        var used: [String: Set<String>] = [:]
        for mapping in schema.mappings.compactMap({ $0 }) {
            used[mapping.table, default: ["Z_PK", "Z_ENT", "Z_OPT"]].formUnion(mapping.allColumns)
        }
        for join in schema.joinTables { used[join.table.name] = Set(join.table.columns.map(\.name)) }
        return DeferredCleanup(
            tasks.filter { task in
                switch task {
                case .table(let name): return used[name] == nil && !Self.isKept(name)
                case .column(let name, let table):
                    return used[table]?.contains(name) != true && !Self.isKept(table)
                }
            })
    }
}
