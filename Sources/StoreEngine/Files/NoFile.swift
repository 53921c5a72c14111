import Foundation

extension URL {
    /// Whether a store at this place is kept in memory. The device itself must never be written, or deleted.
    package var isNoFile: Bool { isFileURL && path == "/dev/null" }

    /// What messages call a store at this place: its file's name in quotation marks, where there is a file.
    package var storeName: String { isNoFile ? "the store in memory" : "“\(lastPathComponent)”" }
}
