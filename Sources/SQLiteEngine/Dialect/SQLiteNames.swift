import CompactCollections

/// Writes an identifier as SQL: unchanged if it is a plain word, otherwise in double quotes.
package func quoted(_ identifier: String) -> String {
    let isPlain = identifier.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            return true
        default: return false
        }
    }
    // Core Data's names begin with Z or A_, and are not keywords; a leading digit cannot occur.
    if isPlain { return identifier }
    return "\"" + doubled("\"", in: identifier) + "\""
}

/// A text in which a quotation mark is doubled, also before a combining character, with which it is one `Character`.
func doubled(_ mark: Unicode.Scalar, in text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        result.append(scalar)
        if scalar == mark { result.append(scalar) }
    }
    return String(result)
}
