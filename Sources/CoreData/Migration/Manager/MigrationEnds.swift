import Foundation
import SQLiteEngine

/// The stores of a migration.
struct MigrationEnds {
    struct End {
        let url: URL
        let type: String
        let options: [AnyHashable: Any]?
    }

    let source: End
    let destination: End

    var areSQLite: Bool { source.type == NSSQLiteStoreType && destination.type == NSSQLiteStoreType }

    /// Whether there is a store to add to.
    var destinationExists: Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: destination.url.path)
        return ((attributes?[.size] as? NSNumber)?.intValue ?? 0) > 0
    }

    func removeDestination() throws {
        guard destination.type != NSInMemoryStoreType else { return }
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: destination.url.path + suffix) {
            try FileManager.default.removeItem(atPath: destination.url.path + suffix)
        }
        let external = ExternalData(store: destination.url).support
        if FileManager.default.fileExists(atPath: external.path) { try FileManager.default.removeItem(at: external) }
    }
}
