/// Text in XML, for every XML file that is written here.
///
/// XML 1.0 excludes control characters other than tab, line feed and carriage return, and U+FFFE and U+FFFF: a parser
/// refuses the whole file even if such a character is written as a reference. Text that contains one is therefore
/// refused, and never written without it.
package enum XMLText {
    /// A text contains a character that XML cannot contain.
    package struct Refusal: Error, Equatable, CustomStringConvertible {
        package let character: Unicode.Scalar

        package init(character: Unicode.Scalar) { self.character = character }

        package var description: String {
            let digits = String(character.value, radix: 16, uppercase: true)
            return "XML cannot hold the character U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
    }

    /// The content of an element. Tabs, line feeds and quotation marks stay unchanged.
    package static func content(_ text: String) throws(Refusal) -> String {
        try escaped(text, isAttribute: false)
    }

    /// The value of an attribute, in which a parser would turn unescaped tabs and line feeds into spaces.
    package static func attributeValue(_ text: String) throws(Refusal) -> String {
        try escaped(text, isAttribute: true)
    }

    private static func escaped(_ text: String, isAttribute: Bool) throws(Refusal) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            // A parser turns an unescaped one into a line feed.
            case "\r": result += "&#13;"
            case "\"" where isAttribute: result += "&quot;"
            case "\t" where isAttribute: result += "&#9;"
            case "\n" where isAttribute: result += "&#10;"
            case "\t", "\n": result.unicodeScalars.append(scalar)
            case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": throw Refusal(character: scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
