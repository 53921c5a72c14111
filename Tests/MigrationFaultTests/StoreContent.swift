import CoreData
import Foundation
import SQLiteConnection

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine

/// Everything that is in a store, as text, to compare stores: all rows of all tables, values in files by their content.
/// What differs from run to run is left out: the names of these files, and the bytes of archives.
enum StoreContent {
    static func rows(of store: URL) throws -> [String] {
        let connection = try Connection(path: store.path, mode: .readOnly)
        let external = ExternalData(store: store)
        var lines = ["integrity " + (try connection.string("PRAGMA integrity_check") ?? "")]
        let left: Set<String> = ["Z_METADATA", "Z_MODELCACHE"]
        for table in try connection.tableNames().sorted() where !left.contains(table) && !table.hasPrefix("sqlite_") {
            let columns = try connection.columnNames(ofTable: table)
            let statement = try connection.prepare("SELECT * FROM \"\(table)\" ORDER BY 1, 2")
            while try statement.step() {
                let values = columns.indices.map { "\(columns[$0])=\(text(statement, Int32($0), external))" }
                lines.append("\(table) \(values.joined(separator: " "))")
            }
        }
        lines.append("uuid " + (try connection.string("SELECT Z_UUID FROM Z_METADATA") ?? ""))
        return lines
    }

    private static func text(_ statement: Statement, _ column: Int32, _ external: ExternalData) -> String {
        if statement.isNull(at: column) { return "-" }
        guard statement.kind(at: column) == .blob else { return statement.string(at: column) }
        let bytes = statement.data(at: column)
        guard case .value(let content) = external.content(of: bytes) else { return "MISSING" }
        let sum = content.reduce(UInt64(0)) { $0 &* 31 &+ UInt64($1) }
        return "\(content.count) bytes \(sum)"
    }

    /// What lies beside a store that a migration should have removed: its folder, and files that no value refers to.
    static func leftovers(of store: URL) throws -> [String] {
        let folder = store.deletingLastPathComponent()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return names.filter { $0.contains("migration") || $0.contains("-journal") }
    }

    /// Opens a store with a model, and reads an object of each entity.
    static func open(_ store: URL, with model: NSManagedObjectModel, options: [AnyHashable: Any]) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let opened = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for entity in model.entities {
                _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity.name ?? ""))
            }
        }
        try coordinator.remove(opened)
    }
}
