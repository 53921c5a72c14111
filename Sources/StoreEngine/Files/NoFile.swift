import Foundation

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
