import Foundation

/// Collects small pieces of output into large writes.
final class OutputBuffer {
    /// Nobody reads on.
    struct Closed: Error {}

    private let file: FileHandle
    private var bytes: [UInt8] = []

    init(_ file: FileHandle) { self.file = file }

    func write(_ text: String) throws {
        bytes += text.utf8
        if bytes.count >= 1 << 16, !flush() { throw Closed() }
    }

    /// Writes what is left; false when nobody reads on.
    func flush() -> Bool {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes.isEmpty || (try? file.write(contentsOf: Data(bytes))) != nil
    }
}
