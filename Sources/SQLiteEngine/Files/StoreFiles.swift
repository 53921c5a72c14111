import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Operations on the files of stores that need not be open.
package enum StoreFiles {
    /// Reads the metadata of a store that need not be open, without changing its content. SQLite makes the
    /// files of a write-ahead log beside it, if it has one and the folder can be written.
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
    package static func write(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]? = nil) throws {
        guard !url.isNoFile, FileManager.default.fileExists(atPath: url.path) else { throw missing(url) }
        let file = try StoreFile.open(url, mode: .readWrite, timeout: StoreSettings(options).timeout)
        try file.run("write the metadata of", fallback: CoreDataErrorCode.persistentStoreSave) {
            // One transaction, so that the store is not migrated between the reading of its own entries and their
            // writing.
            try file.connection.transaction(.immediate) { try file.write(metadata ?? [:]) }
        }
    }

    /// Empties a store: removes its tables, its log and its external data. The empty file stays, since another process
    /// may have it open. A file that is damaged, or no database, is removed, unless
    /// `NSPersistentStoreForceDestroyOption` is false.
    package static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        guard !url.isNoFile, FileManager.default.fileExists(atPath: url.path) else { return }
        let external = ExternalData(store: url)
        let timeout = StoreSettings(options).timeout
        // In a folder that is shared with another store, only this store's files are removed.
        let isShared = external.isShared
        var names: Set<String> = []
        var contents = external.contents
        do {
            let file = try StoreFile.open(url, mode: .readWrite, timeout: timeout)
            try file.run("destroy", fallback: CoreDataErrorCode.persistentStoreOperation) {
                if isShared { names = try ExternalReferences.names(in: file.connection) }
                try empty(file.connection) { contents = external.contents }
            }
        } catch {
            let isNoDatabase = (error as NSError).code == CocoaError.Code.fileReadCorruptFile.rawValue
            let isForced = (options?[NSPersistentStoreForceDestroyOption] as? NSNumber)?.boolValue ?? isNoDatabase
            guard isForced else { throw error }
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: url.path + suffix)
            }
        }
        if isShared {
            external.removeUnshared(names.sorted(), timeout: timeout)
        } else {
            // Another process may have made a new store there meanwhile, whose files and folders stay.
            for path in contents { Foundation.remove(path) }
        }
    }

    /// Removes the files of a store that is not open anywhere. Those of other stores stay.
    package static func remove(at url: URL) throws {
        let external = ExternalData(store: url)
        let isShared = external.isShared
        var names: Set<String> = []
        if isShared, FileManager.default.fileExists(atPath: url.path) {
            // The files of a store that cannot be read are unknown, and stay.
            names = (try? ExternalReferences.names(in: StoreFile.openForReading(url).connection)) ?? []
        }
        for suffix in ["", "-wal", "-shm", "-journal"] where FileManager.default.fileExists(atPath: url.path + suffix) {
            try FileManager.default.removeItem(atPath: url.path + suffix)
        }
        if isShared {
            external.removeUnshared(names.sorted(), timeout: StoreSettings.defaultTimeout)
        } else if FileManager.default.fileExists(atPath: external.support.path) {
            try FileManager.default.removeItem(at: external.support)
        }
    }

    /// Gives a store, whose database is a copy of another one's, the files that its rows refer to, as far as they are
    /// there.
    ///
    /// - Throws: the errors of SQLite and the file system.
    package static func linkFiles(of source: URL, to destination: URL) throws {
        let (source, target) = (ExternalData(store: source), ExternalData(store: destination))
        guard source.folder != target.folder else { return }
        let names = try source.regularFileNames().intersection(
            ExternalReferences.names(in: StoreFile.openForReading(destination).connection))
        try DurableFiles.link(names.sorted().map { ($0, $0) }, from: source, to: target)
    }

    /// Brings a store that was made in another folder to its place: its files first, and its database last, so that
    /// nobody sees it without them.
    ///
    /// - Parameters:
    ///   - draft: the store, which is not open anywhere.
    ///   - destination: its place, on the same file system.
    /// - Returns: false if there is a file already, which stays.
    /// - Throws: the errors of the file system. Then there is no database at the destination.
    package static func move(_ draft: URL, to destination: URL) throws -> Bool {
        let (source, target) = (ExternalData(store: draft), ExternalData(store: destination))
        let files = try source.regularFileNames()
        // Nothing is moved where the files of another store are, whose name has another extension.
        let isMoved = !files.isEmpty && rename(source.support.path, target.support.path) == 0
        if !isMoved {
            let missing = files.filter { !isSame(source.folder, target.folder, $0) }
            try DurableFiles.link(missing.sorted().map { ($0, $0) }, from: source, to: target)
        }
        if link(draft.path, destination.path) == 0 {
            unlink(draft.path)
            return true
        }
        let number = errno
        // Some file systems have no hard links.
        var facts = stat()
        if number != EEXIST, lstat(destination.path, &facts) != 0, rename(draft.path, destination.path) == 0 {
            return true
        }
        if isMoved { rename(target.support.path, source.support.path) }
        if number == EEXIST { return false }
        throw StorePermissions.error(destination, "made", number)
    }

    private static func isSame(_ one: URL, _ other: URL, _ name: String) -> Bool {
        var (left, right) = (stat(), stat())
        return lstat(one.appendingPathComponent(name).path, &left) == 0
            && lstat(other.appendingPathComponent(name).path, &right) == 0 && left.st_ino == right.st_ino
            && left.st_dev == right.st_dev
    }

    /// Empties the database, and calls a closure while no other connection uses it.
    private static func empty(_ connection: Connection, _ body: () -> Void) throws {
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
            body()
        }
        // The store is empty now. Only its file stays large as long as a connection reads its former content.
        try? connection.withoutWaiting {
            try connection.execute("VACUUM")
            try connection.checkpoint(.truncate)
        }
    }

    static func missing(_ url: URL) -> NSError {
        StoreError.make(
            CocoaError.Code.fileReadNoSuchFile.rawValue, "There is no store “\(url.path)”.", url: url)
    }
}

