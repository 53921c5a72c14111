import Foundation
import ModelMacro

// The compiler runs this program and asks it to expand macros. Messages come through standard input, answers go to
// standard output: eight bytes of length, the lowest first, followed by that many bytes of JSON. The end of input, or a
// message of length 0, ends the program.

/// - Returns: exactly `count` bytes; nil at the end of input.
func read(_ count: Int) throws -> Data? {
    var bytes = Data()
    while bytes.count < count {
        guard let more = try FileHandle.standardInput.read(upToCount: count - bytes.count), !more.isEmpty else {
            return nil
        }
        bytes += more
    }
    return bytes
}

while let head = try read(8) {
    let length = head.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard length > 0, length < 1 << 30, let body = try read(Int(length)) else { break }
    let answer = try JSONEncoder().encode(try JSONDecoder().decode(CompilerMessage.self, from: body).answer)
    let lengthBytes = (0..<8).map { UInt8(truncatingIfNeeded: answer.count >> ($0 * 8)) }
    try FileHandle.standardOutput.write(contentsOf: Data(lengthBytes) + answer)
}
