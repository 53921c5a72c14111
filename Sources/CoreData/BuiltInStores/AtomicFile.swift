import Foundation

/// Replaces a file as a whole, by way of a draft beside it. The new file is readable only to users who may read the old
/// one.
enum AtomicFile {
    /// Runs a block that compares a file with what was read, and replaces it: other processes that do the same wait.
    /// The lock is that of the file itself; a process that waited for it finds another file under the name, and locks
    /// that.
    ///
    /// A file that does not exist is made, empty.
    static func locked<Result>(_ url: URL, _ body: () throws -> Result) throws -> Result {
        let url = url.resolvingSymlinksInPath()
        while true {
            var descriptor = open(url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            if descriptor < 0, errno == ENOENT {
                descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
                if descriptor < 0, errno == EEXIST { continue }
            }
            guard descriptor >= 0 else { throw StorePermissions.error(url, "opened", errno) }
            defer { close(descriptor) }
            if try FileLock.wait(descriptor, url) { return try body() }
        }
    }

    /// Writes a file, replacing an existing one.
    static func write(_ data: Data, to url: URL) throws {
        // A symbolic link stays, and leads to the new file.
        let url = url.resolvingSymlinksInPath()
        removeLeftovers(of: url)
        let (descriptor, draft) = try makeDraft(of: url)
        defer { close(descriptor) }
        do {
            try FileWriting.write(data, to: descriptor, draft)
            guard rename(draft.path, url.path) == 0 else { throw StorePermissions.error(url, "replaced", errno) }
        } catch {
            unlink(draft.path)
            throw error
        }
    }

    /// Makes the draft that will become the new file. Its lock shows others that it is not a leftover.
    private static func makeDraft(of url: URL) throws -> (descriptor: Int32, url: URL) {
        let exists = FileManager.default.fileExists(atPath: url.path)
        while true {
            let draft = url.deletingLastPathComponent().appendingPathComponent(prefix(url) + UUID().uuidString)
            // A new file gets the usual permissions, by the process's umask.
            let descriptor =
                try exists
                ? StorePermissions(of: url).makeFile(draft)
                : open(draft.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
            guard descriptor >= 0 else { throw StorePermissions.error(draft, "made", errno) }
            do { if try FileLock.take(descriptor, draft) { return (descriptor, draft) } } catch {
                unlink(draft.path)
                close(descriptor)
                throw error
            }
            close(descriptor)
        }
    }

    private static func prefix(_ url: URL) -> String { ".\(url.lastPathComponent).saving-" }

    /// Removes the drafts of processes that were killed while they wrote.
    static func removeLeftovers(of url: URL) {
        let url = url.resolvingSymlinksInPath()
        let folder = url.deletingLastPathComponent()
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        where name.hasPrefix(prefix(url)) && UUID(uuidString: String(name.dropFirst(prefix(url).count))) != nil {
            let draft = folder.appendingPathComponent(name)
            let descriptor = open(draft.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            if (try? FileLock.take(descriptor, draft)) == true { unlink(draft.path) }
            close(descriptor)
        }
    }
}
