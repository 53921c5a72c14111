import Foundation

extension URL {
    /// Whether a store at this place is kept in memory: at `/dev/null`, which must never be written or deleted, or at a
    /// name below it, where no file can be.
    package var isNoFile: Bool { isFileURL && (path == "/dev/null" || path.hasPrefix("/dev/null/")) }

    /// The name of the store in messages: its file's name in quotation marks, if there is a file.
    package var storeName: String { isNoFile ? "the store in memory" : "“\(lastPathComponent)”" }
}
