import Foundation

/// Collects small pieces of output into large writes, each of which is checked.
package final class OutputBuffer {
    /// The reader has closed the output.
    package struct Closed: Error {}

    private let descriptor: Int32
    private var bytes: [UInt8] = []

    /// - Parameter descriptor: a file that is open for writing, and stays open.
    package init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// - Throws: `Closed` if the reader has closed the pipe, `CommandError` for other failures to write.
    package func write(_ text: String) throws {
        bytes += text.utf8
        if bytes.count >= 1 << 16 { try flush() }
    }

    /// Writes bytes; throws as `write` for texts does.
    package func write(_ data: Data) throws {
        bytes += data
        if bytes.count >= 1 << 16 { try flush() }
    }

    /// Writes the remaining output; throws as `write` does. Output that could not be written is lost.
    package func flush() throws {
        defer { bytes.removeAll(keepingCapacity: true) }
        try bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                    continue
                }
                switch errno {
                case EINTR: continue
                case EPIPE: throw Closed()
                case EAGAIN: wait()
                case let number:
                    throw CommandError("the output cannot be written: \(String(cString: strerror(number)))")
                }
            }
        }
    }

    /// Waits for room in a pipe that another process has made non-blocking.
    private func wait() {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&request, 1, -1)
    }
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate var baseAddress: UnsafeRawPointer? { base.baseAddress?.advanced(by: startIndex) }
}
