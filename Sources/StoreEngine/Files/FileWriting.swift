import Foundation

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
