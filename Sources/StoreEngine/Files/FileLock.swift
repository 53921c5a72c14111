import Foundation

/// Locks by which processes see which files and folders are in use: they end with their process, however that ends.
package enum FileLock {
    /// Takes the lock of an open file or folder, without waiting.
    ///
    /// - Returns: false when somebody else has it, and when what was opened is not under its name any more: another process may
    ///   have taken it for one that was left over, just before it was locked.
    package static func take(_ descriptor: Int32, _ url: URL) -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0 && isThere(descriptor, url)
    }

    private static func isThere(_ descriptor: Int32, _ url: URL) -> Bool {
        var (opened, there) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && lstat(url.path, &there) == 0 && opened.st_ino == there.st_ino
            && opened.st_dev == there.st_dev
    }
}
