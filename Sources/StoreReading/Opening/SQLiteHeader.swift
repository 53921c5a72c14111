import Foundation

/// The size of a database according to the first 100 bytes, as SQLite documents them.
package struct SQLiteHeader {
    /// How many bytes the file lacks; nil if it is complete, or its header does not say.
    package let missingBytes: Int?

    /// - Returns: `nil` if the file cannot be read, or the process has it open: closing it once more would release
    ///   SQLite's locks.
    package init?(of url: URL) {
        guard LogFiles.kind(of: url) == nil, let file = FileHandle(forReadingAtPath: url.path) else { return nil }
        defer { try? file.close() }
        guard let header = try? file.read(upToCount: 100), let size = try? file.seekToEnd() else { return nil }
        missingBytes = Self.missingBytes([UInt8](header), fileSize: Int(clamping: size))
    }

    /// - Parameters:
    ///   - header: the bytes.
    ///   - fileSize: how long the file is.
    /// - Returns: the number of missing bytes; nil if none is missing.
    package static func missingBytes(_ header: [UInt8], fileSize: Int) -> Int? {
        guard header.count == 100 else { return nil }
        func number(_ place: Int) -> Int { header[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        // The number of pages is valid if the change counter is the one with which it was written.
        guard number(24) == number(92) else { return nil }
        let written = Int(header[16]) << 8 | Int(header[17])
        let pageSize = written == 1 ? 65536 : written
        let missing = number(28) * pageSize - fileSize
        return missing > 0 ? missing : nil
    }
}
