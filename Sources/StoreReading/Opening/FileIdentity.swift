import Foundation

/// Which file a path leads to: the device and the number of its inode.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let node: UInt64

    /// - Returns: nil if there is no such file.
    init?(of url: URL) {
        var facts = stat()
        guard stat(url.path, &facts) == 0 else { return nil }
        (device, node) = (UInt64(facts.st_dev), UInt64(facts.st_ino))
    }
}
