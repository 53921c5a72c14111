import Foundation

/// A private folder among the temporary files.
///
/// It is removed with this object, or when a signal ends the program; after `kill -9` by the next run of the program. A
/// lock shows which folders are still in use, as it ends with its process.
package final class TemporaryFolder {
    package let url: URL
    private let descriptor: Int32

    private static let prefix = "pippin-copy-"

    /// - Throws: `CommandError` if no folder can be made.
    package init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        Self.removeLeftovers(in: parent)
        while true {
            let url = parent.appendingPathComponent(Self.prefix + UUID().uuidString, isDirectory: true)
            guard mkdir(url.path, 0o700) == 0 else {
                throw CommandError(
                    "cannot make the folder “\(url.path)” for a copy of the store: \(String(cString: strerror(errno)))")
            }
            EndingSignals.remove(url)
            // Another run may have found the folder before it was locked, and taken it for a leftover.
            if let descriptor = Self.lock(url) {
                self.url = url
                self.descriptor = descriptor
                return
            }
            EndingSignals.keep(url)
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
        EndingSignals.keep(url)
        close(descriptor)
    }

    /// Removes the folders of runs that were killed.
    private static func removeLeftovers(in parent: URL) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        where name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil {
            let url = parent.appendingPathComponent(name, isDirectory: true)
            guard let descriptor = lock(url) else { continue }
            try? FileManager.default.removeItem(at: url)
            close(descriptor)
        }
    }

    /// Opens and locks a folder of this user; nil if another process has the lock, or the folder no longer exists.
    private static func lock(_ url: URL) -> Int32? {
        let descriptor = open(url.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var (opened, there) = (stat(), stat())
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &opened) == 0, lstat(url.path, &there) == 0,
            opened.st_ino == there.st_ino, opened.st_dev == there.st_dev, opened.st_uid == geteuid()
        {
            return descriptor
        }
        close(descriptor)
        return nil
    }
}
