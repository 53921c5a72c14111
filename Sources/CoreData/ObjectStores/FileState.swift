import Foundation

/// A state of a file, to detect whether it has changed since it was read.
struct FileState: Equatable {
    private let date: Date?
    private let size: UInt64
    private let number: UInt64

    /// Whether the file is empty.
    var isEmpty: Bool { size == 0 }

    /// `nil` if there is no file.
    init?(of url: URL) throws {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        date = attributes[.modificationDate] as? Date
        size = (attributes[.size] as? NSNumber)?.uint64Value ?? 0
        number = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
    }
}
