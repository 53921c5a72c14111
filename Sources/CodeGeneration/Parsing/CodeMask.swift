/// Finds what in a Swift source is code and what is comment or string.
///
/// The compiler does the parsing (see `SyntaxTree`); the mask serves where it cannot help: for conditional
/// compilation, which it skips when it only parses, and to read types without the comments between them.
struct CodeMask {
    /// The source, byte for byte, with a space for each byte of a comment or a string; line ends stay.
    private(set) var bytes: [UInt8]
    private var index = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The code of a source.
    static func code(of bytes: [UInt8]) -> [UInt8] {
        var mask = CodeMask(bytes)
        mask.maskCode(untilParenthesisCloses: false)
        return mask.bytes
    }

    private func at(_ offset: Int) -> UInt8 {
        offset < bytes.count ? bytes[offset] : 0
    }

    private mutating func blank(_ count: Int) {
        for offset in index..<min(index + count, bytes.count) where bytes[offset] != UInt8(ascii: "\n") {
            bytes[offset] = UInt8(ascii: " ")
        }
        index += count
    }

    /// Steps over code. Inside an interpolation it ends after the closing parenthesis, and code counts as string.
    private mutating func maskCode(untilParenthesisCloses isInterpolation: Bool) {
        var depth = 1
        while index < bytes.count {
            switch (at(index), at(index + 1)) {
            case (UInt8(ascii: "/"), UInt8(ascii: "/")):
                while index < bytes.count, at(index) != UInt8(ascii: "\n") { blank(1) }
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                maskBlockComment()
            case (UInt8(ascii: "\""), _):
                maskString(pounds: 0)
            case (UInt8(ascii: "/"), _) where isPrefix:
                maskRegularExpression(pounds: 0)
            case (UInt8(ascii: "#"), _):
                var pounds = 0
                while at(index + pounds) == UInt8(ascii: "#") { pounds += 1 }
                switch at(index + pounds) {
                case UInt8(ascii: "\""):
                    blank(pounds)
                    maskString(pounds: pounds)
                case UInt8(ascii: "/"): maskRegularExpression(pounds: pounds)
                default: index += pounds
                }
            case (UInt8(ascii: "("), _) where isInterpolation:
                depth += 1
                blank(1)
            case (UInt8(ascii: ")"), _) where isInterpolation:
                depth -= 1
                blank(1)
                if depth == 0 { return }
            default:
                if isInterpolation { blank(1) } else { index += 1 }
            }
        }
    }

    private mutating func maskBlockComment() {
        var depth = 0
        repeat {
            switch (at(index), at(index + 1)) {
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                depth += 1
                blank(2)
            case (UInt8(ascii: "*"), UInt8(ascii: "/")):
                depth -= 1
                blank(2)
            default:
                blank(1)
            }
        } while depth > 0 && index < bytes.count
    }

    /// Whether nothing is directly before the byte here, and something behind it, as it is with a prefix operator.
    private var isPrefix: Bool {
        let before = index == 0 ? UInt8(ascii: " ") : at(index - 1)
        return " \t\n\r([{,;:!".utf8.contains(before) && !" \t\n\r\0".utf8.contains(at(index + 1))
    }

    /// Steps over a regular expression, or over its beginning if there is none: it ends on its line, unless it has
    /// number signs and begins on the next one.
    private mutating func maskRegularExpression(pounds: Int) {
        var end = index + pounds + 1
        let line = bytes[min(end, bytes.count)...].prefix { $0 != UInt8(ascii: "\n") }
        let isMultiline = pounds > 0 && line.allSatisfy { " \t\r".utf8.contains($0) }
        while end < bytes.count, isMultiline || at(end) != UInt8(ascii: "\n") {
            if at(end) == UInt8(ascii: "/"), hasPounds(pounds, at: end + 1) { return blank(end + 1 + pounds - index) }
            end += at(end) == UInt8(ascii: "\\") ? 2 : 1
        }
        index += pounds + 1
    }

    /// Steps over a string that starts at the quotation mark; a string on one line ends with the line at the latest.
    private mutating func maskString(pounds: Int) {
        let quote = UInt8(ascii: "\"")
        let isMultiline = at(index + 1) == quote && at(index + 2) == quote
        blank(isMultiline ? 3 : 1)
        while index < bytes.count {
            let byte = at(index)
            if byte == UInt8(ascii: "\n"), !isMultiline { return }
            if byte == UInt8(ascii: "\\"), hasPounds(pounds, at: index + 1) {
                let escaped = at(index + 1 + pounds)
                blank(min(2 + pounds, bytes.count - index))
                if escaped == UInt8(ascii: "(") { maskCode(untilParenthesisCloses: true) }
            } else if byte == quote, !isMultiline || (at(index + 1) == quote && at(index + 2) == quote),
                hasPounds(pounds, at: index + (isMultiline ? 3 : 1))
            {
                blank((isMultiline ? 3 : 1) + pounds)
                return
            } else {
                blank(1)
            }
        }
    }

    private func hasPounds(_ count: Int, at offset: Int) -> Bool {
        (0..<count).allSatisfy { at(offset + $0) == UInt8(ascii: "#") }
    }
}
