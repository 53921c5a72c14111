import CompactCollections
import Foundation
import Synchronization

/// A cache of the last `VersionInfo.plist`, so that reading a package's versions one by one reads that file once.
struct LatestVersionInfo {
    /// The state of a file that is visible without reading it.
    private struct State: Equatable {
        let path: String
        let size: UInt64
        let number: UInt64
        let changed: Date

        /// - Returns: `nil` for a file whose state cannot be read; reading the file reports the reason.
        init?(_ file: URL) {
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: file.path),
                let size = attributes[.size] as? NSNumber, let number = attributes[.systemFileNumber] as? NSNumber,
                let changed = attributes[.modificationDate] as? Date
            else { return nil }
            path = file.path
            (self.size, self.number, self.changed) = (size.uint64Value, number.uint64Value, changed)
        }
    }

    /// The cache of the whole program.
    static let shared = Mutex(LatestVersionInfo())

    private var latest: (state: State, info: VersionInfo)?

    /// Reads a file, unless it was the last one read and has not changed since.
    ///
    /// - Throws: the errors of `VersionInfo.init(data:)`, and those of reading.
    mutating func info(of file: URL) throws -> VersionInfo {
        let state = State(file)
        if let latest, latest.state == state { return latest.info }
        let info = try VersionInfo(data: Data(contentsOf: file))
        latest = state.map { ($0, info) }
        return info
    }
}