/// Ensures that files are on the disk before anything refers to them.
enum DurableFiles {
    /// Gives one store files of external data of another, which keeps them, under names of its own. This is safe
    /// because such a file is never changed in place.
    static func link(_ files: [(original: String, name: String)], from source: ExternalData, to target: ExternalData)
        throws
    {
        guard !files.isEmpty else { return }
        try target.makeFolders()
        let permissions = StorePermissions(of: target.store)
        for file in files {
            try link(
                source.folder.appendingPathComponent(file.original),
                to: target.folder.appendingPathComponent(file.name), permissions)
        }
        try synchronize(target.folder)
        try synchronize(target.support)
    }

    /// Adds a file of another folder to a folder: by a hard link, or by a copy if the file system has no hard links.
    ///
    /// - Throws: the errors of the file system, with the path.
    private static func link(_ source: URL, to target: URL, _ permissions: StorePermissions) throws {
        // A file with this name is the useless rest of an interrupted copy.
        if unlink(target.path) != 0, errno != ENOENT { throw error(target, "removed") }
        if Foundation.link(source.path, target.path) != 0 {
            let descriptor = try permissions.makeFile(target)
            defer { close(descriptor) }
            try FileWriting.write(Data(contentsOf: source, options: .alwaysMapped), to: descriptor, target)
            return
        }
        try synchronize(target)
    }

    /// Waits until the content of a file, or the names in a folder, are on the disk.
    private static func synchronize(_ url: URL) throws {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw error(url, "opened") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw error(url, "written to the disk") }
    }

    private static func error(_ url: URL, _ work: String) -> NSError {
        let number = errno
        let isFull = number == ENOSPC || number == EDQUOT
        return StoreError.make(
            (isFull ? CocoaError.Code.fileWriteOutOfSpace : CocoaError.Code.fileWriteUnknown).rawValue,
            "“\(url.path)” cannot be \(work): \(String(cString: strerror(number))).", url: url,
            underlying: NSError(domain: NSPOSIXErrorDomain, code: Int(number)))
    }
}
