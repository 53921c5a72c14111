import Foundation
import StoreEngine

/// A private folder among the temporary files.
///
/// It is removed with this object, or when a signal ends the program; after `kill -9` by the next run of the program. A
/// lock shows which folders are still in use, as it ends with its process.
package final class TemporaryFolder {
    package let url: URL
    private let descriptor: Int32

    /// - Parameters:
    ///   - parent: the folder to make it in.
    ///   - prefix: begins its name, and those of leftovers.
    /// - Throws: `CommandError` if no folder can be made, or it cannot be locked.
    package init(
        in parent: URL = FileManager.default.temporaryDirectory, prefix: String = "pippin-copy-"
    ) throws {
        Self.removeLeftovers(in: parent, prefix)
        while true {
            let url = parent.appendingPathComponent(prefix + UUID().uuidString, isDirectory: true)
            // Registered first, so that a signal never meets a folder that is not.
            EndingSignals.remove(url)
            guard mkdir(url.path, 0o700) == 0 else {
                let failure = Self.failure(url)
                EndingSignals.keep(url)
                throw failure
            }
            do {
                // Another run may have found the folder before it was locked, and taken it for a leftover.
                if let descriptor = try Self.lock(url) {
                    (self.url, self.descriptor) = (url, descriptor)
                    return
                }
                EndingSignals.keep(url)
            } catch {
                rmdir(url.path)
                EndingSignals.keep(url)
                throw error
            }
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
        EndingSignals.keep(url)
        close(descriptor)
    }

    /// Removes the folders of runs that were killed.
    private static func removeLeftovers(in parent: URL, _ prefix: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        where name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil {
            let url = parent.appendingPathComponent(name, isDirectory: true)
            var facts = stat()
            guard lstat(url.path, &facts) == 0, facts.st_uid == geteuid(), let descriptor = try? lock(url) else {
                continue
            }
            try? FileManager.default.removeItem(at: url)
            close(descriptor)
        }
    }

    /// Opens and locks a folder; nil if another process has the lock, or the folder no longer exists.
    private static func lock(_ url: URL) throws -> Int32? {
        let descriptor = open(url.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(url)
        }
        do { if try FileLock.take(descriptor, url) { return descriptor } } catch {
            close(descriptor)
            throw CommandError(TextTools.withoutPeriod(error.localizedDescription))
        }
        close(descriptor)
        return nil
    }

    private static func failure(_ url: URL) -> CommandError {
        CommandError("the temporary folder “\(url.path)” cannot be made: \(String(cString: strerror(errno)))")
    }
}
