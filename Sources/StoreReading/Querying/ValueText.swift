import CoreData

/// Values of attributes as people type them, and as files contain them. Pure.
package enum ValueText {
    /// What was expected instead, as the end of a sentence.
    package struct Refusal: Error, Equatable {
        package let expected: String

        package init(expected: String) { self.expected = expected }
    }

    /// The value of a text, as managed objects take it.
    ///
    /// - Throws: `Refusal` for a text that is no such value.
    package static func value(_ text: String, _ type: NSAttributeType) throws(Refusal) -> Any {
        let trimmed = trimmed(text)
        switch type {
        case .stringAttributeType: return text
        case .booleanAttributeType: return NSNumber(value: try parse(flag(trimmed), "true or false"))
        case .integer16AttributeType:
            return NSNumber(value: try parse(Int16(trimmed), "a whole number from -32,768 to 32,767"))
        case .integer32AttributeType: return NSNumber(value: try parse(Int32(trimmed), "a whole number of 32 bits"))
        case .integer64AttributeType: return NSNumber(value: try parse(Int64(trimmed), "a whole number of 64 bits"))
        case .doubleAttributeType: return NSNumber(value: try floating(trimmed) as Double)
        case .floatAttributeType: return NSNumber(value: try floating(trimmed) as Float)
        case .decimalAttributeType: return NSDecimalNumber(decimal: try parse(decimal(trimmed), "a decimal number"))
        case .dateAttributeType:
            return try parse(
                DateText.date(trimmed) ?? date(outOfRange: trimmed), "a date, such as 2024-05-01 13:30:00")
        case .UUIDAttributeType: return try parse(UUID(uuidString: trimmed), "a UUID")
        case .URIAttributeType: return try parse(URL(string: trimmed), "a URL")
        case .binaryDataAttributeType: return try parse(Data(base64Encoded: trimmed), "bytes in Base64")
        default: throw Refusal(expected: "another program: values of its type are not made of text")
        }
    }

    /// The text without blanks around it. Foundation takes ten times as long to find that there are none.
    static func trimmed(_ text: String) -> String {
        guard let first = text.utf8.first, let last = text.utf8.last else { return text }
        let isPlain = (0x21..<0x7F).contains(first) && (0x21..<0x7F).contains(last)
        return isPlain ? text : text.trimmingCharacters(in: .whitespaces)
    }

    private static func parse<Value>(_ value: Value?, _ expected: String) throws(Refusal) -> Value {
        guard let value else { throw Refusal(expected: expected) }
        return value
    }

    /// A number that its type can hold. One that is too large is read as infinity, which is meant only where it is
    /// written as such; NaN is stored as no value.
    private static func floating<Number: BinaryFloatingPoint & LosslessStringConvertible>(
        _ text: String
    ) throws(Refusal) -> Number {
        let number = try parse(Number(text), "a number")
        guard !number.isNaN else { throw Refusal(expected: "a number") }
        guard number.isFinite || !text.contains(where: \.isNumber) else {
            throw Refusal(expected: "a number that its type can hold")
        }
        return number
    }

    /// A date beyond every calendar, by its seconds since 2001, as ``TextTools/iso8601(_:)`` writes it.
    private static func date(outOfRange text: String) -> Date? {
        guard let seconds = Double(text), abs(seconds) >= 3e11 else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    private static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: nil
        }
    }

    /// A decimal number of a whole text. Foundation reads as far as it understands: `12abc` would be 12.
    private static func decimal(_ text: String) -> Decimal? {
        guard !text.isEmpty, text.allSatisfy({ $0.isASCII && ($0.isNumber || "+-.eE".contains($0)) }) else {
            return nil
        }
        return Decimal(string: text)
    }
}
