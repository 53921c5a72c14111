import Foundation

/// A program that the compiler runs and asks to expand macros.
///
/// Messages come through standard input, answers go to standard output: eight bytes of length, the lowest first,
/// followed by that many bytes of JSON. The end of input, or a message of length 0, ends the program.
package enum MacroServer {
    /// Answers messages until the compiler has no more.
    ///
    /// - Parameter expand: expands a macro that is attached to a declaration.
    /// - Throws: the errors of reading, and of messages that are no JSON.
    package static func run(_ expand: (CompilerMessage.Attached) -> MacroExpansion) throws {
        while let head = try read(8) {
            let length = head.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard length > 0, length < 1 << 30, let body = try read(Int(length)) else { return }
            let message = try JSONDecoder().decode(CompilerMessage.self, from: body)
            let answer = try JSONEncoder().encode(message.answer(expand))
            let lengthBytes = (0..<8).map { UInt8(truncatingIfNeeded: answer.count >> ($0 * 8)) }
            try FileHandle.standardOutput.write(contentsOf: Data(lengthBytes) + answer)
        }
    }

    /// - Returns: exactly `count` bytes; nil at the end of input.
    private static func read(_ count: Int) throws -> Data? {
        var bytes = Data()
        while bytes.count < count {
            guard let more = try FileHandle.standardInput.read(upToCount: count - bytes.count), !more.isEmpty else {
                return nil
            }
            bytes += more
        }
        return bytes
    }
}
