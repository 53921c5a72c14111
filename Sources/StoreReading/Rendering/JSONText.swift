import Foundation

/// JSON (RFC 8259) as text, with members in the given order. Pure.
package enum JSONText {
    /// The member of an object that says which of its values are not there; see `ValueMarks`.
    package static let marksName = ObjectHead.marks
    /// The members that repeat what an object's values have, and are not imported.
    package static let repeatingNames = [ObjectHead.contents, ObjectHead.raw]

    package static func string(_ value: String) -> String {
        var bytes: [UInt8] = []
        append(value, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a text in quotation marks.
    static func append(_ value: String, to bytes: inout [UInt8]) {
        var text = value
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            var (start, place) = (0, 0)
            while place < utf8.count {
                let byte = utf8[place]
                guard isEscaped(byte), byte != 0xC2 || (place + 1 < utf8.count && utf8[place + 1] < 0xA0) else {
                    place += 1
                    continue
                }
                bytes += UnsafeBufferPointer(rebasing: utf8[start..<place])
                switch byte {
                case 0x22, 0x5C: bytes += [UInt8(ascii: "\\"), byte]
                case 0x0A: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
                case 0x0D: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
                case 0x09: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
                case 0xC2:
                    place += 1
                    append(control: utf8[place], to: &bytes)
                default: append(control: byte, to: &bytes)
                }
                place += 1
                start = place
            }
            bytes += UnsafeBufferPointer(rebasing: utf8[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether another text may take the place of a byte, or of the character that begins with it: the control
    /// characters from U+0080 to U+009F begin with C2.
    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F || byte == 0xC2
    }

    /// `\u001f`
    private static func append(control code: UInt8, to bytes: inout [UInt8]) {
        // The first digit is at most 9.
        let last = code & 0xF
        bytes += [0x5C, 0x75, 0x30, 0x30, 0x30 + (code >> 4), last < 10 ? 0x30 + last : 0x57 + last]
    }

    /// Appends a whole number.
    static func append(_ number: Int64, to bytes: inout [UInt8]) {
        var rest = number.magnitude
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        let start = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }

    /// A number in JSON. Infinities and NaN, for which JSON has no number, are written as strings.
    package static func number(_ value: Double) -> String {
        value.isFinite ? "\(value)" : string("\(value)")
    }

    package static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(string($0.0)): \($0.1)" }.joined(separator: ", ") + "}"
    }

    /// Appends a member's name, with what stands between it and the member before it.
    static func append(member name: String, to bytes: inout [UInt8]) {
        bytes += [UInt8(ascii: ","), UInt8(ascii: " ")]
        append(name, to: &bytes)
        bytes += [UInt8(ascii: ":"), UInt8(ascii: " ")]
    }
}

/// The names under which something else than a property is written among the values of an object.
enum ObjectHead {
    /// The object's URI.
    static let name = "objectID"
    /// What is not there of the values; see `ValueMarks`.
    static let marks = "$marks"
    /// What the bytes of values hold; see `ByteContent`.
    static let contents = "$contents"
    /// What the store has of values that are shown otherwise; see `ValueStyle`.
    static let raw = "$raw"

    /// The name under which a property is written: another one if it has one of these names, as a file may say.
    static func property(_ property: String) -> String {
        guard property == name || property.utf8.first == UInt8(ascii: "$") else { return property }
        return [name, marks, contents, raw].contains(property) ? "\(property) 2" : property
    }
}
