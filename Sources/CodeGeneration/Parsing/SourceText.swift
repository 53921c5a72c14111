import Foundation

/// The text of one source file, with positions by byte, as the compiler counts them.
struct SourceText: Sendable {
    let path: String
    let bytes: [UInt8]
    private let lineStarts: [Int]

    init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
        var starts = [0]
        for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(offset + 1) }
        lineStarts = starts
    }

    init(path: String, text: String) {
        self.init(path: path, bytes: Array(text.utf8))
    }

    /// Reads a file.
    /// - Throws: `GenerationFailure`, naming the file.
    init(contentsOf path: String) throws {
        do {
            self.init(path: path, bytes: Array(try Data(contentsOf: URL(fileURLWithPath: path))))
        } catch {
            throw GenerationFailure(file: path, "the file cannot be read: \(error.localizedDescription)")
        }
    }

    /// The file's name without its folder.
    var fileName: String { (path as NSString).lastPathComponent }

    /// Line and column of a byte, both counted from 1.
    func position(of offset: Int) -> (line: Int, column: Int) {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return (low + 1, offset - lineStarts[low] + 1)
    }

    /// A problem at a byte of this file.
    func problem(at offset: Int, _ message: String) -> Problem {
        let (line, column) = position(of: offset)
        return Problem(file: path, line: line, column: column, message: message)
    }

    /// The text of some bytes.
    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range.clamped(to: 0..<bytes.count)], as: UTF8.self)
    }
}
