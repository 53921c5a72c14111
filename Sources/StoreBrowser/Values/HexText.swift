import Foundation
import StoreReading

/// Bytes for people: offsets, hexadecimal digits, and the characters that are text. Pure.
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

    /// All bytes in the form in which they are typed: pairs of digits, sixteen per line.
    static func digits(of data: Data) -> String {
        let pairs = data.map { digits($0, 2) }
        return stride(from: 0, to: pairs.count, by: 16).map {
            pairs[$0..<min($0 + 16, pairs.count)].joined(separator: " ")
        }.joined(separator: "\n")
    }

    /// The bytes of pairs of digits, with white space between them or without; nil for other text.
    static func data(_ text: String) -> Data? {
        var data = Data()
        for word in text.split(whereSeparator: \.isWhitespace) {
            let digits = word.unicodeScalars.map { Character($0).isASCII ? Character($0).hexDigitValue : nil }
            guard digits.count.isMultiple(of: 2) else { return nil }
            for place in stride(from: 0, to: digits.count, by: 2) {
                guard let high = digits[place], let low = digits[place + 1] else { return nil }
                data.append(UInt8(high << 4 | low))
            }
        }
        return data
    }

    /// The number, kind and beginning of bytes, on one line.
    static func summary(of data: Data) -> String {
        let kind = MediaType(of: data).map { ", \($0.name)" } ?? ""
        let start = data.prefix(12).map { digits($0, 2) }.joined(separator: " ")
        return TextTools.count(data.count, "byte") + kind
            + (data.isEmpty ? "" : ": \(start)\(data.count > 12 ? " …" : "")")
    }

    private static func digits(_ number: some BinaryInteger, _ count: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}

/// The images that are displayed, recognized by their first bytes. SVG is excluded, as it may contain scripts.
enum MediaType: String {
    case png = "image/png"
    case jpeg = "image/jpeg"
    case gif = "image/gif"
    case webp = "image/webp"

    var name: String { rawValue.dropFirst(6).uppercased() + " image" }

    init?(of data: Data) {
        let start = Array(data.prefix(12))
        if start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if start.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if start.starts(with: Array("GIF8".utf8)) {
            self = .gif
        } else if start.starts(with: Array("RIFF".utf8)), start.dropFirst(8).elementsEqual("WEBP".utf8) {
            self = .webp
        } else {
            return nil
        }
    }
}
