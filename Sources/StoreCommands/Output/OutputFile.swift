import Foundation
import StoreReading

/// A file that is there once all of it is written.
package enum OutputFile {
    /// Writes a file beside the one that it takes the place of. A link is followed; a pipe, a terminal or another device is written as it is,
    /// since a file must not take its place.
    ///
    /// - Throws: what `body` throws, and `CommandError` for a file that cannot be written; then what was there is there still.
    package static func write(to path: String, _ body: ((String) throws -> Void) throws -> Void) throws {
        try write(path) { buffer in try body { try buffer.write($0) } }
    }

    /// Writes bytes likewise.
    ///
    /// - Throws: `CommandError` for a file that cannot be written; then what was there is there still.
    package static func write(_ data: Data, to path: String) throws {
        try write(path) { buffer in try buffer.write(data) }
    }

    private static func write(_ path: String, _ body: (OutputBuffer) throws -> Void) throws {
        var found = stat()
        guard stat(path, &found) == 0 else { return try replace(path, named: path, body) }
        switch found.st_mode & S_IFMT {
        case S_IFREG: try replace(target(of: path), named: path, body)
        case S_IFDIR: throw refusal(path, EISDIR)
        default:
            let descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw refusal(path, errno) }
            defer { close(descriptor) }
            try fill(descriptor, body)
        }
    }

    /// The file that links lead to.
    private static func target(of path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func replace(_ path: String, named name: String, _ body: (OutputBuffer) throws -> Void) throws {
        let draft = path + ".pippin-\(ProcessInfo.processInfo.processIdentifier)"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw refusal(name, errno) }
        EndingSignals.remove(URL(fileURLWithPath: draft))
        defer { EndingSignals.keep(URL(fileURLWithPath: draft)) }
        do {
            defer { close(descriptor) }
            try fill(descriptor, body)
            guard rename(draft, path) == 0 else { throw refusal(name, errno) }
        } catch {
            unlink(draft)
            throw error
        }
    }

    private static func fill(_ descriptor: Int32, _ body: (OutputBuffer) throws -> Void) throws {
        let buffer = OutputBuffer(descriptor)
        try body(buffer)
        try buffer.flush()
    }

    private static func refusal(_ path: String, _ number: Int32) -> CommandError {
        CommandError("“\(path)” cannot be written: \(String(cString: strerror(number)))")
    }
}
