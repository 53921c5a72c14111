import Foundation

extension URL {
    /// Whether a store at this place is kept in memory. The device itself must never be written, or deleted.
    package var isNoFile: Bool { isFileURL && path == "/dev/null" }
}
