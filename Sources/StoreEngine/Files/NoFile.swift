import Foundation

extension URL {
    /// Whether a store at this place is kept in memory: at the device, which must never be written or deleted, or at a name below it,
    /// where no file can be.
    package var isNoFile: Bool { isFileURL && (path == "/dev/null" || path.hasPrefix("/dev/null/")) }

    /// What messages call a store at this place: its file's name in quotation marks, where there is a file.
    package var storeName: String { isNoFile ? "the store in memory" : "“\(lastPathComponent)”" }
}
