import CompactCollections
import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension StoreFile {
    /// The store's copy of its model, without version hashes; nil if there is none of the version in the metadata.
    ///
    /// Where other programs have left several copies, it is the one that has the store's tables, or else the last.
    ///
    /// - Throws: SQLite's errors, and those of a copy that cannot be read, unless there is another one.
    package func cachedModel() throws -> NSManagedObjectModel? {
        // Copies and metadata of two states would be of two versions, and the store would seem to have no copy.
        try readingOneState("read the model cache of") { try currentCopy() }
    }

    private func currentCopy() throws -> NSManagedObjectModel? {
        let rows = try connection.modelCopies(connection.tableNames())
        var damage: (any Error)?
        var read: [NSManagedObjectModel] = []
        for row in rows {
            do { read.append(try ModelCache.model(fromModelCache: row, entityVersionHashes: [:])) } catch {
                damage = damage ?? error
            }
        }
        if read.isEmpty, let damage { throw unreadableCopy(damage) }
        // Damaged metadata are reported where they are needed.
        let hashed = (try? metadata()).map { Set(StoreMetadata.hashes(in: $0).keys) } ?? []
        let current = StoredModel.current(read, hashed: hashed)
        guard current.count > 1 else { return current.first }
        return try current.first { try hasTables(of: $0) } ?? current.first
    }

    private func unreadableCopy(_ error: any Error) -> NSError {
        StoreError.make(
            (error as NSError).code,
            "The copy of its model that the store “\(url.lastPathComponent)” keeps (Z_MODELCACHE) cannot be read. "
                + error.localizedDescription, url: url,
            suggestion: "Restore the store from a backup, or delete the row of Z_MODELCACHE: then the model is "
                + "looked for among the versions of the model's package and in the bundles.",
            underlying: error)
    }
}

extension Connection {
    /// The copies of the model that are not empty, in their stored form, the last one first: Core Data keeps one.
    ///
    /// - Parameter tables: the names of the tables.
    /// - Returns: the copies.
    /// - Throws: SQLite's errors.
    package func modelCopies(_ tables: Set<String>) throws -> [Data] {
        guard tables.contains("Z_MODELCACHE") else { return [] }
        let rows = try prepare(StoreTablesSQL.modelCopies)
        var copies: [Data] = []
        while try rows.step() {
            let copy = try rows.smallData(at: 0, "Z_MODELCACHE.Z_CONTENT", path)
            if !copy.isEmpty { copies.append(copy) }
        }
        return copies
    }
}
