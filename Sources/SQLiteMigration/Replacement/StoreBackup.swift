import Foundation
import SQLiteEngine
import StoreEngine

/// A copy of a store that is there while work is done on the store, and stays when the work fails.
///
/// It is made in a folder of its own beside the store. What a killed process leaves there is removed when the store is opened
/// the next time.
package enum StoreBackup {
    /// Does work with a copy of a store at hand, its external data included. The copy has the store's permissions.
    ///
    /// - Parameters:
    ///   - store: where the store is.
    ///   - work: what may fail.
    ///   - failed: called when the work failed, with the place of the copy, which stays.
    /// - Throws: what copying the store and the work throw.
    package static func with(_ store: URL, _ work: () throws -> Void, failed: (URL) -> Void) throws {
        try MigrationWorkspace.with(store, .backup, timeout: 10) { workspace in
            let copy = workspace.folder.appendingPathComponent(store.lastPathComponent)
            try StoreFiles.replace(at: copy, from: store, options: nil)
            do { try work() } catch {
                failed(try keep(copy, of: store))
                throw error
            }
        }
    }

    /// Puts the copy beside the store.
    private static func keep(_ copy: URL, of store: URL) throws -> URL {
        let name = store.deletingPathExtension().lastPathComponent + ".backup-\(UUID().uuidString.prefix(8))"
        let kept = store.deletingLastPathComponent().appendingPathComponent(
            store.pathExtension.isEmpty ? name + ".sqlite" : "\(name).\(store.pathExtension)")
        let moves = ["", "-wal"].map { (copy.path + $0, kept.path + $0) }
        for (from, to) in [(ExternalData(store: copy).support.path, ExternalData(store: kept).support.path)] + moves
        where FileManager.default.fileExists(atPath: from) {
            guard rename(from, to) == 0 else { throw StorePermissions.error(kept, "made", errno) }
        }
        return kept
    }
}
