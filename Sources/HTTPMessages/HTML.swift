/// Markup: literals of the program are taken as they are, interpolated texts are escaped.
///
/// ```swift
/// let name = "<script>"
/// let cell: HTML = "<td>\(name)</td>"     // <td>&lt;script&gt;</td>
/// ```
public struct HTML: Sendable, Equatable, ExpressibleByStringInterpolation {
    /// The markup.
    public private(set) var text: String

    /// Creates markup of a literal.
    ///
    /// - Parameter value: the markup.
    public init(stringLiteral value: String) { text = value }

    /// Creates markup of a literal with values in it.
    ///
    /// - Parameter stringInterpolation: the literal's parts.
    public init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    /// Takes a text as markup, without escaping: for the output of other programs that is escaped already.
    ///
    /// - Parameter text: the markup.
    public init(trusted text: String) { self.text = text }

    /// Concatenates markup.
    ///
    /// - Parameters:
    ///   - left: the first part.
    ///   - right: the second part.
    /// - Returns: both.
    public static func + (left: HTML, right: HTML) -> HTML { HTML(trusted: left.text + right.text) }

    /// Appends to markup.
    ///
    /// - Parameters:
    ///   - left: the markup that is extended.
    ///   - right: the appended part.
    public static func += (left: inout HTML, right: HTML) { left.text += right.text }

    /// Escapes a text for markup and attribute values.
    ///
    /// - Parameter text: any text.
    /// - Returns: the text that ``visible(_:)`` returns, escaped.
    public static func escaped(_ text: String) -> String {
        withEntities(visible(text))
    }

    /// The text as the value of a form field; a browser sends ``sendable(_:)`` back. Characters that change the
    /// direction of writing are kept, since a field isolates its text.
    ///
    /// - Parameter text: any text.
    public init(value text: String) { self.text = HTML.withEntities(HTML.sendable(text)) }

    /// The text as a form field can hold it: line ends are LF, and NUL and a lone CR, which HTML cannot contain, are
    /// shown as ␀ and ␍.
    ///
    /// - Parameter text: any text.
    /// - Returns: the text without NUL and CR.
    public static func sendable(_ text: String) -> String {
        if !text.utf8.contains(where: { $0 == 0x0D || $0 == 0 }) { return text }
        var result = String.UnicodeScalarView()
        var last: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\0": result.append("\u{2400}")
            case "\r": result.append("\u{240D}")
            case "\n":
                // CRLF is one line end.
                if last == "\r" { result.removeLast() }
                result.append(scalar)
            default: result.append(scalar)
            }
            last = scalar
        }
        return String(result)
    }

    /// The text that a form sent, with CRLF, NUL and CR restored if the former text had them (and none of their
    /// symbols).
    ///
    /// - Parameters:
    ///   - sent: the text from the form.
    ///   - former: the text that the form was made with.
    /// - Returns: the text with line ends and control characters as the former one had them.
    public static func restored(_ sent: String, like former: String) -> String {
        let scalars = former.unicodeScalars
        let hasPairs = former.contains("\r\n")
        let hadNull = scalars.contains("\0") && !scalars.contains("\u{2400}")
        let hadReturn = scalars.contains("\r") && !scalars.contains("\u{240D}")
        // By scalars: a combining character after a symbol is a part of the same `Character`.
        var result = String.UnicodeScalarView()
        var last: Unicode.Scalar?
        for scalar in sent.unicodeScalars {
            switch scalar {
            case "\n" where hasPairs && last != "\r": result.append(contentsOf: "\r\n".unicodeScalars)
            case "\u{2400}" where hadNull: result.append("\0")
            case "\u{240D}" where hadReturn: result.append("\r")
            default: result.append(scalar)
            }
            last = scalar
        }
        return String(result)
    }

    private static func withEntities(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "`": result += "&#96;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The text as a page shows it: control characters appear as their symbols, characters that change the direction of
    /// writing as U+FFFD, and line ends are LF.
    ///
    /// - Parameter text: any text.
    /// - Returns: the text without such characters.
    public static func visible(_ text: String) -> String {
        // Printable ASCII, as most texts are, has no such characters.
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
        var result = String.UnicodeScalarView()
        var last: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n":
                if last == "\r" { result.removeLast() }
                result.append(scalar)
            case "\t": result.append(scalar)
            case _ where scalar.value < 0x20: result.append(Unicode.Scalar(0x2400 + scalar.value) ?? "?")
            case "\u{7F}": result.append("\u{2421}")
            case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{200E}", "\u{200F}": result.append("\u{FFFD}")
            default: result.append(scalar)
            }
            last = scalar
        }
        return String(result)
    }

    /// The parts of a literal.
    public struct Interpolation: StringInterpolationProtocol {
        var text = ""

        /// Begins a literal.
        public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity * 2) }

        /// Appends a literal part, which is markup.
        public mutating func appendLiteral(_ literal: String) { text += literal }

        /// Appends a text, escaped.
        public mutating func appendInterpolation(_ value: String) { text += HTML.escaped(value) }

        /// Appends a number.
        public mutating func appendInterpolation(_ value: Int) { text += String(value) }

        /// Appends markup.
        public mutating func appendInterpolation(_ value: HTML) { text += value.text }

        /// Appends markup, unless it is nil.
        public mutating func appendInterpolation(_ value: HTML?) { text += value?.text ?? "" }
    }
}

extension Sequence where Element == HTML {
    /// Concatenates the elements.
    ///
    /// - Parameter separator: the markup between two elements.
    /// - Returns: the whole.
    public func joined(_ separator: HTML = "") -> HTML {
        HTML(trusted: map(\.text).joined(separator: separator.text))
    }
}
