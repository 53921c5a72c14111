import Foundation

/// The body of a note of Apple's, as its store keeps it: a message of protocol buffers, compressed by gzip. Pure.
///
/// The text is in the fields 2, 3, 2 of the message; what is attached in field 5 of the fields 2, 3: its identifier,
/// and its type, such as that of a table.
struct NoteBody {
    struct Attachment: Equatable {
        let identifier: String
        let type: String
    }

    let text: String
    let attachments: [Attachment]

    /// - Parameter data: the message, inflated.
    init?(_ data: Data) {
        let bytes = [UInt8](data)
        func message(_ number: Int, _ range: Range<Int>) -> Range<Int>? {
            guard let fields = ProtocolBuffer.fields(of: bytes, in: range) else { return nil }
            return fields.lazy.compactMap { $0.number == number ? $0.range : nil }.first
        }
        func text(_ range: Range<Int>) -> String? { String(validating: bytes[range], as: UTF8.self) }
        guard let document = message(2, 0..<bytes.count), let note = message(3, document),
            let fields = ProtocolBuffer.fields(of: bytes, in: note),
            let body = fields.first(where: { $0.number == 2 })?.range, let content = text(body)
        else { return nil }
        self.text = content
        var attachments: [Attachment] = []
        for field in fields where field.number == 5 {
            guard let run = field.range, let attached = message(12, run),
                let parts = ProtocolBuffer.fields(of: bytes, in: attached)
            else { continue }
            func part(_ number: Int) -> String? {
                parts.first { $0.number == number }?.range.flatMap { text($0) }
            }
            guard let identifier = part(1) else { continue }
            let attachment = Attachment(identifier: identifier, type: part(2) ?? "")
            if attachments.last != attachment { attachments.append(attachment) }
        }
        self.attachments = attachments
    }

    var value: ContentValue {
        .object(
            [("text", .string(text))]
                + (attachments.isEmpty
                    ? []
                    : [
                        (
                            "attachments",
                            .array(
                                attachments.map {
                                    .object([("identifier", .string($0.identifier)), ("type", .string($0.type))])
                                })
                        )
                    ]))
    }
}

/// The fields of a message of protocol buffers, without their names and types
/// (https://protobuf.dev/programming-guides/encoding). Pure.
enum ProtocolBuffer {
    struct Field {
        let number: Int
        /// The bytes of a text or a message; nil for a number.
        let range: Range<Int>?
    }

    /// How many fields of a message are read.
    private static let most = 100_000

    /// - Parameters:
    ///   - bytes: the bytes that hold the message.
    ///   - range: the message.
    /// - Returns: its fields; nil for bytes that are not a message.
    static func fields(of bytes: [UInt8], in range: Range<Int>) -> [Field]? {
        guard range.lowerBound >= 0, range.upperBound <= bytes.count else { return nil }
        var (fields, place): ([Field], Int) = ([], range.lowerBound)
        while place < range.upperBound {
            guard fields.count < most, let tag = number(bytes, &place, range.upperBound), tag >> 3 > 0,
                tag >> 3 < 1 << 29
            else { return nil }
            let number = Int(tag >> 3)
            switch tag & 7 {
            case 0:
                guard self.number(bytes, &place, range.upperBound) != nil else { return nil }
                fields.append(Field(number: number, range: nil))
            case 1, 5:
                place += tag & 7 == 1 ? 8 : 4
                guard place <= range.upperBound else { return nil }
                fields.append(Field(number: number, range: nil))
            case 2:
                guard let length = self.number(bytes, &place, range.upperBound),
                    length <= UInt64(range.upperBound - place)
                else { return nil }
                fields.append(Field(number: number, range: place..<place + Int(length)))
                place += Int(length)
            default: return nil
            }
        }
        return fields
    }

    /// A number of up to ten bytes, the least significant seven bits first.
    private static func number(_ bytes: [UInt8], _ place: inout Int, _ end: Int) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 70, by: 7) {
            guard place < end else { return nil }
            let byte = bytes[place]
            place += 1
            if shift < 64 { value |= UInt64(byte & 0x7F) << UInt64(shift) }
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }
}
