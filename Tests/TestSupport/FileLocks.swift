import Foundation

/// The locks that this process has on files, as Linux lists them.
package enum FileLocks {
    /// Whether the system has such a list.
    package static let areListed = FileManager.default.isReadableFile(atPath: list)

    private static let list = "/proc/locks"

    /// The locks that this process has on a file: kind and range of each.
    ///
    /// The system is asked several times, because its list leaves lines out or repeats them where other locks change
    /// while it is read.
    package static func held(on path: String) throws -> Set<Substring> {
        guard let node = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int else {
            throw CocoaError(.fileReadUnknown)
        }
        return try (0..<20).reduce(into: []) { found, _ in
            found.formUnion(
                try lines().filter { $0.contains(" \(getpid()) ") && $0.contains(":\(node) ") }
                    .map { $0.drop { $0 != " " } })
        }
    }

    /// The list, read to its end: the system says no size.
    private static func lines() throws -> [Substring] {
        guard let handle = FileHandle(forReadingAtPath: list) else { throw CocoaError(.fileReadNoPermission) }
        return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n")
    }
}
