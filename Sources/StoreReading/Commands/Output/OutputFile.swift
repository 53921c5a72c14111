import Foundation
import StoreEngine

/// Output into a file that appears only when it is complete.
package enum OutputFile {
    /// Writes a draft beside the file, and replaces the file by it. A link is followed. A pipe, a terminal or another
    /// device is written to directly, since a file must not replace it. A store or its log is not replaced.
    ///
    /// - Throws: what `body` throws, and `CommandError` for a file that cannot be written. The former file is unchanged
    ///   then.
    package static func write(to path: String, _ body: ((String) throws -> Void) throws -> Void) throws {
        try write(path) { buffer in try body { try buffer.write($0) } }
    }

    /// Writes bytes in the same way.
    ///
    /// - Throws: `CommandError` for a file that cannot be written. The former file is unchanged then.
    package static func write(_ data: Data, to path: String) throws {
        try write(path) { buffer in try buffer.write(data) }
    }

    private static func write(_ path: String, _ body: (OutputBuffer) throws -> Void) throws {
        var found = stat()
        guard stat(path, &found) == 0 else { return try replace(path, named: path, body) }
        switch found.st_mode & S_IFMT {
        case S_IFREG: try replace(target(of: path), named: path, body)
        case S_IFDIR: throw refusal(path, EISDIR)
        default:
            let descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw refusal(path, errno) }
            defer { close(descriptor) }
            try fill(descriptor, body)
        }
    }

    /// The file that a path with links refers to.
    private static func target(of path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func replace(_ path: String, named name: String, _ body: (OutputBuffer) throws -> Void) throws {
        guard !StoreKind.isStore(at: path) else {
            throw CommandError("“\(name)” is a store or its log, which no output replaces; name another file")
        }
        let file = URL(fileURLWithPath: path)
        removeLeftovers(of: file)
        let (descriptor, draft) = try makeDraft(of: file, named: name)
        EndingSignals.remove(draft)
        defer { EndingSignals.keep(draft) }
        do {
            do {
                // The new file gets the owner and permissions of the former one before anything is written to it.
                var former = stat()
                if stat(path, &former) == 0 {
                    if fchown(descriptor, former.st_uid, former.st_gid) != 0 {
                        _ = fchown(descriptor, uid_t.max, former.st_gid)
                    }
                    var own = stat()
                    guard fstat(descriptor, &own) == 0 else { throw refusal(name, errno) }
                    // If the group differs, group permissions are not copied.
                    let kept: mode_t = own.st_gid == former.st_gid ? 0o777 : 0o707
                    guard fchmod(descriptor, former.st_mode & kept) == 0 else { throw refusal(name, errno) }
                }
                try fill(descriptor, body)
                // Some file systems report only now that there was no room.
                guard fsync(descriptor) == 0 else { throw refusal(name, errno) }
                guard rename(draft.path, path) == 0 else { throw refusal(name, errno) }
            } catch {
                close(descriptor)
                throw error
            }
            guard close(descriptor) == 0 else { throw refusal(name, errno) }
        } catch {
            unlink(draft.path)
            throw error
        }
    }

    /// The prefix of the names of its drafts: its name, cut off so that theirs have at most 255 bytes.
    private static func prefix(_ file: URL) -> String {
        var name = file.lastPathComponent
        while name.utf8.count > 210 { name.unicodeScalars.removeLast() }
        return ".\(name).pippin-"
    }

    /// Creates the draft of the file. Its lock shows other runs that it is in use.
    private static func makeDraft(of file: URL, named name: String) throws -> (descriptor: Int32, url: URL) {
        let isThere = FileManager.default.fileExists(atPath: file.path)
        while true {
            let draft = file.deletingLastPathComponent().appendingPathComponent(prefix(file) + UUID().uuidString)
            let descriptor = open(
                draft.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, isThere ? 0o600 : 0o666)
            guard descriptor >= 0 else { throw refusal(name, errno) }
            // Without locks, the draft would only be left over if this run is killed.
            if (try? FileLock.take(descriptor, draft)) ?? true { return (descriptor, draft) }
            close(descriptor)
        }
    }

    /// Removes the drafts of runs that were killed.
    private static func removeLeftovers(of file: URL) {
        let folder = file.deletingLastPathComponent()
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        where name.hasPrefix(prefix(file)) && UUID(uuidString: String(name.dropFirst(prefix(file).count))) != nil {
            let draft = folder.appendingPathComponent(name)
            let descriptor = open(draft.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            if (try? FileLock.take(descriptor, draft)) == true { unlink(draft.path) }
            close(descriptor)
        }
    }

    private static func fill(_ descriptor: Int32, _ body: (OutputBuffer) throws -> Void) throws {
        let buffer = OutputBuffer(descriptor)
        try body(buffer)
        try buffer.flush()
    }

    private static func refusal(_ path: String, _ number: Int32) -> CommandError {
        CommandError("“\(path)” cannot be written: \(String(cString: strerror(number)))")
    }
}
