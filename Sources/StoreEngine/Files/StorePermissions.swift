import CoreDataModel
import Foundation

/// Gives files beside a store the store's permissions, from the moment they are created.
package struct StorePermissions {
    /// The permissions of files: those of the store.
    let file: mode_t
    /// The permissions of folders: users who may read files may search folders.
    let folder: mode_t
    /// The owner of files that the superuser makes.
    private let owner: (user: uid_t, group: gid_t)?

    /// - Parameter store: the store's file; if there is none, new files are for their owner only.
    package init(of store: URL) {
        var status = stat()
        if stat(store.path, &status) == 0 {
            file = status.st_mode & 0o666
            owner = geteuid() == 0 ? (status.st_uid, status.st_gid) : nil
        } else {
            file = 0o600
            owner = nil
        }
        folder = file | (file & 0o444) >> 2
    }

    /// Makes a folder, unless there is one.
    ///
    /// - Throws: an error if something else has that name, including a symbolic link to a folder.
    package func makeFolder(_ url: URL) throws {
        if mkdir(url.path, folder) == 0 {
            let descriptor = open(url.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.error(url, "opened", errno) }
            widen(descriptor, to: folder)
            close(descriptor)
            return
        }
        let number = errno
        guard number == EEXIST else { throw Self.error(url, "made", number) }
        var status = stat()
        guard lstat(url.path, &status) == 0 else { throw Self.error(url, "opened", errno) }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return
        case S_IFLNK:
            throw Self.error(url, "used: it is a symbolic link, which is not followed. Put a folder in its place")
        default: throw Self.error(url, "used: it is not a folder")
        }
    }

    /// Makes a new file.
    ///
    /// - Returns: its descriptor, for writing and reading.
    /// - Throws: an error if the name is in use.
    package func makeFile(_ url: URL) throws -> Int32 {
        let descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file)
        guard descriptor >= 0 else { throw Self.error(url, "made", errno) }
        widen(descriptor, to: file)
        return descriptor
    }

    /// Makes an empty file for SQLite to fill, unless it exists: a file made by SQLite itself would be readable by
    /// all users. Its owner may write it even if the store is read-only: it is going to be filled.
    ///
    /// - Returns: whether the file was made.
    @discardableResult
    package func makeDatabase(_ url: URL) throws -> Bool {
        let mode = file | 0o600
        let descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        if descriptor < 0, errno == EEXIST { return false }
        guard descriptor >= 0 else { throw Self.error(url, "made", errno) }
        widen(descriptor, to: mode)
        close(descriptor)
        return true
    }

    /// Restores permissions that the process's umask removed: a group that shares a store also shares its files. SQLite
    /// does so with its own files.
    private func widen(_ descriptor: Int32, to mode: mode_t) {
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & 0o777 != mode { fchmod(descriptor, mode) }
        if let owner { _ = fchown(descriptor, owner.user, owner.group) }
    }

    /// The file system's error for an error number.
    package static func error(_ url: URL, _ work: String, _ number: Int32) -> NSError {
        let code: CocoaError.Code =
            switch number {
            case ENOSPC, EDQUOT: .fileWriteOutOfSpace
            case EACCES, EPERM: .fileWriteNoPermission
            case EROFS: .fileWriteVolumeReadOnly
            default: .fileWriteUnknown
            }
        return StoreError.make(
            code.rawValue, "“\(url.path)” cannot be \(work): \(String(cString: strerror(number))).", url: url,
            underlying: NSError(domain: NSPOSIXErrorDomain, code: Int(number)))
    }

    private static func error(_ url: URL, _ work: String) -> NSError {
        StoreError.make(CocoaError.Code.fileWriteUnknown.rawValue, "“\(url.path)” cannot be \(work).", url: url)
    }
}

/// Writes bytes so that they are on the disk.
package enum FileWriting {
    /// Writes all bytes, and waits until they are on the disk: otherwise a row that refers to them might become
    /// permanent before they do.
    package static func write(_ content: Data, to descriptor: Int32, _ url: URL) throws {
        try content.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = Foundation.write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw StorePermissions.error(url, "written", errno) }
                done += count
            }
        }
        guard fsync(descriptor) == 0 else { throw StorePermissions.error(url, "written to the disk", errno) }
    }
}
