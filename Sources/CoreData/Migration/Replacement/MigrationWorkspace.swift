import Foundation

/// The folder beside a store, `.<store>.migration`, in which its successor is made.
///
/// Only one migration of a store works at a time, over all processes: it has a lock on the folder, which ends with the
/// process, however that ends. What a migration left that was killed is removed by the next one.
final class MigrationWorkspace {
    // Confined to the thread of the migration.

    let folder: URL
    private let descriptor: Int32

    /// Runs work in the folder, which is gone afterwards.
    ///
    /// - Parameter timeout: seconds to wait for another process that migrates the store.
    /// - Throws: 134090 when that takes longer, the errors of the file system, and what the work throws.
    static func with<Result>(
        _ store: URL, timeout: Double, _ work: (MigrationWorkspace) throws -> Result
    ) throws -> Result {
        let workspace = try MigrationWorkspace(beside: store, timeout: timeout)
        defer { workspace.close() }
        return try work(workspace)
    }

    /// Removes what a migration left that was killed, unless another process is at work there.
    static func removeLeftovers(of store: URL) {
        guard FileManager.default.fileExists(atPath: folder(of: store).path) else { return }
        // What cannot be removed, or is in use, is for the next to come.
        try? with(store, timeout: 0) { _ in }
    }

    private init(beside store: URL, timeout: Double) throws {
        folder = Self.folder(of: store)
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

    static func folder(of store: URL) -> URL {
        store.deletingLastPathComponent().appendingPathComponent(
            ".\(store.lastPathComponent).migration", isDirectory: true)
    }

    /// Where the store of a step is made: the name stays, in a folder of the step's own.
    func place(for store: URL, step: Int) throws -> URL {
        let place = folder.appendingPathComponent("\(step)", isDirectory: true)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return place.appendingPathComponent(store.lastPathComponent)
    }

    /// Removes the store of a step that is not needed any more.
    func remove(_ store: URL) throws { try FileManager.default.removeItem(at: store.deletingLastPathComponent()) }

    private func empty() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    // MARK: The lock

    private static func locked(_ folder: URL, store: URL, until end: Date) throws -> Int32 {
        while true {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 || errno == ENOENT else { throw unlocked(store, errno) }
            if descriptor >= 0 {
                if flock(descriptor, LOCK_EX | LOCK_NB) == 0, isFolder(descriptor, folder) { return descriptor }
                Foundation.close(descriptor)
            }
            guard Date() < end else { throw unlocked(store, EWOULDBLOCK) }
            usleep(20_000)
        }
    }

    /// Whether the folder is still the one that was opened: another process may have removed it, and a third made it anew.
    private static func isFolder(_ descriptor: Int32, _ folder: URL) -> Bool {
        var (opened, there) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && stat(folder.path, &there) == 0 && opened.st_ino == there.st_ino
            && opened.st_dev == there.st_dev
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
