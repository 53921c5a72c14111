/// The values of attributes in XML stores, which Core Data escapes by itself, beside the rules of XML: a backslash is
/// `\\`, and `&`, `<` and `>` are `\u2600`, `\u3c00` and `\u3e00`, a UTF-16 unit with its low byte first.
package enum XMLStoreText {
    /// In the metadata of a file that Pippin wrote: its values have these escapes. Earlier builds wrote values plainly.
    package static let escapesKey = "PippinEscapedText"

    /// Whether the values of a file, as XML has them, have escapes: those of Core Data's files do.
    package static func isEscaped(in document: StoreDocument) -> Bool {
        if document.metadata[escapesKey] != nil { return true }
        if document.metadata[StoreDocument.ownHashesKey] != nil { return false }
        // With model files made by Xcode, earlier builds wrote Core Data's version hashes, and mapping models have none
        // of Pippin's. Core Data would have escaped these characters.
        return !document.objects.contains { object in
            object.attributes.contains { attribute in
                guard case .text(let text) = attribute.value else { return false }
                return text.utf8.contains { escape(of: $0) != nil && $0 != backslash }
            }
        }
    }

    /// The text of a value as Core Data writes it. It contains no character that XML has to escape, apart from carriage
    /// returns.
    package static func encoded(_ text: String) -> String {
        guard text.utf8.contains(where: { escape(of: $0) != nil }) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            if let escape = escape(of: byte) { bytes += escape.utf8 } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value that a text of Core Data's stands for. A backslash that begins no escape stands for itself.
    package static func decoded(_ text: String) -> String {
        guard text.utf8.contains(backslash) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var units: [UInt16] = []
        var index = 0
        while index < bytes.count {
            if let unit = unit(in: bytes, at: index) {
                // Two units in a row may be the halves of one character.
                units.append(unit)
                index += 6
                continue
            }
            result += String(decoding: units, as: UTF16.self).utf8
            units.removeAll()
            let isDoubled = bytes[index] == backslash && index + 1 < bytes.count && bytes[index + 1] == backslash
            result.append(bytes[index])
            index += isDoubled ? 2 : 1
        }
        result += String(decoding: units, as: UTF16.self).utf8
        return String(decoding: result, as: UTF8.self)
    }

    private static let backslash = UInt8(ascii: "\\")

    private static func escape(of byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "\\"): #"\\"#
        case UInt8(ascii: "&"): #"\u2600"#
        case UInt8(ascii: "<"): #"\u3c00"#
        case UInt8(ascii: ">"): #"\u3e00"#
        default: nil
        }
    }

    /// The unit of an escape `\uLLHH`.
    private static func unit(in bytes: [UInt8], at index: Int) -> UInt16? {
        guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
        else { return nil }
        var value: UInt16 = 0
        for byte in bytes[index + 2..<index + 6] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value.byteSwapped
    }
}
