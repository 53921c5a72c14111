import CoreDataModel
import Foundation

/// The folder beside a store, `.<store>.migration`, in which its successor is made; or `.<store>.backup`, for a copy of it that
/// is kept while it is migrated.
///
/// Only one migration of a store works at a time, over all processes: it has a lock on the folder, which ends with the
/// process, however that ends. What a migration left that was killed is removed by the next one.
package final class MigrationWorkspace {
    // Confined to the thread of the migration.

    package let folder: URL
    private let descriptor: Int32

    /// Runs work in the folder, which is gone afterwards.
    ///
    /// - Parameters:
    ///   - store: the store that the folder lies beside.
    ///   - purpose: what the folder is for; each purpose has a folder of its own.
    ///   - timeout: seconds to wait for another process that migrates the store.
    ///   - work: gets the folder.
    /// - Returns: what the work returns.
    /// - Throws: 134090 when that takes longer, the errors of the file system, and what the work throws.
    package static func with<Result>(
        _ store: URL, _ purpose: Purpose = .migration, timeout: Double, _ work: (MigrationWorkspace) throws -> Result
    ) throws -> Result {
        let workspace = try MigrationWorkspace(beside: store, purpose, timeout: timeout)
        defer { workspace.close() }
        return try work(workspace)
    }

    /// Removes what a migration left that was killed, unless another process is at work there.
    package static func removeLeftovers(of store: URL) {
        for purpose in Purpose.allCases where FileManager.default.fileExists(atPath: folder(of: store, purpose).path) {
            // What cannot be removed, or is in use, is for the next to come.
            try? with(store, purpose, timeout: 0) { _ in }
        }
    }

    /// What the folder is for.
    package enum Purpose: String, CaseIterable {
        case migration, backup
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
        // What cannot be removed now is removed by the next migration.
        try? empty()
        rmdir(folder.path)
        Foundation.close(descriptor)
    }

    package static func folder(of store: URL, _ purpose: Purpose = .migration) -> URL {
        store.deletingLastPathComponent().appendingPathComponent(
            ".\(store.lastPathComponent).\(purpose.rawValue)", isDirectory: true)
    }

    /// Where the store of a step is made: under the store's name, in a folder of the step's own, with the store's permissions.
    ///
    /// - Parameters:
    ///   - store: the store that is migrated.
    ///   - step: the step's number.
    ///   - isDatabase: whether SQLite will write the store, into a file that must be there to have the right
    ///     permissions.
    /// - Returns: where the step's store is to be made.
    /// - Throws: the errors of the file system.
    package func place(for store: URL, step: Int, isDatabase: Bool = true) throws -> URL {
        let permissions = StorePermissions(of: store)
        let place = folder.appendingPathComponent("\(step)", isDirectory: true)
        try permissions.makeFolder(place)
        let new = place.appendingPathComponent(store.lastPathComponent)
        if isDatabase { try permissions.makeDatabase(new) }
        return new
    }

    /// Removes the store of a step that is not needed any more.
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
                if FileLock.take(descriptor, folder) { return descriptor }
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
