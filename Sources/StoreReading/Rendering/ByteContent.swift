import CoreData
import Foundation
import ModelFiles

/// What the bytes of a value hold, if they have a form that is known: the content is read, no object is made of it.
/// Pure.
package struct ByteContent {
    /// `JSON`, `property list`, `keyed archive`, `text`, `PNG image`, `Apple Notes body`; `gzip, JSON` for compressed
    /// ones.
    package let form: String
    let value: ContentValue
    /// Whether more is there than is shown.
    package let isCut: Bool

    /// Larger values are not looked into.
    private static let largest = 16 << 20

    /// - Parameters:
    ///   - data: the bytes.
    ///   - most: how many bytes of text the content may have, about.
    /// - Returns: the content; nil for bytes of another form.
    package static func of(_ data: Data, most: Int = 1 << 20) -> ByteContent? {
        guard !data.isEmpty, data.count <= largest else { return nil }
        if let content = plain(data, most) { return content }
        guard let inflated = inflated(data) else { return nil }
        if let note = NoteBody(inflated) {
            return ByteContent(form: "Apple Notes body", value: note.value, isCut: false)
        }
        guard let content = plain(inflated, most) else {
            return ByteContent(form: "gzip", value: .object([("bytes", .integer(Int64(inflated.count)))]), isCut: false)
        }
        return ByteContent(form: "gzip, \(content.form)", value: content.value, isCut: content.isCut)
    }

    /// The form of keyed archives.
    static let archive = "keyed archive"

    /// The text that the content is; nil for something else.
    var text: String? { if case .string(let text) = value { text } else { nil } }

    /// The content as JSON.
    package var json: String { value.json }

    /// What is said of the values of an object, as a JSON object: the form and the content of each that has one; nil if
    /// none has.
    ///
    /// - Parameter fields: the values.
    /// - Returns: the text, on one line.
    static func json(of fields: [(name: String, value: FieldValue)]) -> String? {
        let found = fields.compactMap { name, value -> (String, String)? in
            guard let data = value.bytes, let content = of(data) else { return nil }
            var members = [
                ("form", JSONText.string(content.form)), ("content", RowWriter.withoutLineBreaks(content.json)),
            ]
            if content.isCut { members.append(("isCut", "true")) }
            return (ObjectHead.property(name), JSONText.object(members))
        }
        return found.isEmpty ? nil : JSONText.object(found)
    }

    private static func plain(_ data: Data, _ most: Int) -> ByteContent? {
        if let list = list(data) {
            var builder = ContentBuilder(most: most)
            if list.dictionaryValue?["$archiver"] != nil, let archive = try? KeyedArchive(propertyList: list) {
                let value = builder.value(archive)
                return ByteContent(form: Self.archive, value: value, isCut: builder.isCut)
            }
            let value = builder.value(list)
            return ByteContent(form: "property list", value: value, isCut: builder.isCut)
        }
        if let facts = ImageFacts(data) {
            return ByteContent(
                form: "\(facts.format) image",
                value: .object([("width", .integer(Int64(facts.width))), ("height", .integer(Int64(facts.height)))]),
                isCut: false)
        }
        guard let text = String(validating: data, as: UTF8.self) else { return nil }
        if let first = data.first(where: { !" \t\r\n".utf8.contains($0) }), "{[".utf8.contains(first),
            JSONCheck.holds(data, allowsFragments: false)
        {
            return ByteContent(form: "JSON", value: .json(text), isCut: false)
        }
        guard data.count >= 2, text.unicodeScalars.allSatisfy(isText) else { return nil }
        let cut = String(text.prefix(most))
        return ByteContent(form: "text", value: .string(cut), isCut: cut.utf8.count < data.count)
    }

    private static func isText(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar == "\n" || scalar == "\t" || scalar == "\r"
        case .unassigned, .privateUse, .surrogate: false
        default: true
        }
    }

    private static func list(_ data: Data) -> PropertyList? {
        if PropertyList.isBinary(data) { return try? PropertyList(binary: data) }
        // Other XML is text.
        guard data.prefix(200).range(of: Data("<plist".utf8)) != nil || data.starts(with: Data("<?xml".utf8)),
            data.range(of: Data("<plist".utf8)) != nil
        else { return nil }
        return (try? PropertyList(data: data)) ?? nil
    }

    /// The content of a gzip file (RFC 1952); nil for other bytes, and for more than is looked into.
    static func inflated(_ data: Data) -> Data? {
        let bytes = [UInt8](data)
        guard bytes.count > 18, bytes[0] == 0x1F, bytes[1] == 0x8B, bytes[2] == 8 else { return nil }
        let flags = bytes[3]
        var place = 10
        if flags & 4 != 0 {
            guard place + 2 <= bytes.count else { return nil }
            place += 2 + Int(bytes[place]) + Int(bytes[place + 1]) << 8
        }
        // A name and a comment, each with a zero at its end.
        for flag in [8, 16] as [UInt8] where flags & flag != 0 {
            guard place < bytes.count, let end = bytes[place...].firstIndex(of: 0) else { return nil }
            place = end + 1
        }
        if flags & 2 != 0 { place += 2 }
        guard place < bytes.count else { return nil }
        return try? RawDeflate.inflate(Data(bytes[place...]), limit: largest)
    }
}

