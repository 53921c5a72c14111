import Foundation
import SQLiteConnection

/// Puts a migrated store in the place of the one that it was made from.
///
/// Its files of external data are put beside the old ones first, and are on the disk; then the database is replaced in one
/// transaction of SQLite's; then the old files go. Whenever this is interrupted, the store is whole, as the old or the new
/// one.
enum StoreReplacement {
    /// - Parameter mark: the moment when the old store was read.
    /// - Throws: 134090 when the old store was written to since, and what SQLite and the file system report. The old store
    ///   is as it was then.
    static func replace(_ store: URL, with migrated: URL, timeout: Double, since mark: ChangeMark?) throws {
        let (old, new) = (ExternalData(store: store), ExternalData(store: migrated))
        let (former, wanted) = (try names(in: old.folder), try names(in: new.folder))
        let added = wanted.subtracting(former).sorted()
        do {
            try LinkedFiles.link(added, from: new, to: old)
            let from = try StoreFile.openForReading(migrated)
            let to = try StoreFile.open(store, mode: .readWrite, timeout: timeout)
            try to.run("replace", fallback: CoreDataErrorCode.migration) {
                if mark?.isReadableWhileLocked == false { try mark?.check() }
                try from.connection.copy(to: to.connection) {
                    if mark?.isReadableWhileLocked == true { try mark?.check() }
                }
            }
        } catch {
            old.remove(added)
            throw error
        }
        // Files that Core Data made; what somebody else put there stays.
        old.remove(former.subtracting(wanted).filter { UUID(uuidString: $0) != nil }.sorted())
    }

    private static func names(in folder: URL) throws -> Set<String> {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
    }
}
