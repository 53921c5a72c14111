import Foundation
import StoreReading

/// A file that is there once all of it is written.
enum OutputFile {
    /// Writes a file beside the one that it takes the place of.
    ///
    /// - Throws: what `body` throws, and `CommandError` for a file that cannot be written; then what was there is there still.
    static func write(to path: String, _ body: ((String) throws -> Void) throws -> Void) throws {
        let draft = path + ".pippin-\(ProcessInfo.processInfo.processIdentifier)"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw CommandError("“\(path)” cannot be written: \(String(cString: strerror(errno)))")
        }
        EndingSignals.remove(URL(fileURLWithPath: draft))
        defer { EndingSignals.keep(URL(fileURLWithPath: draft)) }
        do {
            let buffer = OutputBuffer(descriptor)
            try body { try buffer.write($0) }
            try buffer.flush()
            close(descriptor)
            guard rename(draft, path) == 0 else {
                throw CommandError("“\(path)” cannot be written: \(String(cString: strerror(errno)))")
            }
        } catch {
            unlink(draft)
            throw error
        }
    }
}
