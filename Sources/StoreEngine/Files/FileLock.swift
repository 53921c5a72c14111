import Foundation

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
