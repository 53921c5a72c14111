import Foundation

/// What the first 100 bytes of a database say of its size, as SQLite documents them.
package struct SQLiteHeader {
    /// How many bytes the file lacks; nil where it is whole, or its header does not tell.
    package let missingBytes: Int?

    /// - Returns: `nil` where the file cannot be read.
    package init?(of url: URL) {
        guard let file = FileHandle(forReadingAtPath: url.path) else { return nil }
        defer { try? file.close() }
        guard let header = try? file.read(upToCount: 100), let size = try? file.seekToEnd() else { return nil }
        missingBytes = Self.missingBytes([UInt8](header), fileSize: Int(clamping: size))
    }

    /// - Parameters:
    ///   - header: the bytes.
    ///   - fileSize: how long the file is.
    /// - Returns: the number of bytes that the file lacks; nil when it lacks none.
    package static func missingBytes(_ header: [UInt8], fileSize: Int) -> Int? {
        guard header.count == 100 else { return nil }
        func number(_ place: Int) -> Int { header[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        // The number of pages is good as long as the change counter is the one that it was written with.
        guard number(24) == number(92) else { return nil }
        let written = Int(header[16]) << 8 | Int(header[17])
        let pageSize = written == 1 ? 65536 : written
        let missing = number(28) * pageSize - fileSize
        return missing > 0 ? missing : nil
    }
}
