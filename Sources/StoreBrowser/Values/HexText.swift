import Foundation

/// Bytes as people read them: places, hexadecimal digits, and what of them is text. Pure.
enum HexText {
    /// How many bytes are shown.
    static let shown = 512

    static func text(of data: Data) -> String {
        let bytes = Array(data.prefix(shown))
        return stride(from: 0, to: bytes.count, by: 16).map { start in
            let line = bytes[start..<min(start + 16, bytes.count)]
            let digits = line.map { self.digits($0, 2) }.joined(separator: " ")
            let shown = line.map { (0x20..<0x7F).contains($0) ? String(Unicode.Scalar($0)) : "·" }.joined()
            let padding = String(repeating: " ", count: 47 - digits.count)
            return "\(self.digits(start, 6))  \(digits)\(padding)  \(shown)"
        }.joined(separator: "\n")
    }

    private static func digits(_ number: some BinaryInteger, _ count: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