/// The format and the size of an image, by its first bytes. Pure.
struct ImageFacts: Equatable {
    let format: String
    let width: Int
    let height: Int

    init?(_ data: Data) {
        let bytes = [UInt8](data.prefix(1 << 16))
        func number(_ place: Int, _ count: Int, isLittle: Bool = false) -> Int? {
            guard place >= 0, place + count <= bytes.count else { return nil }
            let part = bytes[place..<place + count]
            return isLittle
                ? part.reversed().reduce(0) { $0 << 8 | Int($1) } : part.reduce(0) { $0 << 8 | Int($1) }
        }
        func holds(_ text: String, at place: Int) -> Bool {
            place + text.utf8.count <= bytes.count && bytes[place..<place + text.utf8.count].elementsEqual(text.utf8)
        }
        let found: (String, Int?, Int?)?
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            found = ("PNG", number(16, 4), number(20, 4))
        } else if holds("GIF8", at: 0) {
            found = ("GIF", number(6, 2, isLittle: true), number(8, 2, isLittle: true))
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            found = Self.jpeg(bytes, number).map { ("JPEG", $0.width, $0.height) }
        } else if holds("RIFF", at: 0), holds("WEBPVP8X", at: 8) {
            found = (
                "WebP", number(24, 3, isLittle: true).map { $0 + 1 }, number(27, 3, isLittle: true).map { $0 + 1 }
            )
        } else if holds("ftyphei", at: 4) || holds("ftypmif1", at: 4) {
            // The first box with the extents of an image.
            let place = Data(bytes).range(of: Data("ispe".utf8))?.lowerBound
            found = place.map { ("HEIC", number($0 + 8, 4), number($0 + 12, 4)) }
        } else if holds("BM", at: 0), bytes.count >= 26, number(14, 4, isLittle: true) == 40 {
            found = ("BMP", number(18, 4, isLittle: true), number(22, 4, isLittle: true))
        } else {
            found = nil
        }
        guard let found, let width = found.1, let height = found.2, width > 0, height > 0 else { return nil }
        (format, self.width, self.height) = (found.0, width, height)
    }

    /// The size in the first segment that begins a frame.
    private static func jpeg(
        _ bytes: [UInt8], _ number: (Int, Int, Bool) -> Int?
    ) -> (width: Int?, height: Int?)? {
        var place = 2
        while place + 9 < bytes.count, bytes[place] == 0xFF {
            let marker = bytes[place + 1]
            if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
                return (number(place + 7, 2, false), number(place + 5, 2, false))
            }
            guard let length = number(place + 2, 2, false), length >= 2 else { return nil }
            place += 2 + length
        }
        return nil
    }
}

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
