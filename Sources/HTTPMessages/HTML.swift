/// HTML, into which nothing gets that is not escaped: what a literal of the program says is markup, what is put into it is text.
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

    /// Takes a text as the markup that it is: for what other programs have made, and escaped.
    ///
    /// - Parameter text: the markup.
    public init(trusted text: String) { self.text = text }

    /// Puts one after the other.
    ///
    /// - Parameters:
    ///   - left: what comes first.
    ///   - right: what follows.
    /// - Returns: both.
    public static func + (left: HTML, right: HTML) -> HTML { HTML(trusted: left.text + right.text) }

    /// Appends to markup.
    ///
    /// - Parameters:
    ///   - left: what comes first, and has both afterwards.
    ///   - right: what follows.
    public static func += (left: inout HTML, right: HTML) { left.text += right.text }

    /// A text with what means something in markup or in the value of an attribute replaced.
    ///
    /// - Parameter text: any text.
    /// - Returns: the text, as ``visible(_:)`` has it, in HTML.
    public static func escaped(_ text: String) -> String {
        withEntities(visible(text))
    }

    /// A text as the value of a field in a form, in HTML: a browser sends ``sendable(_:)`` back. What turns the direction
    /// of text is no danger there, since a field's text is apart from that around it.
    ///
    /// - Parameter text: any text.
    public init(value text: String) { self.text = HTML.withEntities(HTML.sendable(text)) }

    /// A text as a form can have it and sends it back: lines end as in HTML, and pictures are in place of the two control
    /// characters that HTML has no place for.
    ///
    /// - Parameter text: any text.
    /// - Returns: the text without NUL, and without CR other than at the end of a line.
    public static func sendable(_ text: String) -> String {
        if !text.utf8.contains(where: { $0 == 0x0D || $0 == 0 }) { return text }
        var result = String.UnicodeScalarView()
        var last: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\0": result.append("\u{2400}")
            case "\r": result.append("\u{240D}")
            case "\n":
                // A CR before it was a part of the line's end.
                if last == "\r" { result.removeLast() }
                result.append(scalar)
            default: result.append(scalar)
            }
            last = scalar
        }
        return String(result)
    }

    /// A text that a form has sent back, with the control characters that the former text had.
    ///
    /// - Parameters:
    ///   - sent: the text that was sent.
    ///   - former: the text that the form was made of.
    /// - Returns: the text with line ends and control characters as the former one had them.
    public static func restored(_ sent: String, like former: String) -> String {
        let scalars = former.unicodeScalars
        let hasPairs = former.contains("\r\n")
        let hadNull = scalars.contains("\0") && !scalars.contains("\u{2400}")
        let hadReturn = scalars.contains("\r") && !scalars.contains("\u{240D}")
        // By scalars: a combining character after a picture is a part of the same `Character`.
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

    /// A text as a page has it: what HTML has no place for, and what turns the direction of the text around it, is a
    /// picture, and lines end as in HTML.
    ///
    /// - Parameter text: any text.
    /// - Returns: the text without such characters.
    public static func visible(_ text: String) -> String {
        // Most texts have none: letters, digits and signs of ASCII.
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

        /// Appends what the program says.
        public mutating func appendLiteral(_ literal: String) { text += literal }

        /// Appends a text, escaped.
        public mutating func appendInterpolation(_ value: String) { text += HTML.escaped(value) }

        /// Appends a number.
        public mutating func appendInterpolation(_ value: Int) { text += String(value) }

        /// Appends markup.
        public mutating func appendInterpolation(_ value: HTML) { text += value.text }

        /// Appends markup, where there is some.
        public mutating func appendInterpolation(_ value: HTML?) { text += value?.text ?? "" }
    }
}

extension Sequence where Element == HTML {
    /// One after the other.
    ///
    /// - Parameter separator: what comes between them.
    /// - Returns: all of them.
    public func joined(_ separator: HTML = "") -> HTML {
        HTML(trusted: map(\.text).joined(separator: separator.text))
    }
}
