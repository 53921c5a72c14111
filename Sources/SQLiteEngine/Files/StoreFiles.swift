import CoreDataModel
import Foundation
import Ordering
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Operations on the files of stores that need not be open.
package enum StoreFiles {
    /// Reads the metadata of a store that need not be open, without changing anything in or beside the file.
    ///
    /// Our version hashes of the store's copy of its model are added, so that a model compiled here can be compared
    /// with the store. They are also computed if the store has hashes of ours, since an earlier build may have computed
    /// them differently.
    package static func metadata(at url: URL) throws -> [String: Any] {
        guard !url.isNoFile, FileManager.default.fileExists(atPath: url.path) else { throw missing(url) }
        let file = try StoreFile.openForReading(url)
        var metadata = try file.metadata()
        // If the copy of the model cannot be read, the existing hashes are used.
        if case .success(let model?) = Result(catching: file.cachedModel) {
            metadata[VersionHash.ownHashesOfStoreKey] = model.ownVersionHashesByName
        }
        return metadata
    }

    /// Replaces the metadata of a store that need not be open.
    package static func write(_ metadata: [String: Any]?, at url: URL) throws {
        guard !url.isNoFile, FileManager.default.fileExists(atPath: url.path) else { throw missing(url) }
        let file = try StoreFile.open(url, mode: .readWrite)
        _ = try file.metadata()
        try file.write(metadata ?? [:])
    }

    /// Empties a store: removes its tables, its log and its external data. The empty file stays, since another process
    /// may have it open.
    package static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        guard !url.isNoFile, FileManager.default.fileExists(atPath: url.path) else { return }
        let external = ExternalData(store: url)
        // In a folder that is shared with another store, only this store's files are removed.
        let isShared = external.isShared
        var names: Set<String> = []
        do {
            let file = try StoreFile.open(url, mode: .readWrite, timeout: StoreSettings(options).timeout)
            try file.run("destroy", fallback: CoreDataErrorCode.persistentStoreOperation) {
                if isShared { names = try ExternalReferences.names(in: file.connection) }
                try empty(file.connection)
            }
        } catch {
            let force = options?[NSPersistentStoreForceDestroyOption]
            guard (force as? NSNumber)?.boolValue ?? (force as? Bool) ?? false else { throw error }
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: url.path + suffix)
            }
        }
        if isShared {
            external.remove(names.sorted())
        } else {
            try? FileManager.default.removeItem(at: external.support)
        }
    }

    private static func empty(_ connection: Connection) throws {
        try connection.transaction(.exclusive) {
            let statement = try connection.prepare(
                "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view', 'trigger') "
                    + "AND name NOT LIKE 'sqlite_%' ORDER BY type DESC")
            var drops: [String] = []
            while try statement.step() {
                drops.append(
                    "DROP \(statement.string(at: 0).uppercased()) IF EXISTS \(quoted(statement.string(at: 1)))")
            }
            statement.reset()
            for drop in drops { try connection.execute(drop) }
        }
        try connection.execute("VACUUM")
        try connection.checkpoint(.truncate)
    }

    /// Replaces a store by a copy of another one. Programs that have it open see a single change.
    ///
    /// First the new files of external data are put beside the old ones, and written to the disk; then the database is
    /// replaced in one transaction; then the old files are removed. Whenever this is interrupted, the destination is
    /// intact: as it was, or as the source is.
    ///
    /// - Parameters:
    ///   - destination: the store to replace.
    ///   - source: the store to copy.
    ///   - options: the options with which the store is opened.
    ///   - code: the code for errors for which SQLite's own code is not more specific.
    ///   - whenLocked: called when nobody else can write to the destination, and nothing has been copied yet; if it
    ///     throws, the destination is unchanged.
    /// - Throws: the errors of SQLite and the file system, and what `whenLocked` throws.
    package static func replace(
        at destination: URL, from source: URL, options: [AnyHashable: Any]?,
        code: Int = CoreDataErrorCode.persistentStoreOperation, whenLocked: () throws -> Void = {}
    ) throws {
        guard !source.isNoFile, FileManager.default.fileExists(atPath: source.path) else { throw missing(source) }
        guard !destination.isNoFile else {
            throw StoreError.unsupported("replacing", storeType: NSInMemoryStoreType, url: destination)
        }
        let from = try StoreFile.openForReading(source)
        _ = try from.metadata()
        let (old, new) = (ExternalData(store: destination), ExternalData(store: source))
        var (former, wanted) = (try old.fileNames(), try new.regularFileNames())
        // Another store's files in the same folder are neither copied nor removed.
        if new.isShared { wanted.formIntersection(try ExternalReferences.names(in: from.connection)) }
        if old.isShared {
            let names = try? ExternalReferences.names(in: StoreFile.openForReading(destination).connection)
            former.formIntersection((names ?? []).union(wanted))
        }
        let added = wanted.subtracting(former).sorted()
        // Only files made by Core Data; other files stay.
        let superfluous = former.subtracting(wanted).filter { UUID(uuidString: $0) != nil }.sorted()
        let journal = FileJournal(old)
        var (isUntouched, isNew) = (true, false)
        do {
            isNew = try StorePermissions(of: source).makeDatabase(destination)
            try journal.note(added + superfluous)
            let to = try StoreFile.open(destination, mode: .create, timeout: StoreSettings(options).timeout)
            try DurableFiles.link(added, from: new, to: old)
            try to.run("replace", fallback: code) {
                try from.connection.copy(to: to.connection) {
                    try whenLocked()
                    isUntouched = false
                }
            }
        } catch {
            // A commit that failed while writing to the disk may have succeeded nevertheless, and refer to these files.
            if isUntouched { old.remove(added) } else { journal.leaveUnclear() }
            if isUntouched, isNew { unlink(destination.path) }
            throw error
        }
        old.remove(superfluous)
    }

    private static func missing(_ url: URL) -> NSError {
        StoreError.make(
            CocoaError.Code.fileReadNoSuchFile.rawValue, "There is no store “\(url.path)”.", url: url)
    }
}
