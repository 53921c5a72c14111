import Foundation
import SQLiteConnection

/// What makes a store that was migrated object by object the same store as before: its UUID, keys that are never used
/// twice, and its history.
struct StoreContinuity {
    private let url: URL
    private let uuid: String?
    private let greatestKey: Int64
    private let timeout: Double
    /// The bytes in a page of the database.
    let pageSize: Int64

    init(_ url: URL, timeout: Double) throws {
        self.url = url
        self.timeout = timeout
        let file = try StoreFile.openForReading(url, timeout: timeout)
        uuid = try file.metadata()[NSStoreUUIDKey] as? String
        (greatestKey, pageSize) = try file.run("prepare the migration of") {
            (
                try file.connection.integer(
                    "SELECT MAX(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_ENT < \(StoreTables.firstHistoryNumber)") ?? 0,
                try file.connection.integer("PRAGMA page_size") ?? 4096
            )
        }
    }

    /// Has new objects numbered on from the old ones, so that the URI of an old object never leads to another one.
    func reserveKeys(in coordinator: NSPersistentStoreCoordinator) throws {
        guard let store = coordinator.persistentStores.first, let keys = store.engine.keys else { return }
        for entity in coordinator.modelLayout.entities
        where entity.superentity == nil && store.holds(entity, of: coordinator.managedObjectModel) {
            try keys.reserveKeys(upTo: greatestKey, of: entity)
        }
    }

    /// Gives a migrated store the UUID and the history.
    func carry(to place: URL, _ history: HistoryTransfer) throws {
        let file = try StoreFile.open(place, mode: .readWrite, timeout: timeout)
        var metadata = try file.metadata()
        metadata[NSStoreUUIDKey] = uuid
        try file.write(metadata)
        try history.run(from: url, to: file)
    }
}
