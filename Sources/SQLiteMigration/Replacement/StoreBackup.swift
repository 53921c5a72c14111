import CompactCollections
import Foundation
import SQLiteEngine
import StoreEngine

/// A copy of a store that exists while work is done on the store, and is kept if the work fails.
///
/// It is made in a folder of its own beside the store. The leftovers of a killed process are removed when the store is
/// next opened.
package enum StoreBackup {
    /// Does work while a copy of a store exists, including its external data. The copy has the store's permissions.
    ///
    /// - Parameters:
    ///   - store: the location of the store.
    ///   - whenLocked: called when the folder for the copy is this process's, which then removes it in any case.
    ///   - work: the work, which may fail.
    ///   - failed: called if the work failed, with the location of the copy, which is kept.
    /// - Throws: the errors of copying the store, and of the work.
    package static func with(
        _ store: URL, whenLocked: (URL) -> Void = { _ in }, _ work: () throws -> Void, failed: (URL) -> Void
    ) throws {
        try MigrationWorkspace.with(store, .backup, timeout: 10) { workspace in
            whenLocked(workspace.folder)
            let copy = workspace.folder.appendingPathComponent(store.lastPathComponent)
            try StoreFiles.replace(at: copy, from: store, options: nil)
            do { try work() } catch {
                // A copy that cannot be moved is not claimed to be there; the error of the work is the one to tell.
                if let kept = try? keep(copy, of: store) { failed(kept) }
                throw error
            }
        }
    }

    /// Moves the copy beside the store.
    private static func keep(_ copy: URL, of store: URL) throws -> URL {
        let name = store.deletingPathExtension().lastPathComponent + ".backup-\(UUID().uuidString.prefix(8))"
        let kept = store.deletingLastPathComponent().appendingPathComponent(
            store.pathExtension.isEmpty ? name + ".sqlite" : "\(name).\(store.pathExtension)")
        let moves = ["", "-wal"].map { (copy.path + $0, kept.path + $0) }
        for (from, to) in [(ExternalData(store: copy).support.path, ExternalData(store: kept).support.path)] + moves
        where from == copy.path || FileManager.default.fileExists(atPath: from) {
            guard rename(from, to) == 0 else { throw StorePermissions.error(kept, "made", errno) }
        }
        return kept
    }
}
