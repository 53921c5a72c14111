import Foundation

/// The elements of an array in JSON, one after the other, as bytes that are not parsed further.
struct JSONArrayReader {
    /// The file has no array.
    struct Mistake: Error {}

    private var bytes: ByteReader
    private var hasBegun = false

    init(_ bytes: ByteReader) { self.bytes = bytes }

    /// How much of the file was read.
    var fraction: Double? { bytes.fraction }

    /// The next element; nil at the end of the array, behind which there must be nothing.
    ///
    /// - Throws: `Mistake` for what is not an array, or one that does not end; the errors of the file.
    mutating func next() throws -> Data? {
        if !hasBegun {
            try bytes.skipMark()
            try expect(UInt8(ascii: "["))
            hasBegun = true
            if try skipBlanks() == UInt8(ascii: "]") { return try end() }
            return try element()
        }
        switch try skipBlanks() {
        case UInt8(ascii: ","):
            _ = try bytes.next()
            return try element()
        case UInt8(ascii: "]"): return try end()
        default: throw Mistake()
        }
    }

    private mutating func expect(_ byte: UInt8) throws {
        guard try skipBlanks() == byte else { throw Mistake() }
        _ = try bytes.next()
    }

    private mutating func end() throws -> Data? {
        _ = try bytes.next()
        guard try skipBlanks() == nil else { throw Mistake() }
        return nil
    }

    private mutating func skipBlanks() throws -> UInt8? {
        while let byte = try bytes.peek() {
            guard [0x20, 0x09, 0x0A, 0x0D].contains(byte) else { return byte }
            _ = try bytes.next()
        }
        return nil
    }

    /// Up to the comma or bracket that is the array's own.
    private mutating func element() throws -> Data {
        var element = Data()
        var (depth, isText, isEscaped) = (0, false, false)
        while let byte = try bytes.peek() {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
            } else {
                switch byte {
                case UInt8(ascii: "\""): isText = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: ",") where depth == 0: return element
                case UInt8(ascii: "]") where depth == 0: return element
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
            }
            element.append(byte)
            _ = try bytes.next()
        }
        throw Mistake()
    }
}

/// The bytes of a file, one after the other; a piece of it is in memory at a time.
struct ByteReader {
    private static let piece = 1 << 18

    private let file: FileHandle
    private var buffer: [UInt8]
    private var position = 0
    /// How many bytes came before those in memory, and how many there are in all; 0 for what has no size.
    private var passed = 0
    private let size: Int

    /// How much of the file was read; nil for what has no size, such as a pipe.
    var fraction: Double? { size > 0 ? Double(passed + position) / Double(size) : nil }

    /// - Parameter path: the file's path; `-` for the standard input.
    /// - Throws: `CommandError` for a file that cannot be read.
    init(path: String) throws {
        func failure(_ reason: String) -> CommandError { CommandError("“\(path)” cannot be read: \(reason)") }
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw failure(errno == ENOENT ? "there is no such file" : String(cString: strerror(errno)))
        }
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        buffer = []
        var facts = stat()
        size = fstat(descriptor, &facts) == 0 ? Int(facts.st_size) : 0
        do { try fill() } catch { throw failure((error as? CommandError)?.message ?? "\(error)") }
    }

    /// - Returns: whether there is more.
    @discardableResult private mutating func fill() throws -> Bool {
        var bytes = [UInt8](repeating: 0, count: Self.piece)
        while true {
            let count = read(file.fileDescriptor, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CommandError(String(cString: strerror(errno))) }
            bytes.removeLast(bytes.count - count)
            passed += buffer.count
            (buffer, position) = (bytes, 0)
            return count > 0
        }
    }

    /// The next byte, which stays where it is; nil at the end.
    mutating func peek() throws -> UInt8? {
        if position == buffer.count, try !fill() { return nil }
        return buffer[position]
    }

    /// The next byte; nil at the end.
    mutating func next() throws -> UInt8? {
        if position == buffer.count, try !fill() { return nil }
        position += 1
        return buffer[position - 1]
    }

    /// Appends the bytes up to a quotation mark, a comma or the end of a line to a cell; up to a quotation mark only
    /// within quotation marks.
    ///
    /// - Returns: how many line feeds are among them.
    mutating func copyCell(to cell: inout [UInt8], isQuoted: Bool) throws -> Int {
        var lines = 0
        repeat {
            let start = position
            buffer.withUnsafeBufferPointer { bytes in
                while position < bytes.count {
                    switch bytes[position] {
                    case UInt8(ascii: "\""): return
                    case UInt8(ascii: ","), 0x0D: if !isQuoted { return }
                    case 0x0A:
                        if !isQuoted { return }
                        lines += 1
                    default: break
                    }
                    position += 1
                }
            }
            cell.append(contentsOf: buffer[start..<position])
        } while try position == buffer.count && fill()
        return lines
    }

    /// The bytes up to the end of a line, which goes, too; nil at the end of the file.
    mutating func line() throws -> Data? {
        guard try peek() != nil else { return nil }
        var line = Data()
        repeat {
            let rest = buffer[position...]
            if let end = rest.firstIndex(of: 0x0A) {
                line.append(contentsOf: rest[..<end])
                position = end + 1
                return line
            }
            line.append(contentsOf: rest)
            position = buffer.count
        } while try fill()
        return line
    }

    /// Leaves out a mark of the order of bytes.
    mutating func skipMark() throws {
        _ = try peek()
        if buffer[position...].starts(with: [0xEF, 0xBB, 0xBF]) { position += 3 }
    }
}
