/// Text as XML has it, for every file in XML that is written here.
///
/// XML 1.0 has no place for control characters other than tab, line feed and carriage return, nor for U+FFFE and U+FFFF: a
/// parser refuses the whole file even where such a character is written as a reference. Text that has one is refused
/// therefore, and never written without it.
package enum XMLText {
    /// That a text has a character that XML cannot hold.
    package struct Refusal: Error, Equatable, CustomStringConvertible {
        package let character: Unicode.Scalar

        package init(character: Unicode.Scalar) { self.character = character }

        package var description: String {
            let digits = String(character.value, radix: 16, uppercase: true)
            return "XML cannot hold the character U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
    }

    /// What stands between an element's tags. Tabs, line feeds and quotation marks stay as they are.
    package static func content(_ text: String) throws(Refusal) -> String {
        try escaped(text, isAttribute: false)
    }

    /// What stands between the quotation marks of an attribute, where a parser makes spaces of plain tabs and line feeds.
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
            // A parser makes a line feed of one that stands as it is.
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
