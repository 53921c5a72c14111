import Foundation

/// The bytes of a file, read piece by piece. Beyond the end there are fewer, or none.
package final class FileBytes: Sendable {
    private enum Source {
        case memory([UInt8])
        case file(Int32)
    }

    /// How many bytes there are.
    package let count: Int
    private let source: Source

    /// Bytes in memory.
    package init(_ bytes: [UInt8]) { (count, source) = (bytes.count, .memory(bytes)) }

    /// A file, which is opened for reading only; nil if it cannot be opened, or is a folder or a device.
    ///
    /// - Parameter path: the file's path.
    package init?(path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        (count, source) = (Int(facts.st_size), .file(descriptor))
    }

    deinit { if case .file(let descriptor) = source { close(descriptor) } }

    /// Reads bytes.
    ///
    /// - Parameters:
    ///   - offset: where they begin.
    ///   - wanted: how many are wanted.
    /// - Returns: those that there are, fewer at the end of the file.
    package func bytes(at offset: Int, count wanted: Int) -> [UInt8] {
        guard offset >= 0, wanted > 0, offset < count else { return [] }
        let length = min(wanted, count - offset)
        switch source {
        case .memory(let bytes): return Array(bytes[offset..<offset + length])
        case .file(let descriptor):
            return [UInt8](unsafeUninitializedCapacity: length) { buffer, done in
                while done < length {
                    let read = pread(
                        descriptor, buffer.baseAddress?.advanced(by: done), length - done, off_t(offset + done))
                    if read < 0, errno == EINTR { continue }
                    guard read > 0 else { return }
                    done += read
                }
            }
        }
    }

    /// The first place from a given one on that may have content: behind it the file system has nothing but a hole.
    ///
    /// - Parameter offset: where to begin.
    /// - Returns: the place; the end of the file if only a hole follows.
    package func nextContent(from offset: Int) -> Int {
        guard case .file(let descriptor) = source, offset < count else { return min(offset, count) }
        // SEEK_DATA, which Foundation does not name.
        let place = lseek(descriptor, off_t(offset), 3)
        if place >= 0 { return max(offset, Int(place)) }
        return errno == ENXIO ? count : offset
    }
}

extension [UInt8] {
    /// A number of two bytes, the most significant first; nil beyond the end.
    package func number16(at place: Int) -> Int? {
        guard place >= 0, place <= count - 2 else { return nil }
        return Int(self[place]) << 8 | Int(self[place + 1])
    }

    /// A number of four bytes, the most significant first; nil beyond the end.
    package func number32(at place: Int) -> UInt32? {
        guard place >= 0, place <= count - 4 else { return nil }
        return UInt32(self[place]) << 24 | UInt32(self[place + 1]) << 16 | UInt32(self[place + 2]) << 8
            | UInt32(self[place + 3])
    }

    /// A number of SQLite's variable length, of one to nine bytes.
    ///
    /// - Parameters:
    ///   - place: where it begins.
    ///   - end: where the bytes end that it may take.
    /// - Returns: the number and how many bytes it takes; nil if it does not end before `end`.
    package func varint(at place: Int, before end: Int) -> (value: Int64, count: Int)? {
        guard place >= 0, end <= count, place < end else { return nil }
        var value: UInt64 = 0
        for length in 0..<9 {
            guard place + length < end else { return nil }
            let byte = self[place + length]
            if length == 8 { return (Int64(bitPattern: value << 8 | UInt64(byte)), 9) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 { return (Int64(bitPattern: value), length + 1) }
        }
        return nil
    }
}
