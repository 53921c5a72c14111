import CoreDataModel
import Foundation

/// The folder beside a store, `.<store>.migration`, in which its successor is made; or `.<store>.copy`, for a copy of
/// another store that is to replace it. The folder `.<store>.stages` stays empty: it is locked while a staged migration
/// runs, whose handlers may migrate the store.
///
/// Only one process at a time can migrate a store: it locks the folder, and the lock ends with the process, in whatever
/// way that ends. The next migration removes the leftovers of a killed one.
package final class MigrationWorkspace {
    // Confined to the migration's thread.

    package let folder: URL
    private let descriptor: Int32

    /// Runs work in the folder, which is removed afterwards.
    ///
    /// - Parameters:
    ///   - store: the store beside which the folder is.
    ///   - purpose: the purpose of the folder; each purpose has its own.
    ///   - timeout: seconds to wait for another process that migrates the store.
    ///   - work: receives the folder.
    /// - Returns: what the work returns.
    /// - Throws: 134090 if that takes longer, the errors of the file system, and those of the work.
    package static func with<Result>(
        _ store: URL, _ purpose: Purpose = .migration, timeout: Double, _ work: (MigrationWorkspace) throws -> Result
    ) throws -> Result {
        let workspace = try MigrationWorkspace(beside: store, purpose, timeout: timeout)
        defer { workspace.close() }
        return try work(workspace)
    }

    /// Removes the leftovers of a killed migration, unless another process is working there.
    package static func removeLeftovers(of store: URL) {
        for purpose in Purpose.allCases where FileManager.default.fileExists(atPath: folder(of: store, purpose).path) {
            // Leftovers that cannot be removed, or are in use, are left for the next opening.
            try? with(store, purpose, timeout: 0) { _ in }
        }
    }

    /// The purpose of the folder.
    package enum Purpose: String, CaseIterable {
        case migration, copy, stages
    }

    private init(beside store: URL, _ purpose: Purpose, timeout: Double) throws {
        folder = Self.folder(of: store, purpose)
        descriptor = try Self.locked(folder, store: store, until: Date(timeIntervalSinceNow: timeout))
        do { try empty() } catch {
            Foundation.close(descriptor)
            throw error
        }
    }

    private func close() {
        // Files that cannot be removed now are removed by the next migration.
        try? empty()
        rmdir(folder.path)
        Foundation.close(descriptor)
    }

    package static func folder(of store: URL, _ purpose: Purpose = .migration) -> URL {
        // Whatever the name under which the store is opened, the lock is one.
        let file = store.linkedFile
        return file.deletingLastPathComponent().appendingPathComponent(
            ".\(file.lastPathComponent).\(purpose.rawValue)", isDirectory: true)
    }

    /// The place for the store of a step: under the store's name, in a folder of the step's own, with the store's
    /// permissions.
    ///
    /// - Parameters:
    ///   - store: the store to migrate.
    ///   - step: the step's number.
    ///   - isDatabase: whether SQLite will write the store, into a file that must already exist to have the right
    ///     permissions.
    /// - Returns: the place for the step's store.
    /// - Throws: the errors of the file system.
    package func place(for store: URL, step: Int, isDatabase: Bool = true) throws -> URL {
        let permissions = StorePermissions(of: store)
        let place = folder.appendingPathComponent("\(step)", isDirectory: true)
        try permissions.makeFolder(place)
        let new = place.appendingPathComponent(store.lastPathComponent)
        if isDatabase { try permissions.makeDatabase(new) }
        return new
    }

    /// Removes the store of a step that is no longer needed.
    package func remove(_ store: URL) throws {
        try FileManager.default.removeItem(at: store.deletingLastPathComponent())
    }

    private func empty() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    // MARK: The lock

    private static func locked(_ folder: URL, store: URL, until end: Date) throws -> Int32 {
        while true {
            try StorePermissions(of: store).makeFolder(folder)
            let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 || errno == ENOENT else { throw unlocked(store, errno) }
            if descriptor >= 0 {
                do { if try FileLock.take(descriptor, folder) { return descriptor } } catch {
                    Foundation.close(descriptor)
                    throw error
                }
                Foundation.close(descriptor)
            }
            guard Date() < end else { throw unlocked(store, EWOULDBLOCK) }
            usleep(20_000)
        }
    }

    private static func unlocked(_ store: URL, _ number: Int32) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreTimeout,
            "The store “\(store.lastPathComponent)” cannot be migrated now: "
                + (number == EWOULDBLOCK
                    ? "another process is migrating it." : "\(String(cString: strerror(number)))."),
            url: store,
            suggestion: "Try again, or give it more time with NSPersistentStoreTimeoutOption.",
            underlying: NSError(domain: NSPOSIXErrorDomain, code: Int(number)))
    }
}

extension URL {
    /// Whether a store at this place is kept in memory: at `/dev/null`, which must never be written or deleted, or at a
    /// name below it, where no file can be.
    package var isNoFile: Bool { isFileURL && (path == "/dev/null" || path.hasPrefix("/dev/null/")) }

    /// The name of the store in messages: its file's name in quotation marks, if there is a file.
    package var storeName: String { isNoFile ? "the store in memory" : "“\(lastPathComponent)”" }

    /// The file to which a symbolic link leads; the URL itself if it is not a link. SQLite's own files are beside it.
    package var linkedFile: URL {
        var status = stat()
        guard isFileURL, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return self }
        return resolvingSymlinksInPath()
    }

    /// Whether two URLs are of one file, or are the same.
    package func isSameFile(as other: URL) -> Bool {
        guard isFileURL, other.isFileURL, standardizedFileURL != other.standardizedFileURL else {
            return isFileURL && other.isFileURL || self == other
        }
        var (own, others) = (stat(), stat())
        return stat(path, &own) == 0 && stat(other.path, &others) == 0 && own.st_ino == others.st_ino
            && own.st_dev == others.st_dev
    }
}

/// Locks that show other processes which files and folders are in use. They end with their process, in whatever way it
/// ends.
package enum FileLock {
    /// Takes the lock of an open file or folder, without waiting.
    ///
    /// - Returns: false if another process has it, and if the opened file is no longer under its name: another process
    ///   may have removed it as a leftover just before it was locked.
    /// - Throws: an error where there are no locks: to try again would not help.
    package static func take(_ descriptor: Int32, _ url: URL) throws -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { throw StorePermissions.error(url, "locked", errno) }
        }
        return isThere(descriptor, url)
    }

    /// Takes the lock of an open file, and waits for it.
    ///
    /// - Returns: false if the opened file is no longer under its name.
    /// - Throws: an error where there are no locks, as on some file systems of servers.
    package static func wait(_ descriptor: Int32, _ url: URL) throws -> Bool {
        while flock(descriptor, LOCK_EX) != 0 {
            if errno != EINTR { throw StorePermissions.error(url, "locked", errno) }
        }
        return isThere(descriptor, url)
    }

    private static func isThere(_ descriptor: Int32, _ url: URL) -> Bool {
        var (opened, there) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && lstat(url.path, &there) == 0 && opened.st_ino == there.st_ino
            && opened.st_dev == there.st_dev
    }
}
