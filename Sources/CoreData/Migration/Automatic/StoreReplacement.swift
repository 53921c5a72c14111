import Foundation
import SQLiteConnection

/// Puts a migrated store in the place of the one that it was made from.
///
/// Its files of external data are put beside the old ones first; then the database is replaced in one transaction of
/// SQLite's; then the old files go. Whenever this is interrupted, the store is whole, as the old or the new one.
enum StoreReplacement {
    static func replace(_ store: URL, with migrated: URL, timeout: Double) throws {
        let (old, new) = (ExternalData(store: store), ExternalData(store: migrated))
        let former = names(in: old.folder)
        let added = names(in: new.folder)
        do {
            if !added.isEmpty {
                try FileManager.default.createDirectory(at: old.folder, withIntermediateDirectories: true)
            }
            for name in added {
                try FileManager.default.copyItem(
                    at: new.folder.appendingPathComponent(name), to: old.folder.appendingPathComponent(name))
            }
            let from = try StoreFile.openForReading(migrated)
            let to = try StoreFile.open(store, mode: .readWrite, timeout: timeout)
            try to.run("replace", fallback: CoreDataErrorCode.migration) {
                try from.connection.copy(to: to.connection)
            }
        } catch {
            old.remove(added)
            throw error
        }
        old.remove(former)
    }

    private static func names(in folder: URL) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }
}
