import Foundation
import Synchronization

/// The `VersionInfo.plist` that was read last: who reads the versions of a package one by one reads what it says of them once.
struct LatestVersionInfo {
    /// A file as it shows without being read.
    private struct State: Equatable {
        let path: String
        let size: UInt64
        let number: UInt64
        let changed: Date

        /// - Returns: `nil` for a file that cannot be looked at; who reads it is told why.
        init?(_ file: URL) {
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: file.path),
                let size = attributes[.size] as? NSNumber, let number = attributes[.systemFileNumber] as? NSNumber,
                let changed = attributes[.modificationDate] as? Date
            else { return nil }
            path = file.path
            (self.size, self.number, self.changed) = (size.uint64Value, number.uint64Value, changed)
        }
    }

    /// That of the whole program.
    static let shared = Mutex(LatestVersionInfo())

    private var latest: (state: State, info: VersionInfo)?

    /// Reads a file, unless it is the one that was read last and has not changed since.
    ///
    /// - Throws: what `VersionInfo.init(data:)` throws, and the errors of reading.
    mutating func info(of file: URL) throws -> VersionInfo {
        let state = State(file)
        if let latest, latest.state == state { return latest.info }
        let info = try VersionInfo(data: Data(contentsOf: file))
        latest = state.map { ($0, info) }
        return info
    }
}
